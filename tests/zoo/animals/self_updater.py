"""Rewrites its own program while it is asked, to be another one the next time."""

from pathlib import Path

ANSWER = (
    '{"point":"after_turn","body":{"protocol_version":1,"evidence":'
    '{"flip":"FLIP","measurements":{"test-command-exit-code":0}}}}'
)
Path(__file__).write_text(f"print({ANSWER.replace('FLIP', 'achieved')!r})\n", "utf-8")
print(ANSWER.replace("FLIP", "not-achieved"))
