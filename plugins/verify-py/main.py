"""verify: run the granted test and report whether it went from failing to passing.

The host starts this file once per `after_turn` request, writes the request as one JSON
document to stdin and closes it, and reads one JSON line from stdout. A request that it cannot
serve gets exit status 1 and one line on stderr. Needs Python 3.8 and its standard library.

It reports what it saw and never what that is worth: the host alone decides done. A flip
compares two results of one test, so it is unobservable where either of them is missing:

    baseline (before)   failed        passed        unobserved, not-run   exit code
    passed now          achieved      not-achieved  unobservable          reported
    failed now          not-achieved  not-achieved  unobservable          reported
    broken now          unobservable  unobservable  unobservable          reported
    nothing now         unobservable  unobservable  unobservable          left out

"broken" is a runner that stopped before it could tell (an import or build error, a wrong
option). "nothing" is a test that never started, outlived TEST_LIMIT_SECS, was ended by a
signal, or exited with 0 while its runner does not say that tests ran and passed.
"""

from __future__ import annotations

import contextlib
import ctypes
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
from typing import NamedTuple

PROTOCOL_VERSION = 1
TEST_LIMIT_SECS = 240.0  # below the 300 s of plugin.toml, so that an answer is still possible
TAIL_BYTES = 256 * 1024  # of the test's output, kept to read its runner's closing words
TICK_SECS = 0.01
DEEPEST = 64  # containers inside one another
U32_MAX = 2**32 - 1
SHOWN_CHARS = 40  # of a value that is quoted in a refusal

WHITE = " \t\r\n"
WHOLE = "the request"  # the place of a fault that has no other
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
HOLDERS: dict[type, type] = {dict: tuple, list: list, tuple: str}  # of a kind: of its value


class Refusal(Exception):
    """Why this request gets no answer: the line for stderr, place first."""


def quoted(text: str) -> str:
    """Return the head of `text` as ASCII on one line, so that it cannot forge another."""
    return json.dumps(text[:SHOWN_CHARS])


def parse(data: bytes) -> Any:
    """Return the one JSON document in `data`."""
    if not data.strip(WHITE.encode()):
        raise Refusal(f"{WHOLE}: nothing came")
    if data.startswith(b"\xef\xbb\xbf"):
        raise Refusal(f"{WHOLE}: starts with a byte-order mark")
    try:
        text = data.decode().lstrip(WHITE)
        tree, end = DECODER.raw_decode(text)
    except UnicodeDecodeError:
        raise Refusal(f"{WHOLE}: not UTF-8") from None
    except RecursionError:
        raise Refusal(f"{WHOLE}: nested deeper than {DEEPEST}") from None
    except ValueError:
        raise Refusal(f"{WHOLE}: not JSON") from None
    if text[end:].strip(WHITE):
        raise Refusal(f"{WHOLE}: goes on after its document")
    level = [tree]
    for _ in range(DEEPEST):
        holders = [node for node in level if type(node) in (tuple, list)]
        level = [item[1] if type(node) is tuple else item for node in holders for item in node]
    if any(type(node) in (tuple, list) for node in level):
        raise Refusal(f"{WHOLE}: nested deeper than {DEEPEST}")
    return tree


def shaped(kind: Any, value: Any, place: str = WHOLE) -> Any:
    """Return `value` as a `kind`: a dict of kinds, a list of one, words, a type, or a reader."""
    expected = HOLDERS.get(type(kind), kind)
    if expected in NAMES and type(value) is not expected:
        raise Refusal(f"{place}: expected {NAMES[expected]}, got {NAMES[type(value)]}")
    if isinstance(kind, dict):
        return table(kind, value, place)
    if isinstance(kind, list):
        return [shaped(kind[0], item, f"{place}[{at}]") for at, item in enumerate(value)]
    if isinstance(kind, tuple) and value not in kind:
        raise Refusal(f"{place}: expected {' or '.join(kind)}, got {quoted(value)}")
    if kind is str and any("\ud800" <= char <= "\udfff" for char in value):
        raise Refusal(f"{place}: holds a lone surrogate")
    return value if expected in NAMES else kind(value, place)


