"""Answers without having read a byte of a request that no pipe holds."""

print(
    '{"point":"after_turn","body":{"protocol_version":1,"evidence":'
    '{"flip":"unobservable","measurements":{"test-command-exit-code":0}}}}'
)
