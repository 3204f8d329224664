"""Stops itself, so that nothing but the host's own clock can end it."""

import os
import signal

os.kill(os.getpid(), signal.SIGSTOP)
