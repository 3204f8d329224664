"""What a run comes to, and that result, exit status and journal say the same."""

import json
from pathlib import Path
from typing import Final

import pytest

from tests.making.ends import HONEST
from tests.making.ends import TEST
from tests.making.ends import WORK
from tests.making.ends import Done
from tests.making.ends import Json
from tests.making.ends import Place
from tests.making.ends import asks
from tests.making.ends import granted
from tests.making.ends import head
from tests.making.ends import place
from tests.making.ends import says
from tests.making.ends import works
from tests.making.plugins import arbiter
from tests.making.plugins import steering
from tests.making.shipped import PLUGIN

KEYS: Final = (
    *("status", "answer", "rounds", "pipeline", "verdict", "outcome", "faults", "refusals"),
    *("changed_files", "tools", "steps", "usage", "cost_usd", "session", "journal", "exit_code"),
)
MET: Final = {"met": {"evidence": "plugin-reported"}}


def ran(where: Place, *words: str) -> Json:
    """Run, look at what holds for every run, and return the result [S-11, S-22, J2-11]."""
    return checked(where, where.run(*words))


def checked(where: Place, done: Done) -> Json:
    result = done.result
    assert tuple(result) == KEYS
    (ended,) = where.told("run_ended")
    assert done.code == result["exit_code"] == ended["exit_code"]
    assert result["status"] == ended["status"]
    (path,) = where.journals()
    assert result["journal"] == {
        "path": str(path.relative_to(where.root)),
        "records": len(where.records()),
        "head": head(path),
    }
    assert result["session"] == path.parent.name
    assert where.whole()
    return result


def held(where: Place, *, name: str = "judge", program: str = HONEST, max_holds: int = 2) -> Place:
    """The place with an arbiter installed."""
    where.install(arbiter(where.root.parent / name, program, name=name, max_holds=max_holds))
    return where


def wrong(number: int) -> tuple[Json, Json]:
    """A round that changes the tree and does not do the work."""
    return works(f"{number} is wrong"), says(f"round {number}")


@pytest.mark.behaviour("K-122")
def test_the_work_of_one_round_is_met(tmp_path: Path) -> None:
    """[D-83] With the shipped plugin, which runs the test itself."""
    where = place(tmp_path)
    where.install(PLUGIN)
    where.scripted(works(), says("It is 42."))
    result = ran(where, *granted("verify"))
    assert (result["status"], result["exit_code"], result["rounds"]) == ("met", 0, 1)
    assert (result["verdict"], result["outcome"]["stop"]) == (MET, MET)
    assert (result["answer"], result["pipeline"], result["faults"]) == ("It is 42.", "verify", [])
    assert result["changed_files"] == ["answer.txt"]
    assert result["tools"] == [{"name": "write_file", "calls": 1, "errors": 0}]
    assert (result["steps"], result["usage"]["model_calls"], result["cost_usd"]) == (2, 2, 0.0)


def test_a_wrong_round_is_held_and_the_next_one_met(tmp_path: Path) -> None:
    """[D-16, J-21] With the shipped plugin."""
    where = place(tmp_path)
    where.install(PLUGIN)
    read = asks("read_file", path="answer.txt")
    where.scripted(*wrong(0), read, works(), says())
    result = ran(where, *granted("verify"))
    assert (result["status"], result["exit_code"], result["rounds"]) == ("met", 0, 2)
    first, second = where.told("verdict")
    assert set(first["verdict"]) == {"unmet"}
    assert second["verdict"] == MET


@pytest.mark.behaviour("D-83", "I-71")
@pytest.mark.behaviour("K-122", "A1")
def test_wrong_rounds_are_unmet_after_exactly_the_allowed_holds(tmp_path: Path) -> None:
    """[J-25, D-83, I-71] Asked for seven, the host allows two."""
    where = held(place(tmp_path), max_holds=7)
    rounds = [asks("bash", command=f"echo {n} > answer.txt") for n in range(3)]
    where.scripted(*(reply for turn in rounds for reply in (turn, says())))
    result = ran(where, *granted("judge"))
    assert (result["status"], result["exit_code"], result["rounds"]) == ("unmet", 4, 3)
    stopped = result["outcome"]["stop"]["unmet"]["stopped"]
    assert stopped == {"allowance_spent": {"spent": 2, "allowed": 2}}
    corrections = [m["text"] for m in where.told("message") if m["origin"] == "correction"]
    assert ["This is the last hold" in text for text in corrections] == [False, True]


