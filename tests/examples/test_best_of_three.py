"""best-of-three: the smallest attempt that passes is in the tree, and the flip is the turn's."""

from pathlib import Path

import pytest

from tests.making.ends import CHECK
from tests.making.ends import Json
from tests.making.ends import Place
from tests.making.ends import asks
from tests.making.ends import granted
from tests.making.ends import place
from tests.making.ends import says
from tests.making.ends import works
from tests.making.examples import EXAMPLES
from tests.making.examples import asked
from tests.making.examples import context
from tests.making.examples import evidence
from tests.making.examples import played
from tests.making.examples import refused
from tests.making.examples import request
from tests.making.examples import said
from tests.making.examples import served
from tests.making.repositories import git
from tests.making.repositories import repository

NAME = "best-of-three"
FAN = ("candidate_fanout", "ok")
RUN = ("run_test", "ok")
ADOPT = ("adopt_candidate", "ok")
ACHIEVED = {"flip": "achieved", "measurements": {"test-exit-code": 0}}
NOT_ACHIEVED = {"flip": "not-achieved", "measurements": {"test-exit-code": 1}}


def shop(folder: Path, *, tracked: bool = True) -> Place:
    """A workspace whose test fails, in a git repository or in none."""
    where = place(folder)
    if tracked:
        repository(where.root, {"check.py": CHECK})
    where.install(EXAMPLES / NAME)
    return where


def attempt(text: str, report: str) -> tuple[Json, Json]:
    """The turn of one candidate."""
    return (works(text), says(report))


def clean(where: Place) -> bool:
    """Nothing of a copy is left, for the person or for git."""
    folders = [p for p in (where.root / ".stella" / "candidates").glob("*") if p.is_dir()]
    return not folders and git(where.root, "worktree", "list").count("\n") == 1


def test_the_smallest_attempt_that_passes_is_adopted(tmp_path: Path) -> None:
    """[D-54, D-57, D-58] The smallest of all does not pass, the first that passes is larger."""
    where = shop(tmp_path)
    where.scripted(
        *attempt("42\n2\n3\n", "three lines"),
        *attempt("41\n", "one line, and wrong"),
        *attempt("42\n2\n", "two lines"),
        says("It is fine as it is."),
    )
    result = played(where, *granted(NAME))
    assert (result["status"], result["exit_code"], result["rounds"]) == ("met", 0, 1)
    assert (where.root / "answer.txt").read_text() == "42\n2\n"
    assert result["changed_files"] == ["answer.txt"]
    assert served(where) == [FAN, RUN, RUN, RUN, ADOPT, RUN]
    (text,) = context(where)
    assert "2 of 3 attempts pass the granted test." in text
    assert "(lines changed: 2) is in the tree already" in text
    assert text.endswith("two lines")
    assert evidence(where) == [ACHIEVED]
    events = [told["event"] for told in where.told("candidate")]
    assert events == ["created"] * 3 + ["adopted"] + ["discarded"] * 2
    assert clean(where)


def test_where_none_passes_the_turn_is_told_and_does_it_itself(tmp_path: Path) -> None:
    """[D-10 step 10, D-57] Nothing is adopted, and the copies end with the run."""
    where = shop(tmp_path)
    where.scripted(
        *attempt("39\n", "thirty-nine"),
        *attempt("40\n", "forty"),
        says("I changed nothing."),
        *attempt("42\n", "The third way."),
    )
    result = played(where, *granted(NAME))
    assert (result["status"], result["answer"]) == ("met", "The third way.")
    assert served(where) == [FAN, RUN, RUN, RUN]
    (text,) = context(where)
    assert "None of these attempts is in the tree" in text
    assert ("Attempt 1: thirty-nine" in text, "Attempt 2: forty" in text) == (True, True)
    assert "Attempt 3" not in text
    assert evidence(where) == [ACHIEVED]
    assert clean(where)


def test_where_nobody_succeeds_it_is_unmet_after_exactly_the_holds(tmp_path: Path) -> None:
    """[D-19, D-83, J-25] A held round makes no attempts of its own."""
    where = shop(tmp_path)
    tries = [reply for n in range(3) for reply in attempt(f"{n}\n", "tried")]
    rounds = [asks("bash", command=f"echo {n} > answer.txt") for n in (5, 6, 7)]
    where.scripted(*tries, *(reply for turn in rounds for reply in (turn, says())))
    result = played(where, *granted(NAME))
    assert (result["status"], result["exit_code"], result["rounds"]) == ("unmet", 4, 3)
    stopped = result["outcome"]["stop"]["unmet"]["stopped"]
    assert stopped == {"allowance_spent": {"spent": 2, "allowed": 2}}
    assert evidence(where) == [NOT_ACHIEVED] * 3
    assert [call for call, _ in served(where)].count("candidate_fanout") == 1


def test_a_turn_that_breaks_the_adopted_work_is_held(tmp_path: Path) -> None:
    """[D-16, D-59] What passed in a copy is no evidence."""
    where = shop(tmp_path)
    tries = [reply for _ in range(3) for reply in attempt("42\n", "right")]
    where.scripted(
        *tries,
        asks("bash", command="echo 41 > answer.txt"),
        says("Nicer now."),
        asks("bash", command="echo 42 > answer.txt"),
        says("Back again."),
    )
    result = played(where, *granted(NAME))
    assert (result["status"], result["rounds"]) == ("met", 2)
    assert evidence(where) == [NOT_ACHIEVED, ACHIEVED]


