"""Writes its answer one byte at a time."""

import os
import sys

for byte in f"{sys.argv[1]}\n".encode():
    os.write(1, bytes([byte]))