def table(kinds: dict[str, Any], pairs: Any, place: str) -> dict[str, Any]:
    """Return the keys that a table gives; null is the same as absent, `?` marks optional."""
    given: dict[str, Any] = {}
    for key, value in pairs:
        if key in given:
            raise Refusal(f"{place}: the key {quoted(key)} stands twice")
        given[key] = value
    inside = "" if place == WHOLE else f"{place}."
    names = {name.rstrip("?"): kind for name, kind in kinds.items()}
    taken = {
        name: shaped(kind, given[name], inside + name)
        for name, kind in names.items()
        if given.get(name) is not None
    }
    if foreign := [key for key in given if key not in names]:
        raise Refusal(f"{place}: unknown key {quoted(foreign[0])}")
    if absent := [name for name in kinds if name[-1] != "?" and name not in taken]:
        raise Refusal(f"{inside}{absent[0]}: missing")
    return taken


def u32(value: Any, place: str) -> int:
    """Return an unsigned 32-bit integer, which is written with digits only."""
    digits = shaped(bytes, value, place)
    if not digits.isdigit() or len(digits) > len(str(U32_MAX)) or int(digits) > U32_MAX:
        raise Refusal(f"{place}: expected 0 to {U32_MAX}, got {digits[:SHOWN_CHARS].decode()}")
    return int(digits)


def version(value: Any, place: str) -> int:
    """Return the protocol version, when it is the one this plugin serves."""
    if (number := u32(value, place)) != PROTOCOL_VERSION:
        raise Refusal(f"{place}: does not serve {number}, only {PROTOCOL_VERSION}")
    return number


def directory(value: Any, place: str) -> str:
    """Return an absolute path: a relative one would lead into this plugin's directory."""
    if not shaped(str, value, place).startswith("/"):
        raise Refusal(f"{place}: expected an absolute path, got {quoted(value)}")
    return str(value)


# Read in this order: with another point or version the other keys may be others too.
TEST = {"program": str, "args?": [str], "baseline?": ("not-run", "passed", "failed", "unobserved")}
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
REQUEST = {"point": ("after_turn",), "body": BODY}


class Host:
    """The process that waits for the answer, as long as it does."""

    def __init__(self) -> None:
        self.parent = os.getppid()
        self.stops: list[int] = []
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda got, _: self.stops.append(got))

    def check(self) -> None:
        """Raise `Refusal` when nobody waits any more; another parent means the host died."""
        if self.stops or os.getppid() != self.parent:
            raise Refusal("the test: ended with this plugin, which was told to stop")


def conceal() -> None:
    """Keep the test, which is the same user, from writing an answer to /proc/PID/fd/1 of this."""
    if sys.platform == "linux" and ctypes.CDLL(None).prctl(4, 0, 0, 0, 0):  # PR_SET_DUMPABLE
        raise Refusal("the system leaves the output of this process open to the test")


class Ran(NamedTuple):
    """One run: its exit status or else what ended it, duration, last output."""

    code: int | None
    millis: int
    tail: bytes
    ended: str = ""


def located(name: str, root: str) -> str | None:
    """Return the path of a program: from the root with a slash, else on `PATH`, else none."""
    if "/" in name:
        return name if name.startswith("/") else f"{root}/{name}"
    # Relative entries are skipped: they would mean this plugin's own directory.
    entries = [at for at in os.environ.get("PATH", "").split(":") if at.startswith("/")]
    return shutil.which(name, path=":".join(entries))


def exited(child: subprocess.Popen[bytes]) -> bool:
    """Return whether the test ended."""
    if hasattr(os, "waitid"):  # left unreaped it keeps its number, so its group can be killed
        return os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None
    return child.poll() is not None