def test_an_attempt_that_mends_the_test_is_never_adopted(tmp_path: Path) -> None:
    """[G-40, J-9] Adopted, it would leave a run that cannot be met any more."""
    where = shop(tmp_path)
    cheat = asks("bash", command="echo > check.py")
    where.scripted(
        *(cheat, says("cheated"), cheat, says("cheated"), cheat, says("cheated")),
        *attempt("42\n", "Honest."),
    )
    result = played(where, *granted(NAME))
    assert (result["status"], result["answer"]) == ("met", "Honest.")
    assert served(where) == [FAN, RUN, RUN, RUN, RUN]
    assert (where.root / "check.py").read_text() == CHECK


def test_outside_a_repository_the_turn_works_alone_and_is_judged(tmp_path: Path) -> None:
    """[D-54, W-37]"""
    where = shop(tmp_path, tracked=False)
    where.scripted(*attempt("42\n", "Alone."))
    result = played(where, *granted(NAME))
    assert (result["status"], result["faults"]) == ("met", [])
    assert served(where) == [("candidate_fanout", "failed"), RUN]
    assert context(where) == []
    assert evidence(where) == [ACHIEVED]


def test_a_test_that_passes_already_is_not_worth_an_attempt(tmp_path: Path) -> None:
    """[D-58, J-9] No attempt could flip it."""
    where = shop(tmp_path)
    (where.root / "answer.txt").write_text("42\n")
    where.scripted(says("Nothing to do."))
    result = played(where, *granted(NAME), "--max-holds", "0")
    assert (result["status"], result["exit_code"]) == ("unmet", 4)
    assert served(where) == [RUN]
    assert evidence(where) == [{"flip": "not-achieved", "measurements": {"test-exit-code": 0}}]


def test_without_a_test_nothing_is_tried_and_nothing_decided(tmp_path: Path) -> None:
    """[D-58, G-12, J-9]"""
    where = shop(tmp_path)
    where.scripted(says("Done."))
    result = played(where, "--pipeline", NAME)
    assert (result["status"], result["exit_code"]) == ("undecided", 5)
    assert served(where) == [("run_test", "unavailable")]
    assert evidence(where) == [{"flip": "unobservable"}]


GRANT = {
    "handle": "host-tree",
    "root": "/nowhere",
    "test": {"program": "check", "baseline": "failed"},
}


def made(number: int, lines: int) -> Json:
    return {
        "candidate": f"c-{number}",
        "root": f"/nowhere/{number}",
        "report": f"report {number}",
        "completed": True,
        "files_changed": 1,
        "lines_changed": lines,
    }


def ran(number: int, handle: str, *, baseline: str = "failed", code: int | None = 0) -> Json:
    ok = {
        "candidate": handle,
        "passed": code == 0,
        "exit_code": code,
        "baseline": baseline,
        "duration_ms": 1,
        "output_tail": "the end of the output",
    }
    return {"result": number, "ok": ok}


def test_an_attempt_that_does_not_fit_any_more_gives_way_to_the_next() -> None:
    """[D-57] `failed` loses nothing, so the second best is still there."""
    *calls, answer = said(
        asked(
            NAME,
            request("before_turn", candidate=GRANT),
            {"result": 1, "ok": {"requested": 3, "candidates": [made(1, 9), made(2, 3)]}},
            ran(2, "c-1"),
            ran(3, "c-2"),
            refused(4, "failed"),
            {"result": 5, "ok": {"adopted": "c-1"}},
        )
    )
    tried = [call["args"]["candidate"] for call in calls if call["call"] == "adopt_candidate"]
    assert tried == ["c-2", "c-1"]
    assert answer["body"]["context"][0]["text"].endswith("report 1")


def test_where_nothing_fits_any_more_nothing_is_said_to_be_there() -> None:
    """[D-57]"""
    *calls, answer = said(
        asked(
            NAME,
            request("before_turn", candidate=GRANT),
            {"result": 1, "ok": {"requested": 3, "candidates": [made(1, 9)]}},
            ran(2, "c-1"),
            refused(3, "failed"),
        )
    )
    assert [call["call"] for call in calls][-1] == "adopt_candidate"
    text = answer["body"]["context"][0]["text"]
    assert "None of these attempts is in the tree:\n\nAttempt 1: report 1" in text
    assert text.endswith("The test then: the end of the output")


def test_a_test_that_was_not_run_in_a_copy_has_not_passed_there() -> None:
    """[D-58, W-37]"""
    *calls, answer = said(
        asked(
            NAME,
            request("before_turn", candidate=GRANT),
            {"result": 1, "ok": {"requested": 3, "candidates": [made(1, 9)]}},
            refused(2, "failed"),
        )
    )
    assert [call["call"] for call in calls] == ["candidate_fanout", "run_test"]
    assert "None of these attempts is in the tree" in answer["body"]["context"][0]["text"]


@pytest.mark.parametrize(
    ("baseline", "code", "flip"),
    [
        ("failed", 0, "achieved"),
        ("failed", 3, "not-achieved"),
        ("failed", None, "unobservable"),
        ("passed", 0, "not-achieved"),
        ("passed", 1, "not-achieved"),
        ("unobserved", 0, "unobservable"),
        ("not-run", 1, "unobservable"),
    ],
)
def test_the_flip_is_what_two_results_say(baseline: str, code: int | None, flip: str) -> None:
    """[D-58, W-26] A test that was killed has no exit code and has said nothing."""
    line = request("after_turn", candidate=GRANT, turn={"completed": True})
    call, answer = said(asked(NAME, line, ran(1, "host-tree", baseline=baseline, code=code)))
    assert call["args"] == {"candidate": "host-tree"}
    numbers = {} if code is None else {"measurements": {"test-exit-code": code}}
    assert answer["body"]["evidence"] == {"flip": flip, **numbers}
