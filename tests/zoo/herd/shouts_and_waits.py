"""Logs first and then hangs: the log line alone is enough."""

import time

print("INFO: one moment", flush=True)
time.sleep(600)
