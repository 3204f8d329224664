"""verify: run the granted test and report whether it went from failing to passing.

The host starts this file once per `after_turn` request, writes the request as one JSON
document to stdin and closes it, and reads one JSON line from stdout. There is nothing more
to the protocol. A request that cannot be served gets no answer: exit status 1, one line on
stderr, nothing on stdout. Needs Python 3.8 or later and only its standard library.

It reports what it saw and never what that is worth: the host alone decides done. A flip
compares two results of one test, so it is unobservable where either of them is missing:

    baseline (before)   failed        passed        unobserved, not-run   exit code
    passed now          achieved      not-achieved  unobservable          reported
    failed now          not-achieved  not-achieved  unobservable          reported
    broken now          unobservable  unobservable  unobservable          reported
    nothing now         unobservable  unobservable  unobservable          left out

"broken" is a runner that stopped before it could tell (an import or build error, a wrong
option). "nothing" is a test that never started, outlived TEST_LIMIT_SECS, was ended by a
signal, or exited while its runner says that no test ran or passed.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from typing import Any
from typing import Callable
from typing import NamedTuple

PROTOCOL_VERSION = 1
TEST_LIMIT_SECS = 240.0  # below the 300 s of plugin.toml, so that an answer is still possible
TAIL_BYTES = 256 * 1024  # of the test's output, kept to read its runner's closing words
BLOCK_BYTES = 64 * 1024
DRAIN_BLOCKS = 64  # more than any pipe holds
TICK_SECS = 0.02
DEEPEST = 64  # containers inside one another
U32_MAX = 2**32 - 1
SHOWN_CHARS = 40  # of a value that is quoted in a refusal
STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

# ── the request: strict JSON, every key known, every fault with its place ─────────────────

WHITE = " \t\r\n"
# A table becomes the tuple of its pairs and an integer its digits as bytes, so that a key
# given twice and a -0 can still be seen. int("NaN") fails, and NaN is no JSON either.
DECODER = json.JSONDecoder(object_pairs_hook=tuple, parse_int=str.encode, parse_constant=int)
NAMES = {
    type(None): "null",
    bool: "true or false",
    bytes: "an integer",
    float: "a fraction",
    str: "a string",
    list: "a list",
    tuple: "a table",
}


class Refusal(Exception):  # noqa: N818 - the protocol's word; the text is the line for stderr
    """Why this request gets no answer."""

    def __init__(self, place: str, what: str) -> None:
        super().__init__(f"{place}: {what}")


def quoted(text: str) -> str:
    """Return the head of `text` as ASCII on one line, so that it cannot forge another."""
    return json.dumps(text[:SHOWN_CHARS])


def parse(data: bytes) -> Any:
    """Return the one JSON document in `data`."""
    whole = "the request"
    if not data.strip(WHITE.encode()):
        raise Refusal(whole, "nothing came")
    if data.startswith(b"\xef\xbb\xbf"):
        raise Refusal(whole, "starts with a byte-order mark")
    try:
        text = data.decode().lstrip(WHITE)
        tree, end = DECODER.raw_decode(text)
    except UnicodeDecodeError:
        raise Refusal(whole, "not UTF-8") from None
    except RecursionError:
        raise Refusal(whole, f"nested deeper than {DEEPEST}") from None
    except ValueError:
        raise Refusal(whole, "not JSON") from None
    if text[end:].strip(WHITE):
        raise Refusal(whole, "goes on after its document")
    level = [tree]
    for _ in range(DEEPEST):
        tables = [[value for _, value in node] for node in level if type(node) is tuple]
        lists = [node for node in level if type(node) is list]
        level = [value for row in (*tables, *lists) for value in row]
    if any(type(node) in (tuple, list) for node in level):
        raise Refusal(whole, f"nested deeper than {DEEPEST}")
    return tree


def shaped(kind: Any, value: Any, place: str = "") -> Any:
    """Return `value` as a `kind`: a dict of kinds, a list of one kind, a type or a reader."""
    expected = tuple if isinstance(kind, dict) else list if isinstance(kind, list) else kind
    if expected in NAMES and type(value) is not expected:
        what = f"expected {NAMES[expected]}, got {NAMES[type(value)]}"
        raise Refusal(place or "the request", what)
    if isinstance(kind, dict):
        return table(kind, value, place)
    if isinstance(kind, list):
        return [shaped(kind[0], item, f"{place}[{at}]") for at, item in enumerate(value)]
    if kind is str and any("\ud800" <= char <= "\udfff" for char in value):
        raise Refusal(place, "holds a lone surrogate")
    return value if kind in NAMES else kind(value, place)


def table(kinds: dict[str, Any], pairs: Any, place: str) -> dict[str, Any]:
    """Return the keys that a table gives; null is the same as absent, `?` marks optional."""
    given: dict[str, Any] = {}
    for key, value in pairs:
        if key in given:
            raise Refusal(place or "the request", f"the key {quoted(key)} stands twice")
        given[key] = value
    inside = f"{place}." if place else ""
    names = {name.rstrip("?"): kind for name, kind in kinds.items()}
    taken = {
        name: shaped(kind, given[name], inside + name)
        for name, kind in names.items()
        if given.get(name) is not None
    }
    for key in given:
        if key not in names:
            raise Refusal(place or "the request", f"unknown key {quoted(key)}")
    for name in kinds:
        if not name.endswith("?") and name not in taken:
            raise Refusal(inside + name, "missing")
    return taken


def u32(value: Any, place: str) -> int:
    """Return an unsigned 32-bit integer, which is written with digits only."""
    digits = shaped(bytes, value, place)
    if not digits.isdigit() or len(digits) > len(str(U32_MAX)) or int(digits) > U32_MAX:
        shown = digits[:SHOWN_CHARS].decode()
        raise Refusal(place, f"expected 0 to {U32_MAX}, got {shown}")
    return int(digits)


def version(value: Any, place: str) -> int:
    """Return the protocol version, when it is the one this plugin serves."""
    if (number := u32(value, place)) != PROTOCOL_VERSION:
        raise Refusal(place, f"does not serve {number}, only {PROTOCOL_VERSION}")
    return number


def word(*legal: str) -> Callable[[Any, str], str]:
    """Return the reader of a closed vocabulary."""

    def read(value: Any, place: str) -> str:
        if (given := str(shaped(str, value, place))) not in legal:
            raise Refusal(place, f"expected {' or '.join(legal)}, got {quoted(given)}")
        return given

    return read


def program(value: Any, place: str) -> str:
    """Return the name or path of a program."""
    if not shaped(str, value, place):
        raise Refusal(place, "expected a program, got an empty string")
    return str(value)


def directory(value: Any, place: str) -> str:
    """Return an absolute path: a relative one would lead into this plugin's directory."""
    if not shaped(str, value, place).startswith("/"):
        raise Refusal(place, f"expected an absolute path, got {quoted(value)}")
    return str(value)


