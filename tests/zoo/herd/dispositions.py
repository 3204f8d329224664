"""Looks for signals that are ignored or blocked; Python itself sets two, so it asks a shell."""

import subprocess
import sys

shell = 'trap "" 0; kill -s TERM $$; echo alive'
done = subprocess.run(["/bin/sh", "-c", shell], stdout=subprocess.PIPE, check=False)
if done.stdout or done.returncode != -15:
    sys.exit("a signal is ignored")
print(sys.argv[1])
