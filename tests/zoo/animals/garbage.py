"""Says something that has brackets and is no JSON."""

import sys

sys.stdout.buffer.write(b'{"point": \xff\xfe\x00 [achieved]}\n')
