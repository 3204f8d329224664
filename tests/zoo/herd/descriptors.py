"""Looks for descriptors that nobody gave it; it fails when it finds one."""

import os
import sys

for number in range(3, 1024):
    try:
        os.fstat(number)
    except OSError:
        continue
    sys.exit(f"it has descriptor {number}")
print(sys.argv[1])
