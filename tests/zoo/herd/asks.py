"""Asks the host for something although nobody listens, and waits for ever."""

import sys

print('{"call":"recall","id":1,"args":{"goal":"x"}}', flush=True)
sys.stdin.buffer.read()
while True:
    sys.stdin.buffer.read()
    __import__("time").sleep(600)
