"""Tells everybody what its environment holds."""

import os
import sys

for name in os.environ:
    print("variable", name, file=sys.stderr)
sys.exit(1)
