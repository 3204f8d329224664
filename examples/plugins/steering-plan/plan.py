"""steering-plan: before the first turn, let a read-only turn on another seat plan the work.

The host starts this file once for each request. It reads one line from stdin, may ask the host
something (one line out, one line back), and ends with one answer line on stdout. A request it
cannot serve gets no answer: exit status 1, one line on stderr, nothing on stdout.

Needs Python 3.8 or later and its standard library.
"""

from __future__ import annotations

import json
import sys
from typing import Any

NAME = "steering-plan"
POINT = "before_turn"
PROTOCOL_VERSION = 1
LINE_BYTES = 16 * 1024 * 1024  # no line of the host is longer
GOAL_CHARS = 4000
PLAN_CHARS = 4000
TRIES = 2  # `max_calls` of plugin.toml

INSTRUCTION = """\
Plan this work; somebody else will do it and sees only what you write. Read what you need first.
Answer with at most seven numbered steps. Each names the files it touches. Say what must not
change, and how to see that the work is done.

The work: {goal}"""

# What each refusal means here. A turn can always do without a plan, so only a mistake of this
# package is an error; whatever else a later host may say is taken like `unsupported`.
OURS = {"undeclared"}  # plugin.toml and this file disagree
PASSING = {"failed"}  # a turn was tried and broke off; the next one may not
# forbidden         the turn itself sits on the planner's seat: it is the planner
# unsupported       this host has no child turns
# allowance-spent   the turns of this run are used up
# unavailable       the person has bound no model to the tier `plan`


class NoAnswer(Exception):
    """Why this request gets no answer: the line for stderr."""


def received() -> dict[str, Any]:
    """Return the next message of the host."""
    line = sys.stdin.buffer.readline(LINE_BYTES + 1)
    if not line.strip() or len(line) > LINE_BYTES:
        raise NoAnswer("expected one line of JSON, and at most 16 MiB of it")
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        raise NoAnswer("the line is not JSON") from None
    if not isinstance(message, dict):
        raise NoAnswer("the message is not an object")
    return message


def send(message: dict[str, Any]) -> None:
    """Write one line and flush it: the host waits for it, and so do we for its reply."""
    print(json.dumps(message, separators=(",", ":")), flush=True)


def request() -> tuple[str, dict[str, Any]]:
    """Return point and body of the request, when it is one that is served here."""
    message = received()
    body = message["body"]
    if type(body["protocol_version"]) is not int or body["protocol_version"] != PROTOCOL_VERSION:
        raise NoAnswer(f"serves protocol version {PROTOCOL_VERSION} only")
    if message["point"] != POINT:
        raise NoAnswer(f"serves the point {POINT} only")
    return POINT, body


def plan(goal: str) -> str:
    """Return a plan, empty when there is none to be had."""
    wanted = {"role": "planner", "instruction": INSTRUCTION.format(goal=goal[:GOAL_CHARS])}
    for number in range(1, TRIES + 1):
        send({"call": "child_turn", "id": number, "args": wanted})
        result = received()
        if "ok" in result:
            done = result["ok"]
            # A planner that ran out of steps reports that, and it is no plan.
            return str(done["report"]).strip() if done["completed"] else ""
        refusal = result["err"]["refusal"]
        if refusal in OURS:
            raise NoAnswer(f"child_turn was refused: {json.dumps(result['err']['detail'][:200])}")
        if refusal not in PASSING:
            return ""
    return ""


def before_turn(body: dict[str, Any]) -> dict[str, Any]:
    """Return what goes into the turn: a plan in the first round, nothing in the others.

    A held round has the host's correction, which is not in the request: a second plan would be
    made without it, and would be the first one again.
    """
    if body["round"] > 0:
        return {}
    steps = plan(body["goal"])
    if not steps:
        return {}
    text = f"Made by another model that only read the workspace. Check it as you go.\n\n{steps}"
    return {"context": [{"label": "a plan", "text": text[:PLAN_CHARS]}]}


def main() -> int:
    """Answer the request on stdin and return the exit status."""
    try:
        point, body = request()
        contribution = before_turn(body)
        send({"point": point, "body": {"protocol_version": PROTOCOL_VERSION, **contribution}})
    except (NoAnswer, OSError) as why:
        print(f"{NAME}: {why}", file=sys.stderr)
        return 1
    except (AttributeError, LookupError, TypeError) as why:
        print(f"{NAME}: a message has another shape than expected: {why!r}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
