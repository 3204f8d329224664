"""budget-arbiter: after a turn, measure what the workspace costs and report the numbers.

Two measurements: the number that `python3 bench.py` prints, and the size of `dist/page.html`.
Whether a number is good enough is not decided here: the checks in plugin.toml say it, and the
host applies them. What could not be measured is left out, never guessed; the host then says
that the requirement is undecided.

The host starts this file once for each request, writes the request to stdin and reads one answer
line from stdout. A request it cannot serve gets no answer: exit status 1, one line on stderr,
nothing on stdout. Needs Python 3.8 or later and its standard library.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

NAME = "budget-arbiter"
POINT = "after_turn"
PROTOCOL_VERSION = 1
LINE_BYTES = 16 * 1024 * 1024  # no line of the host is longer
BENCH = "bench.py"
BENCH_SECS = 60  # below the 120 s of plugin.toml, so that there is time for an answer
BENCH_BYTES = 64 * 1024  # more than a line with a number is not the output of this benchmark
PAGE = "dist/page.html"


class NoAnswer(Exception):
    """Why this request gets no answer: the line for stderr."""


def request() -> tuple[str, dict[str, Any]]:
    """Return point and body of the request, when it is one that is served here."""
    line = sys.stdin.buffer.readline(LINE_BYTES + 1)
    if not line.strip() or len(line) > LINE_BYTES:
        raise NoAnswer("expected one line of JSON, and at most 16 MiB of it")
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        raise NoAnswer("the line is not JSON") from None
    body = message["body"]
    if type(body["protocol_version"]) is not int or body["protocol_version"] != PROTOCOL_VERSION:
        raise NoAnswer(f"serves protocol version {PROTOCOL_VERSION} only")
    if message["point"] != POINT:
        raise NoAnswer(f"serves the point {POINT} only")
    return POINT, body


def printed(root: Path) -> bytes:
    """Return what the benchmark prints, empty when it does not end well, in time and in bounds."""
    try:
        bench = subprocess.Popen(
            [sys.executable, BENCH],
            cwd=root,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return b""

    def stop() -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(bench.pid, signal.SIGKILL)

    late = threading.Timer(BENCH_SECS, stop)
    late.start()
    with bench:
        assert bench.stdout is not None  # noqa: S101  # it is a pipe
        output = bench.stdout.read(BENCH_BYTES + 1)
        if len(output) > BENCH_BYTES:
            stop()
        bench.wait()
        late.cancel()
    return output if bench.returncode == 0 else b""


def steps(root: Path) -> int | None:
    """Return the number the benchmark prints, None when it prints anything else."""
    number = re.fullmatch(rb"\s*(\d{1,18})\s*", printed(root))
    return int(number[1]) if number else None


def size(path: Path) -> int | None:
    """Return the bytes of a regular file, None when there is none; a link could lead anywhere."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) else None


def after_turn(body: dict[str, Any]) -> dict[str, Any]:
    """Return the evidence: no flip, since no test is compared with itself, and the numbers."""
    root = Path(body["candidate"]["root"])
    # The benchmark comes first: one that builds the page makes it fresh for the second number.
    numbers = {"bench-steps": steps(root), "page-bytes": size(root / PAGE)}
    known = {name: number for name, number in numbers.items() if number is not None}
    return {"evidence": {"flip": "not-attempted", "measurements": known}}


def main() -> int:
    """Answer the request on stdin and return the exit status."""
    try:
        point, body = request()
        answer = {"protocol_version": PROTOCOL_VERSION, **after_turn(body)}
        print(json.dumps({"point": point, "body": answer}, separators=(",", ":")), flush=True)
    except (NoAnswer, OSError) as why:
        print(f"{NAME}: {why}", file=sys.stderr)
        return 1
    except (AttributeError, LookupError, TypeError) as why:
        print(f"{NAME}: a message has another shape than expected: {why!r}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
