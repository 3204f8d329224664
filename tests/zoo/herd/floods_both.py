"""Stays below the limit on each stream, and is above it with both."""

import sys
import time

sys.stdout.write('{"point":"' + "x" * (5 * 1024 * 1024))
sys.stdout.flush()
sys.stderr.write("x" * (5 * 1024 * 1024))
sys.stderr.flush()
time.sleep(600)
