"""Candidates of plugins: made in copies, worked on, one adopted, the rest gone."""

import asyncio
import json
import os
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stella import limits
from stella.candidates.candidate import Adopted
from stella.candidates.candidate import Candidate
from stella.candidates.candidate import Changed
from stella.candidates.candidate import Discarded
from stella.candidates.candidate import Failed
from stella.candidates.candidate import Leaked
from stella.candidates.workspaces import Workspaces
from stella.clock import Clock
from stella.errors import JournalError
from stella.message import Reply
from stella.providers.provider import ModelRequest
from stella.session.agents import Agents
from stella.session.asker import Asker
from stella.session.asker import Bill
from stella.session.attempts import Attempts
from stella.session.telling import Telling
from stella.tools.all import TOOLS
from stella.turn.allowance import RunAllowance
from stella.turn.facts import FileChanged
from stella.turn.plugin_facts import CandidateTold
from stella.turn.seats import Seating
from stella.turn.stages import Member
from stella.wire.grade import Grade
from stella.wire.grant import TestBaseline
from stella.wire.host_call import AdoptArgs
from stella.wire.host_call import FanoutArgs
from stella.wire.points import Call
from stella.wire.points import Point
from tests.making.asking import TALK
from tests.making.asking import Played
from tests.making.asking import asked
from tests.making.asking import manifest
from tests.making.ends import place
from tests.making.playing import says as reply
from tests.making.plugins import written
from tests.making.repositories import PATH
from tests.making.repositories import git
from tests.making.repositories import repository
from tests.making.sessions import Line
from tests.making.sessions import calls
from tests.making.sessions import installed
from tests.making.sessions import project
from tests.making.sessions import says
from tests.session.test_workshop import workshop

FAN = """
fan = ask("candidate_fanout", role="builder", instruction="Smallest change wins.", width=WIDTH)
made = fan["ok"]["candidates"]
"""
ASKER = Asker(
    member=Member(
        name="asks",
        wrapper="asks",
        grade=Grade.STEERING,
        points=frozenset({Point.BEFORE_TURN}),
        calls=frozenset({Call.CANDIDATE_FANOUT, Call.ADOPT_CANDIDATE}),
        roles={"builder": "worker"},
    ),
    turn="t1",
    round=0,
    seat="worker",
    baseline=TestBaseline.NOT_RUN,
)
TELL = 'answer(context=[{"label": "", "text": json.dumps(fan)}])\n'


def writes(path: str, text: str, report: str) -> tuple[Line, ...]:
    """One candidate's turn."""
    return (calls("write_file", path=path, content=text), says(report))


def fanned(folder: Path, program: str, *lines: Line, width: int = 2, **more: Any) -> Played:
    root = more.pop("root", None) or repository(
        folder / "work", {"a.txt": "a\n", "sub/b.txt": "b\n"}
    )
    return asked(folder, FAN.replace("WIDTH", str(width)) + program, *lines, root=root, **more)


def told(played: Played) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(played.data("message")[0]["text"])["ok"]
    return found


def clean(root: Path) -> None:
    """Nothing of a candidate is left, and git knows of no other work tree."""
    assert git(root, "worktree", "list", "--porcelain").count("worktree ") == 1
    assert git(root, "branch", "--list", "--all").count("\n") == 1
    places = list((root / ".stella" / "candidates").glob("*"))
    assert [p.name for p in places if p.is_dir()] == []
    assert not list((root / ".stella" / "private" / "candidates").glob("*.json"))


