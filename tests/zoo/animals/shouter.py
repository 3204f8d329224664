"""Logs to standard output before it answers."""

print("INFO: judge 1.0 starts")
print(
    '{"point":"after_turn","body":{"protocol_version":1,"evidence":'
    '{"flip":"achieved","measurements":{"test-command-exit-code":0}}}}'
)
