"""Complains without an end."""

import sys

while True:
    sys.stderr.write("it hurts! " * 6554)