# Keys are read in this order. The point and the version come first, because with another
# point or version the other keys may be others too.
BASELINE = word("not-run", "passed", "failed", "unobserved")
TEST = {"program": program, "args?": [str], "baseline?": BASELINE}
CANDIDATE = {"handle": str, "root": directory, "test?": TEST}
TURN = {"completed": bool, "answer?": str, "tools?": [str], "changed_files?": [str]}
BODY = {
    "protocol_version": version,
    "wrapper": str,
    "stage?": str,
    "round": u32,
    "goal": str,
    "candidate?": CANDIDATE,
    "turn": TURN,
}
REQUEST = {"point": word("after_turn"), "body": BODY}

# ── the test: started without a shell, bounded, its whole group ended on every path ───────


class Ran(NamedTuple):
    """One run: its exit status (none unless it exited by itself), duration, last output."""

    code: int | None
    millis: int
    tail: bytes


def located(name: str, root: str) -> str | None:
    """Return the path of a program: from the root with a slash, else on `PATH`, else none.

    Relative entries of `PATH` are skipped: they would mean this plugin's own directory.
    """
    if "/" in name:
        return name if name.startswith("/") else f"{root}/{name}"
    entries = os.environ.get("PATH", "").split(":")
    return shutil.which(name, path=":".join(at for at in entries if at.startswith("/")))


