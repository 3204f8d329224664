"""Gives a good answer after its deadline."""

import time

time.sleep(3)
print(
    '{"point":"after_turn","body":{"protocol_version":1,"evidence":'
    '{"flip":"achieved","measurements":{"test-command-exit-code":0}}}}'
)
