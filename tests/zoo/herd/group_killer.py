"""Ends its whole group, itself among them, after its answer."""

import os
import signal
import sys

print(sys.argv[1], flush=True)
os.kill(0, signal.SIGKILL)