@pytest.mark.behaviour("K-115")
def test_a_round_that_changes_nothing_is_the_last(tmp_path: Path) -> None:
    """[J-21]"""
    where = held(place(tmp_path))
    where.scripted(*wrong(0), says("I am done, really."), says("never asked for"))
    result = ran(where, *granted("judge"))
    assert (result["status"], result["rounds"]) == ("unmet", 2)
    assert result["outcome"]["stop"]["unmet"]["stopped"] == "no_progress"


@pytest.mark.behaviour("D-83")
@pytest.mark.behaviour("K-57", "K-122")
def test_an_unwatched_test_earns_no_credit_and_leaves_it_undecided(tmp_path: Path) -> None:
    """[J-9, D-83]"""
    where = held(place(tmp_path))
    where.scripted(works(), says())
    result = ran(where, "--pipeline", "judge", "--test-command", "false")
    assert (result["status"], result["exit_code"], result["rounds"]) == ("undecided", 5, 1)
    assert result["verdict"] == {"undecided": {"reason": "tamper_unchecked"}}


@pytest.mark.behaviour("K-58")
def test_a_changed_test_is_unmet_by_its_name(tmp_path: Path) -> None:
    """[G-40, J-9]"""
    where = held(place(tmp_path))
    where.scripted(asks("bash", command="echo 42 > answer.txt; echo > check.py"), says(), says())
    done = where.run(*granted("judge"))
    result = checked(where, done)
    assert (result["status"], result["exit_code"]) == ("unmet", 4)
    clauses = result["verdict"]["unmet"]["unmet"]
    assert [c["because"] for c in clauses] == [{"tampered": {"artifact": "check.py"}}] * 2
    assert "tamper  check.py: edited" in done.err


@pytest.mark.behaviour("K-122")
def test_the_step_limit_stops_a_run(tmp_path: Path) -> None:
    """[D-83, E-11] At the limit a run completes, one past it is stopped."""
    where = place(tmp_path)
    where.scripted(works(), says())
    result = ran(where, "--max-steps", "1")
    assert (result["status"], result["exit_code"], result["steps"]) == ("stopped", 3, 1)
    assert (result["outcome"]["turn_status"], result["outcome"]["cause"]) == (
        "stopped",
        "step_limit",
    )
    (tmp_path / "other").mkdir()
    other = place(tmp_path / "other")
    other.scripted(works(), says())
    result = ran(other, "--max-steps", "2")
    assert (result["status"], result["exit_code"], result["steps"]) == ("completed", 0, 2)


@pytest.mark.behaviour("D-84")
@pytest.mark.behaviour("K-123")
def test_a_turn_that_was_cut_off_is_stopped_even_when_its_work_is_met(tmp_path: Path) -> None:
    """[D-84, E-122]"""
    where = held(place(tmp_path))
    where.scripted(works(), says())
    result = ran(where, "--max-steps", "1", *granted("judge"))
    assert result["verdict"] == MET
    assert (result["status"], result["exit_code"], result["rounds"]) == ("stopped", 3, 1)


@pytest.mark.behaviour("K-122")
def test_a_model_that_gives_no_reply_fails_the_run(tmp_path: Path) -> None:
    """[D-83, M2-21]"""
    where = place(tmp_path)
    where.scripted(works())
    done = where.run()
    result = checked(where, done)
    assert (result["status"], result["exit_code"], result["answer"]) == ("failed", 1, "")
    assert result["outcome"]["cause"] == "provider"
    (error,) = where.told("model_error")
    assert error["kind"] == "script_exhausted"
    assert "holds 1 reply; request 2 has none" in done.err
    assert (where.root / "answer.txt").read_bytes() == WORK.encode()


@pytest.mark.behaviour("D-6")
@pytest.mark.behaviour("K-122")
def test_without_a_pipeline_a_finished_turn_is_completed(tmp_path: Path) -> None:
    """[D-6, D-83]"""
    where = place(tmp_path)
    where.scripted(says("Nothing to do."))
    result = ran(where)
    assert (result["status"], result["exit_code"], result["rounds"]) == ("completed", 0, 1)
    assert (result["pipeline"], result["verdict"], result["outcome"]["stop"]) == (None, None, None)
    assert result["changed_files"] == []


