"""Stands in for pytest: prints its closing words and exits with 0."""

import sys

print("1 failed, 1 passed in 0.02s")
sys.exit(0)