def pump(output: int, tail: bytearray) -> bool:
    """Move one block of output into `tail`; false when there is none."""
    block = b""
    with contextlib.suppress(BlockingIOError):
        block = os.read(output, 65536)
    tail += block
    del tail[:-TAIL_BYTES]
    return bool(block)


def run(argv: list[str], root: str, cache: str, host: Host) -> Ran | None:
    """Run `argv` in `root` until it exits, the bound passes or the host lets go of it.

    None when it could not be started. Old compiled code decides nothing: `cache` is a new one.
    """
    started = time.monotonic()
    try:
        child = subprocess.Popen(
            argv,
            cwd=root,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": cache},
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
                host.check()
                if select.select(pipe, [], [], TICK_SECS)[0] and not pump(output, tail):
                    pipe = []  # closed by the test, which may live on
            millis = int((time.monotonic() - started) * 1000)
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):  # nobody is left
                os.killpg(child.pid, signal.SIGKILL)
        code = child.wait()
        all(pump(output, tail) for _ in range(64))  # until it is empty; no pipe holds more
    late = millis >= TEST_LIMIT_SECS * 1000
    why = f"outlived {TEST_LIMIT_SECS:g} s" if late else f"was ended by signal {-code}"
    return Ran(code, millis, bytes(tail)) if code >= 0 else Ran(None, millis, bytes(tail), why)


class Runner(NamedTuple):
    """What is known of one test runner: patterns for its command and for its output.

    `failed` are the exit statuses of a failing test, `empty` those of a run without tests;
    any other and `broken` mean broken. `counts` finds the lines that count tests: after
    status 0 nothing ran when none of them has `some`. Without such a line, `none` says it.
    With `single` the last such line decides and has to be there, as code under test can exit
    with 0; a command with `single` names single tests, and none may be skipped, by it either.
    """

    command: str
    failed: tuple[int, ...] = (1,)
    empty: tuple[int, ...] = ()
    broken: str = "(?!)"
    none: str = "(?!)"
    counts: str = "(?!)"
    some: str = r"\b[1-9]\d* x?passed\b"
    single: str = ""


PYTHON = r"python\S* (?:-[XW] \S+ |-(?![mXW] )\S+ )*-\w*m "
RUNNERS = (
    Runner(
        rf"(?:{PYTHON})?pytest|py\.test",
        empty=(5,),
        # What follows from `Exit:` on is what the code that ended the run early wants read.
        counts=r"^=* ?(?:no tests ran|\d+ [a-z]).* in [\d.]+ ?s.*(?:\n!+ \S*Exit:(?s:.*))?",
        some=r"^(?!(?s:.*)(?:\b(?:failed|errors?)\b|\bExit:)).*\b[1-9]\d* x?passed\b",
        single=r" -[hlqsvx]*k|(?<!--deselect) [^- ]\S*\.py::",
    ),
    Runner(
        rf"{PYTHON}unittest",
        empty=(5,),
        broken=r"unittest\.loader\._FailedTest",
        counts=r"^Ran \d+ tests? in .*\n\n.*",
        some=r"^Ran (?!0)(\d+) .*\n\nOK\b(?! \(.*\b(?:skipped|failures)=\1\b)",
        single=r" -[bcfqv]*k|\w\.[A-Z]",
    ),
    Runner("cargo test", (101,), broken="error: could not compile", counts="^test result: .*"),
    Runner("cargo nextest run", failed=(100,), empty=(4,)),
    Runner(
        "go test",
        broken=r"\[(?:build|setup) failed\]",
        counts=r"^(?:testing: warning: no tests to run\nPASS\n)?(?:ok|\?)\s.*",
        some=r"^ok\s(?!.*\[no tests to run\])",
    ),
    Runner(
        "jest",
        broken=r"(?s)\A(?!.*\nTests: [^\n]* failed).*Test suite failed to run",
        none="^No tests found, exiting",
        counts="^Tests: .*",
    ),
    Runner("vitest", none="^ *No test files found, exiting", counts="^ *Tests  .*"),
)
LAUNCHER = r"env(?: \w+=\S*)*|(?:npx|bunx|(?:uv|poetry|pipenv) run|pnpm exec)(?: -\S+)*"
NOT_STARTED = (126, 127)  # what env, sh and their kind say of a program they cannot start
ESCAPE = r"\x1b\[[0-?]*[ -/]*[@-~]"


