"""Answers before it has read a byte, then reads everything."""

import sys

print(sys.argv[1], flush=True)
sys.stdin.buffer.read()
