"""Kills the process that guards it, and answers."""

import os
import signal
import sys
import time

os.kill(os.getppid(), signal.SIGKILL)
print(sys.argv[1], flush=True)
time.sleep(600)
