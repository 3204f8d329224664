"""Sends the request back."""

import sys

sys.stdout.write(sys.stdin.read())
