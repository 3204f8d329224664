"""Looks whether it leads a session and a group of its own; it fails when not."""

import os
import sys

if {os.getsid(0), os.getpgrp()} != {os.getpid()}:
    sys.exit("it shares a session")
print(sys.argv[1])