def exited(child: subprocess.Popen[bytes]) -> bool:
    """Return whether the test ended, and leave it unreaped where the system lets us.

    An unreaped leader keeps its number, so the group killed next is still its own.
    """
    if hasattr(os, "waitid"):
        options = os.WEXITED | os.WNOWAIT | os.WNOHANG
        return os.waitid(os.P_PID, child.pid, options) is not None
    return child.poll() is not None


def pump(output: int, tail: bytearray) -> bool:
    """Move one block of output into `tail`; false when there is none."""
    try:
        block = os.read(output, BLOCK_BYTES)
    except BlockingIOError:
        return False
    tail += block
    del tail[:-TAIL_BYTES]
    return bool(block)


def run(argv: list[str], root: str, cache: str, unwanted: Callable[[], bool]) -> Ran | None:
    """Run `argv` in `root` until it exits, the bound passes or nobody wants it any more.

    None when it could not be started. Old compiled code never decides a result: caches are
    neither written beside the sources nor read from there.
    """
    fresh = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": cache}
    started = time.monotonic()
    try:
        child = subprocess.Popen(
            argv,
            cwd=root,
            env={**os.environ, **fresh},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except (OSError, ValueError):  # ValueError: a NUL inside a word
        return None
    tail = bytearray()
    with child:
        output = child.stdout.fileno()  # type: ignore[union-attr]  # it is a PIPE
        os.set_blocking(output, False)
        pipe = [output]
        try:
            while not exited(child) and time.monotonic() - started < TEST_LIMIT_SECS:
                if unwanted():
                    break
                if select.select(pipe, [], [], TICK_SECS)[0] and not pump(output, tail):
                    pipe = []  # closed by the test, which may live on
            alone = exited(child)
            millis = int((time.monotonic() - started) * 1000)
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):  # nobody is left
                os.killpg(child.pid, signal.SIGKILL)
        code = child.wait()
        for _ in range(DRAIN_BLOCKS):
            if not pump(output, tail):
                break
    return Ran(code if alone and code >= 0 else None, millis, bytes(tail))


# ── what an exit status and the closing words of a runner mean ────────────────────────────


class Runner(NamedTuple):
    """What is known of one test runner; the patterns are searched in its output.

    `failed` are the exit statuses of a failing test, `empty` those of a run without tests;
    other ones, and `broken`, mean broken. `none` means that nothing ran. After status 0,
    `counts` finds the lines that count tests; when none of them has `some`, nothing ran.
    """

    failed: tuple[int, ...]
    empty: tuple[int, ...] = ()
    broken: str = "(?!)"
    none: str = "(?!)"
    counts: str = "(?!)"
    some: str = r"\b[1-9]\d* x?passed\b"


RUNNERS = {
    "pytest": Runner((1,), (5,), counts=r"^=* ?(?:no tests ran|\d+ [a-z]).* in [\d.]+s\b.*"),
    "unittest": Runner(
        (1,),
        (5,),
        broken=r"unittest\.loader\._FailedTest",
        none=r"^Ran 0 tests|^Ran (\d+) tests? in .*\n\nOK \(.*\b(?:skipped|failures)=\1\b",
    ),
    "cargo": Runner((101,), broken="error: could not compile", counts="^test result: .*"),
    "cargo nextest": Runner((100,), (4,)),
    "go": Runner(
        (1,),
        broken=r"\[(?:build|setup) failed\]",
        counts=r"^(?:ok|\?)\s.*",
        some=r"^ok\s(?!.*\[no tests to run\])",
    ),
    "jest": Runner(
        (1,),
        broken=r"(?s)\A(?!.*\nTests: [^\n]* failed).*Test suite failed to run",
        none="No tests found",
        counts="^Tests: .*",
    ),
    "vitest": Runner((1,), none="No test files found", counts="^ *Tests  .*"),
}
COUNTS_ONCE = ("pytest", "jest", "vitest")  # in closing words that a cut output still has
NOT_STARTED = (126, 127)  # what env, sh and their kind say of a program they cannot start
LAUNCHERS = ("npx", "bunx", "uv run", "poetry run", "pipenv run", "pnpm exec")
ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")


