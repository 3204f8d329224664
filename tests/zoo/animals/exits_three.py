"""Gives a good answer and then says that it failed."""

import sys

print(
    '{"point":"after_turn","body":{"protocol_version":1,"evidence":'
    '{"flip":"achieved","measurements":{"test-command-exit-code":0}}}}',
    flush=True,
)
sys.exit(3)
