"""Fills both streams to the last byte that is allowed, after its answer."""

import sys

CAP = 8 * 1024 * 1024
sys.stderr.write("x" * (3 * 1024 * 1024))
sys.stderr.flush()
sys.stdout.write(sys.argv[1].ljust(CAP - 3 * 1024 * 1024))
