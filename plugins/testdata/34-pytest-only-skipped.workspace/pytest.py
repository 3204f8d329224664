"""Stands in for pytest: prints its closing words and exits the way it does."""

import sys

print("\x1b[33m===== 2 skipped, 1 warning in 0.02s =====\x1b[0m")
sys.exit(0)
