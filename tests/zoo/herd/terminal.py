"""Tries to reach the person's terminal; it says that it failed when it got one."""

import os
import sys

try:
    os.open("/dev/tty", os.O_RDWR)
except OSError:
    print(sys.argv[1])
else:
    sys.exit("it has a terminal")
