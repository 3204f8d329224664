"""Stands in for pytest: prints its closing words and exits with 0."""

import sys

print("1 passed, 1 skipped in 0.02s")
sys.exit(0)
