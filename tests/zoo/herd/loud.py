"""Complains for a mebibyte and then answers."""

import sys

sys.stderr.write("it hurts a little\n" * (1024 * 1024 // 18))
print(sys.argv[1])