@pytest.mark.behaviour("D-54", "D-55")
def test_every_candidate_gets_a_turn_of_its_own_in_a_copy(tmp_path: Path) -> None:
    """[D-54, D-55, W-33]"""
    played = fanned(
        tmp_path,
        TELL,
        *writes("new.txt", "1\n2\n", "first"),
        *writes("sub/c.txt", "c\n", "second"),
        says("done"),
    )
    found = told(played)
    first, second = found["candidates"]
    assert found["requested"] == 2
    assert (first["report"], first["completed"]) == ("first", True)
    assert (first["files_changed"], first["lines_changed"]) == (1, 2)
    assert (second["files_changed"], second["lines_changed"]) == (1, 1)
    for each in (first, second):
        assert each["candidate"].startswith("c-")
        assert each["root"].startswith(f"{played.root}/.stella/candidates/")
        assert not Path(each["root"]).exists()
    assert not (played.root / "new.txt").exists()
    access = [(s["agent"], s["access"]) for s in played.data("subagent_started")]
    assert access == [("t1.a1", "write"), ("t1.a2", "write")]
    assert played.done.result.changed_files == ()
    assert [c["event"] for c in played.data("candidate")] == [
        "created", "created", "discarded", "discarded",
    ]  # fmt: skip
    clean(played.root)
    assert git(played.root, "status", "--porcelain").strip() == "?? .stella/"


@pytest.mark.behaviour("D-57")
def test_an_adopted_candidate_is_in_the_tree_and_the_others_are_gone(tmp_path: Path) -> None:
    """[D-57, W-33]"""
    program = """
got = ask("adopt_candidate", candidate=made[1]["candidate"])
again = [ask("adopt_candidate", candidate=each["candidate"]) for each in made]
answer(context=[{"label": "", "text": json.dumps([made, got, again])}])
"""
    root = repository(tmp_path / "work", {"a.txt": "a\n"})
    head = git(root, "rev-parse", "HEAD")
    played = fanned(
        tmp_path,
        program,
        *writes("new.txt", "first\n", "one"),
        *writes("new.txt", "second\n", "two"),
        says("done"),
        root=root,
    )
    made, got, again = json.loads(played.data("message")[0]["text"])
    assert got["ok"] == {"adopted": made[1]["candidate"], "discarded": [made[0]["candidate"]]}
    assert [each["err"]["refusal"] for each in again] == ["unavailable"] * 2
    assert (root / "new.txt").read_text() == "second\n"
    assert git(root, "rev-parse", "HEAD") == head
    assert git(root, "diff", "--cached", "--name-only") == ""
    assert played.done.result.changed_files == ("new.txt",)
    (change,) = [c for c in played.data("file_change") if c["by"] == "plugin:asks"]
    assert (change["path"], change["kind"]) == ("new.txt", "created")
    clean(root)


@pytest.mark.behaviour("K-49")
def test_widths_seats_and_the_number_of_fanouts_are_bounded(tmp_path: Path) -> None:
    """[D-45, D-54]"""
    program = """
for role, width in (("nobody", 1), ("planner", 1), ("builder", 10), ("builder", 0), ("builder", 1)):
    ask("candidate_fanout", role=role, instruction="try", width=width)
answer()
"""
    root = repository(tmp_path / "work", {"a.txt": "a\n"})
    played = asked(tmp_path, program, *[says("tried")] * 4, says("done"), root=root)
    undeclared, forbidden, ten, zero, third = played.calls
    words = [c.refusal.refusal.value for c in (undeclared, forbidden, third) if c.refusal]
    assert words == ["undeclared", "forbidden", "allowance-spent"]
    assert forbidden.refusal is not None
    assert '"plan"; candidates are made on "worker" alone' in forbidden.refusal.detail
    assert [(len((c.ok or {})["candidates"]), (c.ok or {})["requested"]) for c in (ten, zero)] == [
        (3, 10), (1, 0),
    ]  # fmt: skip
    assert (ten.steps, ten.cost_usd) == (3, 0.0)


