"""What a runner's exit status says of the granted test [G-21 to G-26].

One table of rows, read from the top. It states what is known of a runner and nothing is
guessed beyond it [G-26]. Pure: a number and the captured text go in.
"""

import re
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from stella.codec import Word
from stella.wire.grant import TestBaseline
from stella.witness.runners import Recognised
from stella.witness.runners import Runner


class BaselineReason(Word):
    """Why a baseline is what it is; for the journal and the report, never on the wire [G-22]."""

    NO_PLAN = "no-plan"
    NOT_STARTED = "not-started"
    TIMED_OUT = "timed-out"
    KILLED_BY_SIGNAL = "killed-by-signal"
    INFRASTRUCTURE = "infrastructure"
    ARTIFACT_CHANGED = "artifact-changed"
    INTERRUPTED = "interrupted"
    INTERNAL_ERROR = "internal-error"
    USAGE_ERROR = "usage-error"
    NOTHING_COLLECTED = "nothing-collected"
    COLLECTION_ERROR = "collection-error"
    IMPORT_ERROR = "import-error"
    BUILD_ERROR = "build-error"
    UNKNOWN_EXIT = "unknown-exit"
    EXIT_ZERO = "exit-zero"
    EXIT_NONZERO = "exit-nonzero"


Says = Callable[[str, Sequence[str]], bool]

_ESCAPES: Final = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[ -/]*[0-~])"
)
_PYTEST_SUMMARY: Final = re.compile(
    r"\b\d+ (?:passed|failed|errors?|skipped|xfailed|xpassed)\b.* in \d+\.\d+s"
)
_SOME_FAILED: Final = re.compile(r"\b0*[1-9][0-9]* failed\b")


def _always(output: str, args: Sequence[str]) -> bool:
    del output, args
    return True


def _marker(*texts: str) -> Says:
    return lambda output, _: any(text in output for text in texts)


def _stopped_in_collection(output: str, args: Sequence[str]) -> bool:
    del args
    lines = output.splitlines()
    return any("Interrupted:" in line and "during collection" in line for line in lines)


def _only_collection_failed(output: str, args: Sequence[str]) -> bool:
    if "--continue-on-collection-errors" not in args:
        return False
    return _counts_no_failure(filter(_PYTEST_SUMMARY.search, output.splitlines()))


def _suite_did_not_run(output: str, args: Sequence[str]) -> bool:
    del args
    lines = (line for line in output.splitlines() if line.strip().startswith("Tests:"))
    return "Test suite failed to run" in output and _counts_no_failure(lines)


