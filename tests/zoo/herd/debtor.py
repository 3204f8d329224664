"""Gives a good answer, then sleeps past its deadline."""

import sys
import time

print(sys.argv[1], flush=True)
time.sleep(600)
