"""Append the events of one session to a file, one readable line each.

The host writes one JSON object per line to standard input, for as long as the session lasts,
and reads nothing back.
"""

import json
import os
import signal
import sys
from pathlib import Path


def place():
    """Return the file to append to: never one in the plugin's own directory."""
    named = os.environ.get("OBSERVER_LOG")
    return Path(named) if named else Path(os.environ["HOME"], "observer-log.txt")


def shown(line):
    """Return one line of the stream as a person reads it."""
    told = json.loads(line)
    if "dropped" in told:
        return "... {} events were not delivered".format(told["dropped"])
    who = told.get("agent_id") or told.get("turn_id") or "-"
    payload = json.dumps(told["payload"])
    return " ".join((told["timestamp"], told["session_id"], who, told["name"], payload))


def main():
    """Copy until the host closes the stream."""
    # At the end of a session the host closes the stream and sends SIGTERM at once. What is in
    # the stream by then is still to be read; there are two seconds for it.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with place().open("a", encoding="utf-8") as log:
        for line in sys.stdin.buffer:
            if not line.endswith(b"\n"):
                break  # cut off by the end of the session
            print(shown(line), file=log, flush=True)


if __name__ == "__main__":
    main()
