"""Ignores a broken pipe, and writes a mebibyte after its answer."""

import signal
import sys

signal.signal(signal.SIGPIPE, signal.SIG_IGN)
print(sys.argv[1], flush=True)
sys.stdout.write("x" * 1024 * 1024)