@pytest.mark.behaviour("K-126", "D-56")
def test_another_plugin_s_candidate_is_an_unknown_handle(tmp_path: Path) -> None:
    """[D-56]"""
    root = repository(tmp_path / "work", {"a.txt": "a\n"})
    thief = """
import pathlib
notes = pathlib.Path(body["candidate"]["root"], ".stella", "private", "candidates")
handles = [json.loads(p.read_text())["handle"] for p in notes.glob("*.json")]
for handle in handles:
    ask("adopt_candidate", candidate=handle)
    ask("run_test", candidate=handle)
answer()
"""
    source = written(tmp_path / "thief", manifest(name="thief"), TALK + thief)
    installed(root, tmp_path / "home", source)
    played = fanned(
        tmp_path,
        "answer()\n",
        says("tried"),
        says("done"),
        width=1,
        root=root,
        names=("asks", "thief"),
        test="true",
    )
    stolen = [c for e in played.exchanges if e.plugin == "thief" for c in e.calls]
    assert [c.call.value for c in stolen] == ["adopt_candidate", "run_test"]
    assert [c.refusal.refusal.value for c in stolen if c.refusal] == ["unavailable"] * 2


def test_without_a_repository_no_candidate_can_be_made(tmp_path: Path) -> None:
    """[D-54]"""
    program = 'ask("candidate_fanout", role="builder", instruction="try", width=1)\nanswer()\n'
    played = asked(tmp_path, program, says("done"), root=project(tmp_path / "work"))
    (call,) = played.calls
    assert call.refusal is not None
    assert call.refusal.refusal.value == "failed"
    assert "is in no git repository" in call.refusal.detail


def test_a_candidate_whose_turn_could_not_run_says_so_with_zeros(tmp_path: Path) -> None:
    """[D-55]"""
    played = fanned(tmp_path, TELL, says("one"), width=2)
    second = (played.calls[0].ok or {})["candidates"][1]
    assert (second["completed"], second["files_changed"], second["lines_changed"]) == (False, 0, 0)
    assert "script_exhausted" in second["report"]
    clean(played.root)


def test_a_conflict_with_the_real_tree_is_failed_and_nothing_is_lost(tmp_path: Path) -> None:
    """[D-57]"""
    program = """
import pathlib
pathlib.Path(body["candidate"]["root"], "a.txt").write_text("somebody else\\n")
ask("adopt_candidate", candidate=made[0]["candidate"])
answer()
"""
    read = calls("read_file", path="a.txt")
    mend = (read, *writes("a.txt", "mine\n", "mended"))
    played = fanned(tmp_path, program, *mend, says("done"), width=1)
    call = played.calls[1]
    assert call.refusal is not None
    assert call.refusal.refusal.value == "failed"
    assert "a.txt" in call.refusal.detail
    assert (played.root / "a.txt").read_text() == "somebody else\n"
    clean(played.root)


def test_a_candidate_is_the_tree_as_it_is_not_as_it_was_committed(tmp_path: Path) -> None:
    """[D-54]"""
    root = repository(tmp_path / "work", {"a.txt": "a\n"})
    (root / "a.txt").write_text("uncommitted\n")
    (root / "untracked.txt").write_text("u\n")
    reads = calls("bash", command="cat a.txt untracked.txt && git status --porcelain | wc -l")
    played = fanned(tmp_path, TELL, reads, says("read"), says("done"), width=1, root=root)
    (ran,) = [r for r in played.data("tool_finished") if r["tool"] == "bash"]
    assert ran["output"]["ok"]["content"].startswith("uncommitted\nu\n")
    assert told(played)["candidates"][0]["files_changed"] == 0


@pytest.mark.behaviour("D-85")
def test_the_next_session_takes_away_what_a_killed_one_left(tmp_path: Path) -> None:
    """[T-33]"""
    where = place(tmp_path)
    git(where.root, "init", "--quiet")
    git(where.root, "add", "--all")
    git(where.root, "commit", "--quiet", "--message", "first")
    program = TALK + FAN.replace("WIDTH", "1") + "import time; time.sleep(300)\n"
    where.install(written(tmp_path / "slow", manifest(), program))
    where.scripted({"text": "tried"}, {"text": "done"})
    process = where.started("run", "go", *where.asked, "--pipeline", "asks")
    with process:
        limit = time.monotonic() + 60
        notes = where.root / ".stella" / "private" / "candidates"
        while not (notes.is_dir() and list(notes.glob("*.json"))):
            assert time.monotonic() < limit
            time.sleep(0.05)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate(timeout=60)
    assert git(where.root, "worktree", "list").count("\n") >= 1
    done = where.run()
    assert done.code == 0, done.err
    assert "that a killed run left behind is gone" in done.err
    clean(where.root)


