"""best-of-three: try the work three times in copies, keep the smallest change that passes.

`before_turn`, in the first round: three attempts are made side by side, each in a copy of the
workspace; the granted test runs in each; the best one is adopted. The turn then starts from
there. When none passes, nothing is adopted and the turn is told what was tried.

`after_turn`, in every round: the granted test runs in the real tree, as the turn has left it,
and its result is reported. Nothing that was seen in a copy counts here, because the turn may
have changed the tree since.

The host starts this file once for each request and keeps nothing for it in between. It reads one
line from stdin, asks the host (one line out, one line back), and ends with one answer line on
stdout. A request it cannot serve gets no answer: exit status 1, one line on stderr, nothing on
stdout. Needs Python 3.8 or later and its standard library.
"""

from __future__ import annotations

import itertools
import json
import stat
import sys
from pathlib import Path
from typing import Any

NAME = "best-of-three"
PROTOCOL_VERSION = 1
LINE_BYTES = 16 * 1024 * 1024  # no line of the host is longer
WIDTH = 3
GOAL_CHARS = 4000
TEST_FILE_BYTES = 1024 * 1024  # a larger file of the test is taken for a changed one
SHOWN_CHARS = 800  # of each report and each test output

INSTRUCTION = """\
Do the work below in this copy of the workspace. Make the smallest change that does it; the
command `{test}` must pass. Do not touch the test.

The work: {goal}"""

_ids = itertools.count(1)


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


def asked(call: str, **args: Any) -> dict[str, Any]:
    """Return what the host gives for a call, empty when it refuses.

    Every refusal is in the journal and on the person's screen, so it is not repeated here.
    """
    send({"call": call, "id": next(_ids), "args": args})
    given = received().get("ok", {})
    return given if isinstance(given, dict) else {}


def request() -> tuple[str, dict[str, Any]]:
    """Return point and body of the request, when it is one that is served here."""
    message = received()
    body = message["body"]
    if type(body["protocol_version"]) is not int or body["protocol_version"] != PROTOCOL_VERSION:
        raise NoAnswer(f"serves protocol version {PROTOCOL_VERSION} only")
    if message["point"] not in POINTS:
        raise NoAnswer(f"serves the points {' and '.join(POINTS)} only")
    return message["point"], body


def content(path: Path) -> bytes | None:
    """Return what stands in a regular file, None for anything else and for a file too large."""
    try:
        found = path.lstat()
        if not stat.S_ISREG(found.st_mode) or found.st_size > TEST_FILE_BYTES:
            return None
        return path.read_bytes()
    except (OSError, ValueError):  # ValueError: a NUL inside a word
        return None


def honest(test: dict[str, Any], real: Path, copy: Path) -> bool:
    """Return whether a copy still has the files that the test command names as they were.

    An attempt that mends the test instead of the program is often the smallest. The host would
    see it too, but only when it is adopted, and then the run can no longer be met.
    """
    for word in (test["program"], *test.get("args", [])):
        path = Path(word.partition("::")[0])  # pytest names a test as file.py::test
        if path.is_absolute() or ".." in path.parts or not (real / path).is_file():
            continue
        before = content(real / path)
        if before is None or before != content(copy / path):
            return False
    return True


def attempts(body: dict[str, Any], test: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the attempts that changed something, each with what the test says in its copy."""
    command = " ".join([test["program"], *test.get("args", [])])
    instruction = INSTRUCTION.format(test=command, goal=body["goal"][:GOAL_CHARS])
    fan = asked("candidate_fanout", role="builder", instruction=instruction, width=WIDTH)
    tried = [each for each in fan.get("candidates", []) if each["files_changed"]]
    for each in tried:
        each["test"] = asked("run_test", candidate=each["candidate"])
        unchanged = honest(test, Path(body["candidate"]["root"]), Path(each["root"]))
        each["good"] = unchanged and each["test"].get("passed") is True
    return tried


def before_turn(body: dict[str, Any]) -> dict[str, Any]:
    """Return what goes into the turn; by then the best attempt may lie in the tree.

    Only a test that failed can flip, so nothing is spent on any other. One fan-out is enough: a
    held round starts from what is in the tree and has the host's correction.
    """
    test = body.get("candidate", {}).get("test")
    if body["round"] > 0 or test is None or test.get("baseline") != "failed":
        return {}
    tried = attempts(body, test)
    good = sorted((each for each in tried if each["good"]), key=lambda each: each["lines_changed"])
    for each in good:
        # One that does not fit on the tree any more is refused, and nothing is lost by it.
        if asked("adopt_candidate", candidate=each["candidate"]):
            return told(
                f"{len(good)} of {len(tried)} attempts pass the granted test. The smallest of them "
                f"(lines changed: {each['lines_changed']}) is in the tree already. Look it over "
                f"and finish; do not start anew. Its author says:\n\n{each['report'][:SHOWN_CHARS]}"
            )
    if not tried:
        return {}
    tales = (
        f"Attempt {number}: {each['report'][:SHOWN_CHARS]}\n"
        f"The test then: {each['test'].get('output_tail', '')[-SHOWN_CHARS:]}"
        for number, each in enumerate(tried, 1)
    )
    return told("None of these attempts is in the tree:\n\n" + "\n".join(tales))


def told(text: str) -> dict[str, Any]:
    """Return a contribution of one text."""
    return {"context": [{"label": "attempts in copies", "text": text}]}


def after_turn(body: dict[str, Any]) -> dict[str, Any]:
    """Return the evidence: what the granted test says now, beside what it said before the run.

    A test that could not be run, that timed out or was killed has said nothing.
    """
    handle = body.get("candidate", {}).get("handle")
    test = asked("run_test", candidate=handle) if handle else {}
    if test.get("exit_code") is None:
        return {"evidence": {"flip": "unobservable"}}
    flip = "achieved" if test["passed"] else "not-achieved"
    if test["baseline"] == "passed":
        flip = "not-achieved"  # it did not fail before
    elif test["baseline"] != "failed":
        flip = "unobservable"  # nobody knows what it said before
    return {"evidence": {"flip": flip, "measurements": {"test-exit-code": test["exit_code"]}}}


POINTS = {"before_turn": before_turn, "after_turn": after_turn}


def main() -> int:
    """Answer the request on stdin and return the exit status."""
    try:
        point, body = request()
        answer = POINTS[point](body)
        send({"point": point, "body": {"protocol_version": PROTOCOL_VERSION, **answer}})
    except (NoAnswer, OSError) as why:
        print(f"{NAME}: {why}", file=sys.stderr)
        return 1
    except (AttributeError, LookupError, TypeError) as why:
        print(f"{NAME}: a message has another shape than expected: {why!r}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