@pytest.mark.behaviour("J-8")
@pytest.mark.behaviour("K-53")
def test_a_steering_plugin_that_crashes_does_not_hinder_the_turn(tmp_path: Path) -> None:
    """[D-77, D-82, J-8]"""
    where = place(tmp_path)
    where.install(steering(tmp_path / "guide", "raise SystemExit('no idea')", name="guide"))
    where.scripted(works(), says())
    done = where.run("--pipeline", "guide")
    result = checked(where, done)
    assert (result["status"], result["exit_code"]) == ("completed", 0)
    (fault,) = result["faults"]
    assert (fault["point"], fault["fault"], fault["stage"]) == ("before_turn", "Exit", "execute")
    assert "fault  Exit: guide before_turn: code 1; stderr: no idea" in done.err
    summary = done.err.split("completed: ")[1]
    assert "nothing was judged\n1 fault occurred" in summary
    assert (where.root / "answer.txt").read_bytes() == WORK.encode()


@pytest.mark.behaviour("K-119")
@pytest.mark.parametrize(("allowed", "rounds"), [(0, 1), (8, 9)])
def test_the_person_bounds_the_holds(tmp_path: Path, allowed: int, rounds: int) -> None:
    """[D-45, J-25] The plugin asks for no number of its own."""
    folder = arbiter(tmp_path / "judge", HONEST)
    manifest = folder / "plugin.toml"
    manifest.write_text(manifest.read_text("utf-8").replace("max_holds = 2\n", ""), "utf-8")
    where = place(tmp_path)
    where.install(folder)
    turns = [asks("bash", command=f"echo {n} > answer.txt") for n in range(10)]
    where.scripted(*(reply for turn in turns for reply in (turn, says())))
    result = ran(where, *granted("judge"), "--max-holds", str(allowed))
    assert (result["status"], result["exit_code"], result["rounds"]) == ("unmet", 4, rounds)
    spent = {"allowance_spent": {"spent": allowed, "allowed": allowed}}
    assert result["outcome"]["stop"]["unmet"]["stopped"] == spent
    assert [told["state"]["holds_spent"] for told in where.told("continuation")] == list(
        range(rounds)
    )


@pytest.mark.behaviour("K-92", "K-105")
def test_every_request_carries_the_grant_as_typed(tmp_path: Path) -> None:
    """[G-10, G-20, W-22]"""
    where = held(place(tmp_path))
    where.scripted(*wrong(0), asks("bash", command="echo 42 > answer.txt"), says())
    ran(where, *granted("judge"))
    asked = [told["request"]["candidate"] for told in where.told("plugin_exchange")]
    test = {"program": "python3", "args": ["-S", "check.py"], "baseline": "failed"}
    assert asked == [{"handle": "host-tree", "root": str(where.root), "test": test}] * 2
    (baseline,) = where.told("baseline")
    assert Path(baseline["path"]).is_absolute()
    assert (baseline["baseline"], baseline["reason"]) == ("failed", "exit-nonzero")


@pytest.mark.behaviour("I22")
def test_a_failure_of_the_persons_environment_alone_earns_nothing(tmp_path: Path) -> None:
    """[G-13, T-10] Nobody worked, and a plugin's run of the test would see it pass."""
    where = place(tmp_path)
    (where.root / "check.py").write_text(
        "import warnings\nwarnings.warn('old', DeprecationWarning)\n", "utf-8"
    )
    where.install(PLUGIN)
    where.scripted(says("Done."))
    done = where.stella(
        *("run", "go", *where.asked, *granted("verify", test="python3 check.py")),
        env={"PYTHONWARNINGS": "error"},
    )
    assert (done.code, done.result["status"]) == (5, "undecided")
    (baseline,) = where.told("baseline")
    assert (baseline["baseline"], baseline["reason"]) == ("unobserved", "infrastructure")
    assert "passed in the environment a plugin gets (PATH)" in done.err


@pytest.mark.behaviour("B13")
def test_a_workspace_that_vanishes_is_a_failed_run_and_no_crash(tmp_path: Path) -> None:
    """[D-77, J2-34] The journal goes with it, and without a record nothing is earned."""
    where = held(place(tmp_path))
    gone = asks("bash", command='rm -rf "$PWD"')
    where.scripted(works(), gone, asks("bash", command="pwd"), works(), says("It is gone."))
    done = where.run(*granted("judge"))
    assert (done.code, done.result["status"], done.result["verdict"]) == (1, "failed", None)
    assert "journal.jsonl: No such file or directory" in done.err
    assert not where.root.exists()


