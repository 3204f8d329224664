"""Never answers and never ends."""

import time

time.sleep(600)
