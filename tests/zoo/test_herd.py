"""Plugins that do something odd or hostile, in a run of this process, at both points.

Every animal is a program of a few lines in `herd/`, in Python or for `sh`, that gets the good
answer of its point as its argument. What a person sees of it is one line, or nothing.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from stella.turn.plugin_facts import Exchanged
from stella.wire.points import Point
from tests.making.zoo import HERD
from tests.making.zoo import NAME
from tests.making.zoo import caged
from tests.zoo.sayings import fault_of
from tests.zoo.sayings import seen

LEFT: Final = r"notice  {name} left {count} of its processes behind at {point}; they were ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fate:
    """What becomes of an animal: the line of its fault, or how many processes were ended.

    `line` is a pattern as in `sayings`; `left` is a pattern for the number in a notice. With
    neither nothing is said. `secs` is its deadline; `points` where it is asked.
    """

    line: str | None = None
    left: str | None = None
    secs: int = 20
    points: tuple[Point, ...] = tuple(Point)

    def pattern(self, point: Point) -> str | None:
        """The pattern of the one line that a person sees."""
        if self.left is not None:
            return LEFT.format(name=NAME, count=self.left, point=point.value)
        return seen(self.line, point)


SHORT: Final = 1
"""The deadline, in seconds, of animals that never end."""
ONCE: Final = (Point.AFTER_TURN,)
"""Where an animal is asked that takes its time."""

FATES: Final = {
    # odd, and within the rules
    "answers_first.py": Fate(),
    "at_home.sh": Fate(),
    "byte_by_byte.py": Fate(),
    "closes_stderr.sh": Fate(),
    "closes_stdin.sh": Fate(),
    "delegates.sh": Fate(),
    "descriptors.py": Fate(),
    "dispositions.py": Fate(),
    "garbage_after.sh": Fate(),
    "ignores_sigpipe.py": Fate(),
    "leader.py": Fate(),
    "loud.py": Fate(),
    "much_after.sh": Fate(),
    "never_reads.sh": Fate(),
    "no_newline.sh": Fate(),
    "reads_a_little.sh": Fate(),
    "reads_to_the_end.sh": Fate(),
    "six_lines.py": Fate(),
    "terminal.py": Fate(),
    "to_the_brim.py": Fate(),
    "umask.sh": Fate(),
    "wanders.sh": Fate(),
    "zombies.py": Fate(),
    # its answer counts, what it left does not stay
    "daemon.py": Fate(left="1"),
    "forks_on.py": Fate(left=r"\d+"),
    "strays.py": Fate(left="1"),
    # no answer
    "mute.sh": Fate(line="NoResponse: exit 0 without an answer; nothing on stderr"),
    "wrong_stream.sh": Fate(
        line="NoResponse: exit 0 without an answer; your answer went to stderr"
    ),
    "asks.py": Fate(line='UnannouncedCall: it asked "recall"'),
    "shouts_and_waits.py": Fate(line="Decode: .*got: INFO: one moment"),
    # its own end
    "aborts.sh": Fate(line="Exit: signal 6; nothing on stderr"),
    "colourful.sh": Fate(line=r"Exit: code 3; stderr: \\u\{1B\}\[2J\\u\{1B\}\[1A verdict: met"),
    "env_dump.sh": Fate(line="Exit: code 1; stderr: (?:OLDPWD=\\S+ )?PATH="),
    "exits_255.sh": Fate(line="Exit: code 255, after a valid answer, which is not used"),
    "exits_one.sh": Fate(line="Exit: code 1; stderr: no luck today"),
    "group_killer.py": Fate(line="Exit: signal 9, after a valid answer"),
    "killed.sh": Fate(line="Exit: signal 9, after a valid answer, which is not used"),
    "not_found.sh": Fate(line="Exit: code 127; stderr: .*not found"),
    "recursion.py": Fate(line="Exit: code 1; stderr: .*RecursionError"),
    "segfault.sh": Fate(line="Exit: signal 11, after a valid answer"),
    "terminated.sh": Fate(line="Exit: signal 15; nothing on stderr"),
    # too much
    "floods_after.sh": Fate(line="OutputCap: stdout"),
    "floods_blanks.sh": Fate(line="OutputCap: stdout"),
    "floods_both.py": Fate(line="OutputCap: stderr"),
    "floods_stderr.sh": Fate(line="OutputCap: stderr"),
    "floods_stdout.sh": Fate(line="OutputCap: stdout"),
    "over_the_brim.py": Fate(line="OutputCap: stdout"),
    # too long
    "closes_stdout.sh": Fate(line="Timeout: no end within 1 s of its start", secs=SHORT),
    "deaf.sh": Fate(line="Timeout: no end within 1 s", secs=SHORT, points=ONCE),
    "debtor.py": Fate(line="Timeout: no end within 1 s", secs=SHORT),
    "hangs.sh": Fate(line="Timeout: no end within 1 s", secs=SHORT),
    "hangs_with_a_child.sh": Fate(line="Timeout: no end within 1 s", secs=SHORT),
    "stopped.py": Fate(line="Timeout: no end within 1 s", secs=SHORT, points=ONCE),
    "suspender.py": Fate(line="Timeout: no end within 1 s", secs=SHORT, points=ONCE),
    "trickle.py": Fate(line="Timeout: no end within 1 s", secs=SHORT, points=ONCE),
    # an end of who watches it
    "murderer.py": Fate(line="Transport: .*the guard of the process was killed"),
}


def test_the_herd_and_the_table_are_the_same() -> None:
    assert {path.name for path in HERD.iterdir() if path.is_file()} == set(FATES)


@pytest.mark.behaviour("E106", "E125", "K-147", "T-5", "T-6", "T-7", "T-14", "T-15")
@pytest.mark.behaviour("T-16", "T-18", "T-20", "T-21", "T-22", "T-24", "T-26", "T-27")
@pytest.mark.behaviour("T-28", "T-29", "T-30", "T-32", "W-50", "W-54")
@pytest.mark.parametrize(
    ("animal", "point"),
    [(animal, point) for animal, fate in FATES.items() for point in fate.points],
    ids=lambda part: part.value if isinstance(part, Point) else part,
)
def test_an_animal_has_its_one_line_and_decides_nothing(
    tmp_path: Path, animal: str, point: Point
) -> None:
    """[W-50, W-54, T-5 to T-7, T-15 to T-32, D-77]"""
    fate = FATES[animal]
    visit = caged(tmp_path, animal, point, fate.secs).visit()
    visit.untouched(fault_of(fate.line))
    pattern = fate.pattern(point)
    if pattern is None:
        assert visit.line is None
    else:
        assert re.match(pattern, visit.line or ""), visit.line
    assert visit.used == (fate.line is None)


@pytest.mark.behaviour("T-10")
@pytest.mark.parametrize("point", tuple(Point))
def test_a_dump_of_the_environment_has_what_was_listed_and_no_more(
    tmp_path: Path, point: Point
) -> None:
    """[T-10] `PWD`, `OLDPWD`, `SHLVL` and `_` are what shells set in themselves."""
    kept = caged(tmp_path, "env_dump.sh", point, 20)
    visit = kept.visit()
    names = set(re.findall(r"(?:stderr: | )(\w+)=", visit.line or ""))
    assert {"PATH"} <= names <= {"PATH", "PWD", "OLDPWD", "SHLVL", "_"}
    assert kept.mark in (visit.line or "")


@pytest.mark.behaviour("T-16", "T-21")
@pytest.mark.parametrize("animal", ["never_reads.sh", "closes_stdin.sh", "reads_a_little.sh"])
@pytest.mark.parametrize("point", tuple(Point))
def test_a_request_of_a_mebibyte_need_not_be_read(
    tmp_path: Path, animal: str, point: Point
) -> None:
    """[T-16, T-21]"""
    visit = caged(tmp_path, animal, point, 20).visit(goal="x" * 1_000_000)
    visit.untouched(None)
    assert visit.line is None
    assert visit.used


def test_what_an_animal_said_before_its_end_is_in_the_journal(tmp_path: Path) -> None:
    """[J2-44] The exchange without an answer, and the fault beside it."""
    visit = caged(tmp_path, "exits_255.sh", Point.AFTER_TURN, 20).visit()
    (asked,) = (fact for fact in visit.done.told if isinstance(fact, Exchanged))
    assert asked.request["goal"] == "go"
    assert asked.response is None
