"""Writes one byte more than is allowed, after its answer, and ends well."""

import sys

sys.stdout.write(sys.argv[1].ljust(8 * 1024 * 1024 + 1))