def _counts_no_failure(summaries: Iterable[str]) -> bool:
    """Return whether the last summary counts no failed test; without one nothing is counted."""
    last = None
    for line in summaries:
        last = line
    return last is not None and not _SOME_FAILED.search(last)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of the tables: it matches when `codes` holds the exit status and `says` agrees.

    `codes` None matches every status. `starred` rows are red on request [G-25].
    """

    codes: frozenset[int] | None
    says: Says
    baseline: TestBaseline
    reason: BaselineReason
    starred: bool = False


def _row(
    codes: Iterable[int] | None,
    baseline: TestBaseline,
    reason: BaselineReason,
    says: Says = _always,
) -> Row:
    return Row(
        codes=None if codes is None else frozenset(codes),
        says=says,
        baseline=baseline,
        reason=reason,
    )


def _starred(codes: Iterable[int], reason: BaselineReason, says: Says = _always) -> Row:
    return Row(
        codes=frozenset(codes),
        says=says,
        baseline=TestBaseline.UNOBSERVED,
        reason=reason,
        starred=True,
    )


_PASSED: Final = TestBaseline.PASSED
_FAILED: Final = TestBaseline.FAILED
_UNOBSERVED: Final = TestBaseline.UNOBSERVED
_Because = BaselineReason
_EXIT_ZERO: Final = _row([0], _PASSED, _Because.EXIT_ZERO)
_BUILD_MARKERS: Final = _marker("[build failed]", "[setup failed]")

ROWS: Final[Mapping[Runner, tuple[Row, ...]]] = {
    Runner.PYTEST: (
        _EXIT_ZERO,
        _starred([1], _Because.COLLECTION_ERROR, _only_collection_failed),
        _row([1], _FAILED, _Because.EXIT_NONZERO),
        _starred([2], _Because.COLLECTION_ERROR, _stopped_in_collection),
        _row([2], _UNOBSERVED, _Because.INTERRUPTED),
        _row([3], _UNOBSERVED, _Because.INTERNAL_ERROR),
        _starred([4], _Because.IMPORT_ERROR, _marker("ImportError while loading conftest")),
        _starred([4], _Because.COLLECTION_ERROR, _marker("found no collectors for")),
        _row([4], _UNOBSERVED, _Because.USAGE_ERROR),
        _row([5], _UNOBSERVED, _Because.NOTHING_COLLECTED),
        _row(None, _UNOBSERVED, _Because.UNKNOWN_EXIT),
    ),
    Runner.UNITTEST: (
        _row([0], _UNOBSERVED, _Because.NOTHING_COLLECTED, _marker("Ran 0 tests")),
        _starred([1], _Because.IMPORT_ERROR, _marker("unittest.loader._FailedTest")),
        _row([2], _UNOBSERVED, _Because.USAGE_ERROR),
        _row([5], _UNOBSERVED, _Because.NOTHING_COLLECTED),
    ),
    Runner.CARGO_TEST: (
        _starred([101], _Because.BUILD_ERROR, _marker("error: could not compile")),
        _row([101], _FAILED, _Because.EXIT_NONZERO),
        _row([1], _UNOBSERVED, _Because.USAGE_ERROR),
    ),
    Runner.CARGO_NEXTEST: (
        _EXIT_ZERO,
        _row([100], _FAILED, _Because.EXIT_NONZERO),
        _starred([101], _Because.BUILD_ERROR),
        _row([4], _UNOBSERVED, _Because.NOTHING_COLLECTED),
        _row(None, _UNOBSERVED, _Because.UNKNOWN_EXIT),
    ),
    Runner.GO: (
        _starred([1, 2], _Because.BUILD_ERROR, _BUILD_MARKERS),
        _row([1], _FAILED, _Because.EXIT_NONZERO),
        _row([2], _UNOBSERVED, _Because.USAGE_ERROR),
    ),
    Runner.JEST: (
        _row([1], _UNOBSERVED, _Because.NOTHING_COLLECTED, _marker("No tests found")),
        _starred([1], _Because.COLLECTION_ERROR, _suite_did_not_run),
    ),
    Runner.VITEST: (
        _row([1], _UNOBSERVED, _Because.NOTHING_COLLECTED, _marker("No test files found")),
    ),
    Runner.OTHER: (_row([126, 127], _UNOBSERVED, _Because.NOT_STARTED),),
}
"""The rows of G-23 and G-24, in order, and the shell's own statuses of G-21."""

_LAST: Final = (_EXIT_ZERO, _row(None, _FAILED, _Because.EXIT_NONZERO))


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What an exit status says, and why [G-21]."""

    baseline: TestBaseline
    reason: BaselineReason


def reading(
    recognised: Recognised, code: int, output: str, *, red_on_error: bool = False
) -> Reading:
    """Return what exit status `code` of a run says of the test [G-21, G-23, G-24].

    `output` is the captured text, terminal escapes included; only markers are looked for in
    it. `red_on_error` turns the starred rows into `failed`, reasons unchanged [G-25]. An
    interpreter that does not find the module it was to run is a program that is missing [G-21].
    """
    plain = _ESCAPES.sub("", output)
    if code == 1 and recognised.module and _not_there(recognised.module, plain):
        return Reading(baseline=TestBaseline.UNOBSERVED, reason=BaselineReason.NOT_STARTED)
    rows = (*ROWS[recognised.runner], *_LAST)
    row = next(
        row
        for row in rows
        if (row.codes is None or code in row.codes) and row.says(plain, recognised.args)
    )
    red = row.starred and red_on_error
    return Reading(baseline=TestBaseline.FAILED if red else row.baseline, reason=row.reason)


def _not_there(module: str, output: str) -> bool:
    """Return whether the interpreter itself said, last, that it has no such module to run.

    A module that the test imports is named in quotes, after the name of an exception.
    """
    parts = module.split(".")
    above = "|".join(re.escape(".".join(parts[: at + 1])) for at in range(len(parts)))
    name = re.escape(module)
    said = (
        rf"(?:.*/)?python[\w.]*: (?:No module named {name}(?:\.__main__; .*)?"
        rf"|Error while finding module specification for '{name}' "
        rf"\(ModuleNotFoundError: No module named '(?:{above})'\).*)"
    )
    last = output.strip().rpartition("\n")[2]
    return re.fullmatch(said, last.strip()) is not None