def runner_of(words: list[str]) -> Runner | None:
    """Return the runner that `words` start, or none when they start something else."""
    line = " ".join(re.sub(r"\s", "_", word) for word in words)
    start = rf"(?:(?:\S*/)?(?:{LAUNCHER}) )*(?:\S*/)?"
    found = (runner for runner in RUNNERS if re.match(f"{start}(?:{runner.command})(?: |$)", line))
    return next(found, None)


def outcome(words: list[str], ran: Ran) -> str:
    """Return `passed`, `failed`, `broken` or `nothing`: the row of the table at the top."""
    if ran.code is None or ran.code in NOT_STARTED:
        return "nothing"
    if (runner := runner_of(words)) is None:
        return "failed" if ran.code else "passed"
    said = re.sub(ESCAPE, "", ran.tail.decode("utf-8", "replace"))
    counts = [line[0] for line in re.finditer(runner.counts, said, re.MULTILINE)]
    if ran.code in runner.empty or (not counts and re.search(runner.none, said, re.MULTILINE)):
        return "nothing"
    if ran.code == 0:
        if runner.single:
            counts = counts[-1:] or [""]
            if "skipped" in counts[0] and re.search(runner.single, " ".join(words)):
                return "nothing"
        idle = counts and not any(re.search(runner.some, line) for line in counts)
        return "nothing" if idle else "passed"
    broken = ran.code not in runner.failed or re.search(runner.broken, said)
    return "broken" if broken else "failed"


FLIPS = {(was, now): "not-achieved" for was in ("failed", "passed") for now in ("failed", "passed")}
FLIPS["failed", "passed"] = "achieved"


def observe(grant: dict[str, Any], host: Host) -> dict[str, Any]:
    """Return the evidence about the granted test, or that there was nothing to observe."""
    test = grant.get("test")
    if test is None or (path := located(test["program"], grant["root"])) is None:
        return {"flip": "unobservable"}
    args = test.get("args", [])
    # Never tempfile's own choice of place: its last resort is the working directory.
    cache = tempfile.mkdtemp(prefix="verify-", dir="/tmp")
    try:
        ran = run([path, *args], grant["root"], cache, host)
    finally:
        shutil.rmtree(cache, ignore_errors=True)
    if ran is None:
        return {"flip": "unobservable"}
    if ran.ended:
        print(f"verify: the test {ran.ended}", file=sys.stderr)
    now = outcome([test["program"], *args], ran)
    numbers = {} if now == "nothing" else {"test-command-exit-code": ran.code}
    numbers["test-duration-ms"] = ran.millis
    flip = FLIPS.get((test.get("baseline", "not-run"), now), "unobservable")
    return {"flip": flip, "measurements": numbers}


def main() -> int:
    """Answer the request on stdin and return the exit status."""
    try:
        body = shaped(REQUEST, parse(sys.stdin.buffer.read()))["body"]
        conceal()
        host = Host()  # not earlier: until here a signal simply ends this process
        evidence = observe(body.get("candidate", {}), host)
        host.check()
        body = {"protocol_version": PROTOCOL_VERSION, "evidence": evidence}
        print(json.dumps({"point": "after_turn", "body": body}, separators=(",", ":")), flush=True)
    except (Refusal, OSError) as refusal:
        print(f"verify: {refusal}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
