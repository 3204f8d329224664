"""Begins a document that never ends."""

import sys

sys.stdout.write('{"point":"')
while True:
    sys.stdout.write("x" * 65536)