def test_a_cancel_ends_every_candidate_and_leaves_none(tmp_path: Path) -> None:
    """[E-96, D-10, D-85]"""
    slow = {"text": "too late", "delay_ms": 60_000}
    played = fanned(tmp_path, TELL, slow, says("done"), cancel="model_request")
    assert played.done.result.status.value == "cancelled"
    assert [s["status"] for s in played.data("subagent_finished")] == ["cancelled"]
    assert [c["event"] for c in played.data("candidate")].count("discarded") == 2
    clean(played.root)


def test_a_candidate_whose_directory_another_one_removed_says_so(tmp_path: Path) -> None:
    """[D-55] and what the turns before it used stays on the bill."""
    away = calls("bash", command='rm -rf "$(ls -d ../* | grep -v "$(basename "$PWD")")"')
    played = fanned(tmp_path, TELL, away, says("one"), says("done"))
    first, second = told(played)["candidates"]
    assert (first["completed"], first["report"]) == (True, "one")
    assert (second["completed"], second["files_changed"], second["lines_changed"]) == (False, 0, 0)
    assert second["report"] == "it has no directory to work in: No such file or directory"
    assert [s["status"] for s in played.data("subagent_finished")] == ["completed", "failed"]
    assert played.done.result.faults == ()
    assert played.done.result.usage.model_calls == 3
    clean(played.root)


def test_a_candidate_that_became_a_link_is_not_worked_in(tmp_path: Path) -> None:
    """[D-54, D-55] its turn would work in the tree that the link leads to."""
    swap = (
        'other="$(ls -d ../* | grep -v "$(basename "$PWD")")"; rm -rf "$other"; '
        'ln -s ../.. "$other"'
    )
    lines = (calls("bash", command=swap), says("one"), *writes("new.txt", "2\n", "two"))
    played = fanned(tmp_path, TELL, *lines, says("done"))
    second = told(played)["candidates"][1]
    assert second["report"] == "it has no directory to work in: another directory is in its place"
    clean(played.root)


def test_what_changes_in_the_real_tree_during_a_fanout_is_told_and_nobodys(tmp_path: Path) -> None:
    """[T2-51] A turn in a candidate may have done it, or the person."""
    astray = calls("bash", command="echo changed > ../../../a.txt")
    played = fanned(
        tmp_path, TELL, astray, says("one"), calls("bash", command="true"), says("done"), width=1
    )
    assert [c for c in played.data("file_change") if c["path"] == "a.txt"] == []
    assert played.done.result.changed_files == ()
    assert [n["text"] for n in played.data("notice")] == [
        "asks candidate_fanout: files of the workspace that changed meanwhile: 1"
    ]
    clean(played.root)


