"""Answers twice: first that it saw nothing, then that all is well."""

for flip in ("unobservable", "achieved"):
    print(
        '{"point":"after_turn","body":{"protocol_version":1,"evidence":'
        f'{{"flip":"{flip}","measurements":{{"test-command-exit-code":0}}}}}}}}'
    )
