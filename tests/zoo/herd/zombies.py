"""Has twenty children that end at once, waits for none, and answers."""

import os
import sys

pids = []
for _ in range(20):
    if (pid := os.fork()) == 0:
        os._exit(0)
    pids.append(pid)
for pid in pids:
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
print(sys.argv[1])
