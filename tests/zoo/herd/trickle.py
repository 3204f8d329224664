"""Sends a document that never ends, a byte at a time."""

import os
import time

os.write(1, b"{")
while True:
    os.write(1, b" ")
    time.sleep(0.01)
