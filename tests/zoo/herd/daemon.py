"""Gives a good answer and leaves a daemon with a session of its own, which holds all pipes."""

import os
import sys
import time

print(sys.argv[1], flush=True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(600)
    os._exit(0)
os.wait()
