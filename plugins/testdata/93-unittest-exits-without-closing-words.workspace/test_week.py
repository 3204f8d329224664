"""The granted test, whose code under test ends the process."""

import os

os._exit(0)
