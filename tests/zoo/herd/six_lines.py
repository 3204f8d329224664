"""Answers over many lines, without a line end at the end."""

import json
import sys

sys.stdout.write(json.dumps(json.loads(sys.argv[1]), indent=1))
