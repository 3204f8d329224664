"""Answers and goes, while its children fork on for a while."""

import os
import sys
import time

print(sys.argv[1], flush=True)
if os.fork():
    os._exit(0)
for _ in range(5):
    os.fork()
time.sleep(600)
