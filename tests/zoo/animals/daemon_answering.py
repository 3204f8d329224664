"""Gives a good answer and leaves a daemon behind that holds standard output."""

import os
import time

print(
    '{"point":"after_turn","body":{"protocol_version":1,"evidence":'
    '{"flip":"achieved","measurements":{"test-command-exit-code":0}}}}',
    flush=True,
)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(600)
    os._exit(0)
os.wait()
