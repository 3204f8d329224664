"""Has fifty children, half of them with sessions of their own, and goes away."""

import os
import time

for number in range(50):
    if os.fork() == 0:
        if number % 2:
            os.setsid()
        time.sleep(600)