@pytest.mark.parametrize(
    "command",
    ["rm -rf .stella", "for f in .stella/private/sessions/*/journal.jsonl; do echo {} >> $f; done"],
)
@pytest.mark.parametrize("words", [(), granted("judge")], ids=["plain", "judged"])
def test_a_worker_that_meddles_with_the_journal_ends_the_run_failed(
    tmp_path: Path, command: str, words: tuple[str, ...]
) -> None:
    """[J2-14, J2-34, E-6] Nothing is earned by a run whose record is not what happened."""
    where = held(place(tmp_path))
    where.scripted(works(), asks("bash", command=command), says("Done."))
    done = where.run(*words)
    result = done.result
    assert (done.code, result["status"], result["verdict"]) == (1, "failed", None)
    assert (result["outcome"]["turn_status"], result["outcome"]["cause"]) == ("failed", "journal")
    assert (result["rounds"], result["steps"], result["usage"]["model_calls"]) == (1, 2, 2)
    assert "journal.jsonl: " in done.err
    assert "takes no more records" in done.err


def test_a_denied_tool_is_a_refusal_and_the_turn_goes_on(tmp_path: Path) -> None:
    """[S-22, E-28]"""
    where = place(tmp_path)
    where.scripted(works(), says("I may not write."))
    result = ran(where, "--permissions", "read-only")
    assert (result["status"], result["answer"]) == ("completed", "I may not write.")
    (refusal,) = result["refusals"]
    assert tuple(refusal) == ("kind", "call_id", "tool", "principal", "cause", "reason")
    assert (refusal["kind"], refusal["call_id"], refusal["tool"]) == ("tool", "t1.c1", "write_file")
    assert (refusal["principal"], refusal["cause"]) == ("user", "mode")
    assert not (where.root / "answer.txt").exists()


def test_two_runs_have_two_journals_and_the_last_is_the_newer(tmp_path: Path) -> None:
    """[J2-2, J2-3]"""
    where = place(tmp_path)
    where.scripted(says("one"))
    first = where.run().result["session"]
    where.scripted(says("two"))
    second = where.run().result["session"]
    assert len(where.journals()) == 2
    newest = next(path for path in where.journals() if path.parent.name == second)
    said = where.stella("journal", "verify", "--head", head(newest))
    assert (said.code, said.out.split()[0]) == (0, f"{second}:")
    assert where.stella("journal", "verify", first, "--head", head(newest)).code == 1
    shown = where.stella("journal", "show", first, "--type", "turn_ended", "--json")
    assert json.loads(shown.out)["data"]["text"] == "one"


@pytest.mark.behaviour("G-4")
def test_the_test_command_is_run_by_the_words_not_by_a_shell(tmp_path: Path) -> None:
    """[G-4]"""
    where = held(place(tmp_path))
    where.scripted(works(), says())
    ran(where, "--pipeline", "judge", "--test-command", f"{TEST} '$HOME' \"a b\" c\\ d")
    (baseline,) = where.told("baseline")
    assert baseline["args"] == ["-S", "check.py", "$HOME", "a b", "c d"]


# ── the report ───────────────────────────────────────────────────────────────────────────────────

FAULTY: Final = """\
import json, sys
request = json.loads(sys.stdin.readline())
if request["body"]["stage"] == "triage":
    sys.exit("no idea")
print(json.dumps({"point": "before_turn", "body": {"protocol_version": 1}}))
"""


def reported(tmp_path: Path, *words: str) -> tuple[Place, Done]:
    """Two rounds in which everything goes wrong, and what is told of them."""
    where = held(place(tmp_path))
    guide = steering(tmp_path / "guide", FAULTY, name="guide")
    manifest = guide / "plugin.toml"
    stages = '[wrapper]\nid = "guide-v1"\nstages = [{ name = "triage" }, { name = "execute" }]\n'
    manifest.write_text(f"{manifest.read_text('utf-8')}\n{stages}", "utf-8")
    where.install(guide)
    edits = asks("bash", command="echo > check.py; echo '#' > conftest.py")
    where.scripted(edits, says("round 0"), says("round 1"))
    flags = ("--pipeline", "guide,judge", "--test-command", TEST, "--watch-tests", "*.py")
    return where, where.stella("run", "go", "--model", f"script:{where.script}", *flags, *words)