def runner_of(words: list[str]) -> str | None:
    """Return the key of `RUNNERS` that `words` start, or none."""
    if not words:
        return None
    name, rest = words[0].rpartition("/")[2], words[1:]
    for launcher in LAUNCHERS:
        first, *more = launcher.split()
        if name == first and rest[: len(more)] == more:
            return runner_of(rest[len(more) :])
    if name == "env" and rest:
        return runner_of(rest if "=" not in rest[0] else ["env", *rest[1:]])
    if name.startswith("python"):
        while rest and rest[0].startswith("-") and rest[0] != "-m":
            rest = rest[2:] if rest[0] in ("-X", "-W") else rest[1:]
        module = rest[1] if rest[:1] == ["-m"] and rest[1:] else ""
        return module if module in ("pytest", "unittest") else None
    if name == "cargo" and rest[:2] == ["nextest", "run"]:
        return "cargo nextest"
    if name in ("cargo", "go"):
        return name if rest[:1] == ["test"] else None
    name = "pytest" if name == "py.test" else name
    return name if name in ("pytest", "jest", "vitest") else None


def outcome(words: list[str], ran: Ran) -> str:
    """Return `passed`, `failed`, `broken` or `nothing`: the row of the table at the top."""
    if ran.code is None or ran.code in NOT_STARTED:
        return "nothing"
    name = runner_of(words)
    if name is None:
        return "failed" if ran.code else "passed"
    runner = RUNNERS[name]
    said = ESCAPES.sub("", ran.tail.decode("utf-8", "replace"))
    if ran.code in runner.empty or re.search(runner.none, said, re.MULTILINE):
        return "nothing"
    counts = [found[0] for found in re.finditer(runner.counts, said, re.MULTILINE)]
    if ran.code == 0:
        complete = len(ran.tail) < TAIL_BYTES or name in COUNTS_ONCE
        idle = counts and not any(re.search(runner.some, line) for line in counts)
        return "nothing" if complete and idle else "passed"
    if re.search(runner.broken, said) or (
        "--continue-on-collection-errors" in words and not any("failed" in at for at in counts)
    ):
        return "broken"
    return "failed" if ran.code in runner.failed else "broken"


# ── the answer ────────────────────────────────────────────────────────────────────────────

FLIPS = {
    ("failed", "passed"): "achieved",
    ("failed", "failed"): "not-achieved",
    ("passed", "passed"): "not-achieved",
    ("passed", "failed"): "not-achieved",
}


def observe(grant: dict[str, Any], unwanted: Callable[[], bool]) -> dict[str, Any]:
    """Return the evidence about the granted test, or that there was nothing to observe."""
    test = grant.get("test")
    path = located(test["program"], grant["root"]) if test else None
    if test is None or path is None:
        return {"flip": "unobservable"}
    args = test.get("args", [])
    # Never tempfile's own choice of place: its last resort is the working directory.
    cache = tempfile.mkdtemp(prefix="verify-", dir="/tmp")
    try:
        ran = run([path, *args], grant["root"], cache, unwanted)
    finally:
        shutil.rmtree(cache, ignore_errors=True)
    if ran is None:
        return {"flip": "unobservable"}
    now = outcome([test["program"], *args], ran)
    numbers = {} if now == "nothing" else {"test-command-exit-code": ran.code}
    numbers["test-duration-ms"] = ran.millis
    flip = FLIPS.get((test.get("baseline", "not-run"), now), "unobservable")
    return {"flip": flip, "measurements": numbers}


def answer(data: bytes, host: int) -> str:
    """Return the answer to the request in `data` as one line, or raise `Refusal`."""
    body = shaped(REQUEST, parse(data))["body"]
    stopped: list[int] = []
    for number in STOP_SIGNALS:
        signal.signal(number, lambda got, _: stopped.append(got))

    def unwanted() -> bool:
        # Another parent means that the host died, and nobody else will end the test.
        return bool(stopped) or os.getppid() != host

    evidence = observe(body.get("candidate", {}), unwanted)
    if unwanted():
        raise Refusal("the test", "ended, because nobody waits for it any more")
    body = {"protocol_version": PROTOCOL_VERSION, "evidence": evidence}
    return json.dumps({"point": "after_turn", "body": body}, separators=(",", ":"))


def main() -> int:
    """Answer the request on stdin and return the exit status."""
    host = os.getppid()
    try:
        print(answer(sys.stdin.buffer.read(), host), flush=True)
    except (Refusal, OSError) as refusal:
        print(f"verify: {refusal}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
