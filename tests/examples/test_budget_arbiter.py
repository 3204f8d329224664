"""budget-arbiter: a turn is held until two numbers are small enough."""

from pathlib import Path

import pytest

from tests.making.ends import Place
from tests.making.ends import asks
from tests.making.ends import place
from tests.making.ends import says
from tests.making.examples import EXAMPLES
from tests.making.examples import asked
from tests.making.examples import evidence
from tests.making.examples import played
from tests.making.examples import request
from tests.making.examples import said

NAME = "budget-arbiter"

BENCH = """\
import pathlib
from shop import total

steps = 0

class Price(int):
    def __add__(self, other):
        global steps
        steps += 1
        return Price(int(self) + int(other))
    __radd__ = __add__

total([Price(n) for n in range(100)])
pathlib.Path("dist").mkdir(exist_ok=True)
pathlib.Path("dist/page.html").write_text(pathlib.Path("page.html").read_text())
print(steps)
"""
"""Counts additions, which is the same number on every machine, and builds the page."""

SLOW = """\
def total(prices):
    return sum(sum(prices[:n]) - sum(prices[:n - 1]) for n in range(1, len(prices) + 1))
"""
FAST = """\
def total(prices):
    return sum(prices)
"""


def shop(folder: Path) -> Place:
    """A workspace that is over both budgets."""
    where = place(folder)
    for name, text in (("bench.py", BENCH), ("shop.py", SLOW), ("page.html", "x" * 3000)):
        (where.root / name).write_text(text, "utf-8")
    where.install(EXAMPLES / NAME)
    return where


def writes(path: str, text: str) -> tuple[dict[str, object], ...]:
    """A round that reads a file and replaces it."""
    return (
        asks("read_file", path=path),
        asks("write_file", path=path, content=text),
        says(f"I changed {path}."),
    )


def test_the_turn_is_held_until_both_budgets_are_met(tmp_path: Path) -> None:
    """[J-12, J-14, D-16] A round per budget: the first holds name what is still missing."""
    where = shop(tmp_path)
    rounds = (says("It is fast."), *writes("shop.py", FAST), *writes("page.html", "x" * 2048))
    where.scripted(*rounds)
    result = played(where, "--pipeline", NAME)
    assert (result["status"], result["exit_code"], result["rounds"]) == ("met", 0, 3)
    assert result["verdict"] == {"met": {"evidence": "plugin-reported"}}
    numbers = [each["measurements"] for each in evidence(where)]
    assert [each["page-bytes"] for each in numbers] == [3000, 3000, 2048]
    assert numbers[0]["bench-steps"] > 1000
    assert [each["bench-steps"] for each in numbers[1:]] == [100, 100]
    first, second = [m["text"] for m in where.told("message") if m["origin"] == "correction"]
    assert ("few-steps" in first, "small-page" in first) == (True, True)
    assert ("few-steps" in second, "small-page" in second) == (False, True)
    assert "3000" in second


def test_a_budget_that_is_missed_by_one_is_unmet_after_exactly_the_holds(tmp_path: Path) -> None:
    """[J-21, J-25, D-83]"""
    where = shop(tmp_path)
    rounds = [writes("page.html", "x" * size) for size in (2051, 2050, 2049, 2048)]
    where.scripted(*writes("shop.py", FAST)[:2], *(reply for turn in rounds for reply in turn))
    result = played(where, "--pipeline", NAME)
    assert (result["status"], result["exit_code"], result["rounds"]) == ("unmet", 4, 3)
    unmet = result["outcome"]["stop"]["unmet"]
    assert unmet["stopped"] == {"allowance_spent": {"spent": 2, "allowed": 2}}
    (clause,) = result["verdict"]["unmet"]["unmet"]
    assert clause["because"] == {"budget": {"check": "page-bytes <= 2048", "reported": 2049}}


def test_a_benchmark_that_does_not_run_leaves_it_undecided(tmp_path: Path) -> None:
    """[J-13] An absent number is no zero: nobody is held for it and nothing is met."""
    where = shop(tmp_path)
    where.scripted(*writes("shop.py", "def total(prices:\n"))
    (where.root / "dist").mkdir()
    (where.root / "dist" / "page.html").write_text("small")
    result = played(where, "--pipeline", NAME)
    assert (result["status"], result["exit_code"], result["rounds"]) == ("undecided", 5, 1)
    assert evidence(where)[0]["measurements"] == {"page-bytes": 5}


def measured(folder: Path, bench: str | None) -> dict[str, int]:
    """What the program reports of a workspace with this benchmark."""
    if bench is not None:
        (folder / "bench.py").write_text(bench, "utf-8")
    line = request("after_turn", candidate={"handle": "host-tree", "root": str(folder)})
    (answer,) = said(asked(NAME, line))
    assert answer["body"]["evidence"]["flip"] == "not-attempted"
    found: dict[str, int] = answer["body"]["evidence"]["measurements"]
    return found


@pytest.mark.parametrize(
    "bench",
    [
        None,
        "",
        "print('fast')",
        "print(-1)",
        "print(1.5)",
        "print(7, 8)",
        "print(7); raise SystemExit(1)",
        "print('7' * 19)",
        "import itertools\nfor _ in itertools.count():\n    print('7' * 9999)",
        "import os; print(7, flush=True); os.kill(os.getpid(), 9)",
    ],
)
def test_what_is_no_number_of_a_benchmark_is_left_out(tmp_path: Path, bench: str | None) -> None:
    """[J-13, W-6]"""
    assert measured(tmp_path, bench) == {}


def test_the_largest_number_and_an_empty_page_are_numbers(tmp_path: Path) -> None:
    """[J-13, W-6]"""
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / "page.html").touch()
    assert measured(tmp_path, f"print({'9' * 18})") == {
        "bench-steps": int("9" * 18),
        "page-bytes": 0,
    }


def test_a_page_that_is_a_link_is_no_page(tmp_path: Path) -> None:
    (tmp_path / "dist").mkdir()
    (tmp_path / "small").touch()
    (tmp_path / "dist" / "page.html").symlink_to(tmp_path / "small")
    assert measured(tmp_path, "print(1)") == {"bench-steps": 1}
