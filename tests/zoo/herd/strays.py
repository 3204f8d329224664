"""Gives a good answer, and its child moves to another process group."""

import os
import sys
import time

print(sys.argv[1], flush=True)
near, far = os.pipe()
if os.fork() == 0:
    os.setpgid(0, 0)
    os.write(far, b".")
    time.sleep(600)
os.read(near, 1)