@pytest.mark.parametrize("late", ["adopt", "discard"])
def test_an_adoption_that_a_cancel_comes_too_late_for_is_told(tmp_path: Path, late: str) -> None:
    """[D-57, J2-44] The tree has changed, so the journal and the run's books say so."""
    root = repository(tmp_path / "work", {"a.txt": "a\n"}).resolve()
    shop = workshop(tmp_path / "shop")
    with shop.hands(root, TOOLS, "user") as hands:
        spaces = Late(root, path_value=PATH, clock=shop.clock, late=late)
        attempts = Attempts(
            agents=Agents(workshop=shop),
            workspaces=spaces,
            seating=Seating(),
            allowance=RunAllowance(),
            watching=hands.watching,
            telling=shop.telling,
            max_steps=1,
        )
        bill = Bill()

        async def go() -> None:
            candidate, other = [await spaces.create("asks") for _ in range(2)]
            assert isinstance(candidate, Candidate)
            assert isinstance(other, Candidate)
            (candidate.root / "new.txt").write_text("new\n")
            with pytest.raises(asyncio.CancelledError):
                await attempts.adopt(ASKER, AdoptArgs(candidate=candidate.handle), bill)
            await attempts.finish()

        asyncio.run(go())
    assert (root / "new.txt").read_text() == "new\n"
    assert [change.path for change in bill.changes or ()] == ["new.txt"]
    events = [fact.event for fact in shop.telling.every if isinstance(fact, CandidateTold)]
    assert events == ["adopted", "discarded"]
    changed = [fact.by for fact in shop.telling.every if isinstance(fact, FileChanged)]
    assert changed == ["plugin:asks"]
    shop.telling.journal.close()


class Late(Workspaces):
    """A cancel arrives at the very end of one of the two steps."""

    def __init__(self, root: Path, *, path_value: str, clock: Clock, late: str) -> None:
        super().__init__(root, path_value=path_value, clock=clock)
        self.late = late

    async def adopt(
        self, candidate: Candidate, seen: tuple[Changed, ...] | None = None
    ) -> Adopted | Failed:
        done = await super().adopt(candidate, seen)
        if self.late == "adopt":
            raise asyncio.CancelledError
        return done

    async def _removed(self, name: str) -> Discarded | Leaked:
        done = await super()._removed(name)
        if self.late == "discard":
            self.late = ""
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
        return done


def test_a_journal_that_breaks_during_side_by_side_turns_is_a_broken_journal(
    tmp_path: Path,
) -> None:
    """[E-6, J2-34] It ends the run as failed, not the program."""
    root = repository(tmp_path / "work", {"a.txt": "a\n"}).resolve()
    shop = workshop(tmp_path / "shop")
    shop = replace(shop, model=Breaking(shop.telling))
    with shop.hands(root, TOOLS, "user") as hands:
        attempts = Attempts(
            agents=Agents(workshop=shop),
            workspaces=Workspaces(root, path_value=PATH, clock=shop.clock),
            seating=Seating(),
            allowance=RunAllowance(),
            watching=hands.watching,
            telling=shop.telling,
            max_steps=1,
        )

        async def go() -> None:
            args = FanoutArgs(role="builder", instruction="try", width=2)
            with pytest.raises(JournalError):
                await attempts.make(ASKER, args, Bill())
            with pytest.raises(JournalError):
                await attempts.finish()

        asyncio.run(go())
    clean(root)


class Breaking:
    """A model that is asked side by side, and whose reply nobody can write down any more."""

    name = "breaking"
    in_turn = False

    def __init__(self, telling: Telling) -> None:
        self.telling = telling

    async def reply(self, _request: ModelRequest) -> Reply:
        self.telling.journal.close()
        return reply()


@pytest.mark.parametrize("more", [0, 1])
def test_what_is_not_copied_is_counted_after_a_while(tmp_path: Path, more: int) -> None:
    """[D-54] limits.CHANGED_PATHS_SHOWN; a workspace may hold any number of such paths."""
    root = repository(tmp_path / "work", {"a.txt": "a\n"})
    for number in range(limits.CHANGED_PATHS_SHOWN + more):
        name = f"f{number:03}"
        (root / name).write_text("")
        git(root, "add", name)
        (root / name).unlink()
        os.mkfifo(root / name)
    played = fanned(tmp_path, TELL, says("one"), says("done"), width=1, root=root)
    (text,) = [n["text"] for n in played.data("notice") if n["code"] == "candidate_skipped"]
    assert text.count("f0") == limits.CHANGED_PATHS_SHOWN
    assert text.endswith(" and 1 more") == bool(more)