@pytest.mark.behaviour("J-10", "D-80")
def test_the_report_has_all_that_a_run_came_to(tmp_path: Path) -> None:
    """[D-80, D-82, G-40] In the result, and on standard error in the order it happened."""
    where, done = reported(tmp_path, "--output-format", "json")
    result = checked(where, done)
    assert (result["pipeline"], result["rounds"]) == ("guide-v1,judge", 2)
    assert (result["status"], result["exit_code"]) == ("unmet", 4)
    clauses = [c["requirement"] for c in result["verdict"]["unmet"]["unmet"]]
    assert clauses == ["tests-flip", "tests-pass", "tests-pass"]
    assert result["outcome"]["stop"]["unmet"]["stopped"] == "no_progress"
    assert result["outcome"]["stop"]["unmet"]["unmet"] == result["verdict"]["unmet"]["unmet"]
    faults = [(f["plugin"], f["stage"], f["round"], f["fault"]) for f in result["faults"]]
    assert faults == [("guide", "triage", 0, "Exit"), ("guide", "triage", 1, "Exit")]
    lines = done.err.splitlines()
    assert lines.count("fault  Exit: guide before_turn: code 1; stderr: no idea") == 2
    assert "tamper  check.py: edited" in lines
    assert "unmet: 3 clauses not met after 2 rounds; the last round changed nothing" in lines
    assert "  baseline: failed (exit-nonzero)" in lines
    assert "  tamper: check.py (edited)" in lines
    assert "  evidence: reported by the plugin" in lines
    for told in where.told("tamper"):
        assert told["artifacts"] == [{"path": "check.py", "kinds": ["edited"]}]
    order = ["baseline failed", "fault  Exit", "tamper  check.py", "unmet: 3 clauses"]
    places = [next(n for n, line in enumerate(lines) if line.startswith(word)) for word in order]
    assert places == sorted(places)


@pytest.mark.behaviour("D-81")
@pytest.mark.parametrize("form", ["text", "json", "stream-json"])
def test_the_summary_of_an_unmet_run_is_printed_in_every_format(tmp_path: Path, form: str) -> None:
    """[D-81]"""
    _, done = reported(tmp_path, "--output-format", form)
    assert done.code == 4
    assert "unmet: 3 clauses not met after 2 rounds" in done.err


@pytest.mark.behaviour("D-81")
@pytest.mark.parametrize("form", ["text", "json", "stream-json"])
def test_the_summary_of_a_met_run_is_for_people(tmp_path: Path, form: str) -> None:
    """[D-81, D-82] Machines have it in the result."""
    where = held(place(tmp_path))
    where.scripted(works(), says())
    words = ("--model", f"script:{where.script}", "--output-format", form, *granted("judge"))
    done = where.stella("run", "go", *words)
    assert done.code == 0
    for line in ("met: after 1 round", "  evidence: reported by the plugin"):
        assert (line in done.err.splitlines()) is (form == "text")


@pytest.mark.behaviour("D-85")
def test_what_cannot_be_cleaned_up_changes_no_status(tmp_path: Path) -> None:
    """[D-85] The test puts a file in the place of its cache, which no directory removal removes."""
    where = held(place(tmp_path))
    script = 'cd / && rmdir "$PYTHONPYCACHEPREFIX" && : > "$PYTHONPYCACHEPREFIX"; exit 1'
    (where.root / "check.sh").write_text(script, "utf-8")
    where.scripted(works(), says())
    done = where.run(*granted("judge", "sh check.sh"))
    result = checked(where, done)
    assert (result["status"], result["exit_code"]) == ("met", 0)
    assert "could not be removed" in done.err


@pytest.mark.behaviour("D-77")
def test_a_test_that_nobody_could_observe_is_told_with_its_reason(tmp_path: Path) -> None:
    """[D-77, G-20, G-21] And the run goes on."""
    where = held(place(tmp_path))
    (where.root / "check.sh").write_text("kill -9 $$", "utf-8")
    where.scripted(works(), says())
    done = where.run(*granted("judge", "sh check.sh"))
    result = checked(where, done)
    assert (result["status"], result["rounds"]) == ("met", 1), "the plugin looks for itself"
    assert "baseline unobserved (killed-by-signal) in" in done.err
