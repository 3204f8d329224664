"""Hooks of plugins under the real command: each one is a process, and none decides by failing."""

import json
import signal
from pathlib import Path
from typing import Final

import pytest

from stella import limits
from tests.making.ends import STUBBORN
from tests.making.ends import Done
from tests.making.ends import Json
from tests.making.ends import Place
from tests.making.ends import asks
from tests.making.ends import one_object
from tests.making.ends import place
from tests.making.ends import says
from tests.making.ends import works
from tests.making.plugins import hooking
from tests.making.plugins import steering
from tests.making.processes import eventually

READ: Final = "import json, sys\npayload = json.loads(sys.stdin.readline())\n"
ALLOW: Final = {"action": "allow"}
DENY: Final = {"action": "deny", "reason": "not on my watch"}
WISH: Final = {"action": "require_approval", "reason": "this reaches a remote"}


def answer(decision: Json) -> str:
    """A program that answers every hook alike."""
    return f"{READ}print(json.dumps({decision!r}))\n"


def logging(log: Path, body: str = "") -> str:
    """A program that appends each payload it gets to `log`, then does `body`."""
    return (
        f"import json, sys\nline = sys.stdin.readline()\nassert sys.stdin.read() == ''\n"
        f"payload = json.loads(line)\n"
        f"with open({str(log)!r}, 'a', encoding='utf-8') as file:\n    file.write(line)\n{body}"
    )


def payloads(log: Path) -> list[Json]:
    """What was logged, in order."""
    return [json.loads(line) for line in log.read_text("utf-8").splitlines()]


def guarded(tmp_path: Path, program: str, *hooks: str, **more: object) -> Place:
    """A place with one plugin that listens, by default to `PreToolUse`."""
    where = place(tmp_path)
    folder = where.root.parent / "guard"
    where.install(hooking(folder, program, *(hooks or ("PreToolUse",)), **more))  # type: ignore[arg-type]  # as given
    return where


def went(where: Place, *words: str) -> Done:
    """Run, and check that the journal is whole and no notice of a bug stands on the screen."""
    done = where.run(*words)
    assert where.whole()
    return done


def answers_file(where: Place) -> bool:
    return (where.root / "answer.txt").exists()


@pytest.mark.behaviour("K-137", "J275")
@pytest.mark.parametrize(
    ("program", "cause", "words"),
    [
        (answer(DENY), "plugin", "The plugin guard denies this call: not on my watch"),
        (answer(WISH), "no_terminal", "The plugin guard wants a person to approve this call"),
        ("raise SystemExit('no')\n", "hook_failure", "A guard could not answer"),
        ("raise SystemExit(2)\n", "hook_failure", "A guard could not answer"),
        ("print('ok')\n", "hook_failure", "A guard could not answer"),
    ],
)
def test_a_guard_refuses_a_call_and_is_named(
    tmp_path: Path, program: str, cause: str, words: str
) -> None:
    """[D-65, D-66, Q-5]"""
    where = guarded(tmp_path, program)
    where.scripted(works(), says())
    done = went(where)
    result = done.result
    (refusal,) = result["refusals"]
    assert refusal["cause"] == cause
    assert words in refusal["reason"]
    assert "guard" in refusal["reason"]
    assert not answers_file(where)
    assert (result["status"], done.code) == ("completed", 0)
    assert "refused: " in done.err
    (judged,) = where.told("authz")
    assert (judged["decision"], judged["cause"]) == ("deny", cause)
    assert [row["source"] for row in judged["trace"] if row["deciding"]] == ["plugin:guard"]


@pytest.mark.behaviour("K-138", "J274", "D-63")
def test_an_allow_lifts_nothing(tmp_path: Path) -> None:
    """[D-63, A-33]"""
    where = guarded(tmp_path, answer(ALLOW))
    where.scripted(works(), says())
    (refusal,) = went(where, "--permissions", "read-only").result["refusals"]
    assert refusal["cause"] == "mode"
    assert not answers_file(where)


def arbiter_of(program: str, tmp_path: Path, *hooks: str, **more: object) -> Place:
    """A place with an arbiter that does not answer after a turn."""
    terms = {"grade": "arbiter", "name": "judge"} | more
    return guarded(tmp_path, program, *(hooks or ("Stop",)), **terms)


@pytest.mark.behaviour("K-139", "W-42")
@pytest.mark.parametrize(("says_what", "refused"), [("", False), ("\n", False), ("ok", True)])
def test_nothing_said_is_no_opinion_and_text_is_no_decision(
    tmp_path: Path, says_what: str, refused: bool
) -> None:
    """[H-50, D-66] A guard fails closed, the end of a turn fails open."""
    where = arbiter_of(f"print({says_what!r}, end='')\n", tmp_path, "PreToolUse", "Stop")
    where.scripted(works(), says("It is 42."))
    result = went(where).result
    assert answers_file(where) is not refused
    assert (result["status"], result["answer"]) == ("completed", "It is 42.")
    cause = "malformed" if refused else None
    runs = where.told("hook_run")
    assert [(run["event"], run["cause"]) for run in runs] == [
        ("PreToolUse", cause),
        ("Stop", cause),
    ]
    assert {run["decision"] for run in runs} == {"none"}
    assert result["outcome"]["stop_gate"] == ("unavailable" if refused else "allowed")


@pytest.mark.behaviour("K-140", "D-67")
@pytest.mark.parametrize("words", [(), ("--pipeline", "judge")])
def test_whoever_answers_after_the_turn_gets_no_stop(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    """[D-67]"""
    log = tmp_path / "log"
    where = place(tmp_path)
    more = 'points = ["after_turn"]\n'
    program = logging(log)
    folder = where.root.parent / "judge"
    where.install(
        hooking(folder, program, "Stop", "TurnStart", name="judge", grade="arbiter", more=more)
    )
    where.scripted(says())
    result = went(where, *words).result
    assert result["outcome"]["stop_gate"] == "not_asked"
    assert [p.get("event", p.get("point")) for p in payloads(log)] == [
        "TurnStart",
        *(["after_turn"] if words else []),
    ]


@pytest.mark.behaviour("K-141", "D-68", "D-62")
@pytest.mark.parametrize(
    ("more", "holds"), [("max_holds = 1\n", 1), ("", 2), ("max_holds = 9\n", 2)]
)
def test_a_stop_hook_holds_to_its_bound_and_says_which_is_the_last(
    tmp_path: Path, more: str, holds: int
) -> None:
    """[D-68, E-39, E-40, Q-10] The lower of its own wish and the host's ceiling counts."""
    log = tmp_path / "log"
    deny = {
        "action": "deny",
        "reason": "not yet\n[final check: over]",
        "evidence": {"witness": "t.py", "command": ["pytest", "-q"], "flip": "not_achieved"},
    }
    program = logging(log, f"print(json.dumps({deny!r}))\n")
    where = arbiter_of(program, tmp_path, more=more)
    where.scripted(*(says(f"answer {n}") for n in range(holds + 1)))
    done = went(where)
    result = done.result
    assert (result["status"], done.code) == ("unmet", 4)
    assert (result["outcome"]["stop_gate"], result["answer"]) == ("capped", f"answer {holds}")
    assert [(p["holds_spent"], p["holds_allowed"], p["last"]) for p in payloads(log)] == [
        (n, holds, n == holds - 1) for n in range(holds)
    ]
    messages = [m["text"] for m in where.told("message") if m["origin"] == "stop_hook"]
    assert messages[-1].splitlines() == [
        "[stop-hook feedback]",
        "The plugin judge holds the turn open:",
        "not yet",
        "\\[final check: over]",
        "witness: t.py",
        'command: ["pytest","-q"]',
        "flip: not_achieved",
        "[final check: the turn ends after your next answer, whatever the hooks say]",
    ]
    assert ["\n[final check:" in text for text in messages] == [
        n == holds - 1 for n in range(holds)
    ]
    gates = where.told("stop_gate")
    assert [(g["decision"], g["by"], g["spent"], g["allowed"]) for g in gates] == [
        ("deny", "plugin:judge", n + 1, holds) for n in range(holds)
    ]
    assert f"plugin judge holds the turn (1 of {holds}): not yet" in done.err


@pytest.mark.parametrize(
    ("decision", "gate", "status", "code"),
    [
        (ALLOW, "allowed", "completed", 0),
        (WISH, "unanswered", "undecided", 5),
        ({"action": "modify", "payload": {"x": 1}}, "allowed", "completed", 0),
    ],
)
@pytest.mark.behaviour("D-65", "W-41")
def test_what_else_a_stop_hook_may_say_holds_nothing(
    tmp_path: Path, decision: Json, gate: str, status: str, code: int
) -> None:
    """[E-42, W-41]"""
    where = arbiter_of(answer(decision), tmp_path)
    where.scripted(says())
    done = went(where)
    assert (done.result["outcome"]["stop_gate"], done.result["status"]) == (gate, status)
    assert done.code == code
    assert len(where.told("notice")) == (decision is not ALLOW)


@pytest.mark.behaviour("K-142", "D-61")
def test_an_enabled_plugin_that_is_not_selected_hears_its_hooks_and_no_point(
    tmp_path: Path,
) -> None:
    """[D-9, D-61]"""
    log = tmp_path / "log"
    where = place(tmp_path)
    folder = where.root.parent / "guard"
    more = 'points = ["before_turn"]\n'
    where.install(hooking(folder, logging(log), "TurnStart", "TurnEnd", more=more))
    where.scripted(says())
    assert went(where).result["status"] == "completed"
    assert [(p.get("event"), p.get("point")) for p in payloads(log)] == [
        ("TurnStart", None),
        ("TurnEnd", None),
    ]


LEAD: Final = (
    "SessionStart",
    "UserPromptSubmit",
    "TurnStart",
    "PreToolUse",
    "PostToolUse",
    "TurnEnd",
    "SessionEnd",
)
KEYS: Final = {
    "SessionStart": "event cwd session_id source",
    "UserPromptSubmit": "event cwd session_id prompt",
    "TurnStart": "event cwd session_id turn_id round prompt",
    "PreToolUse": "event cwd tool session_id turn_id call_id",
    "PostToolUse": "event cwd tool toolResult session_id turn_id call_id ok duration_ms",
    "TurnEnd": "event cwd finalText session_id turn_id status steps cost_usd changed_files",
    "SessionEnd": "event cwd session_id status turns cost_usd",
}


@pytest.mark.behaviour("W-38", "H-58", "J272")
def test_each_event_comes_once_in_its_order_with_its_keys(tmp_path: Path) -> None:
    """[H-58, W-38, E-10, E-14] A hook that is not listed is never sent."""
    log = tmp_path / "log"
    where = guarded(tmp_path, logging(log), *LEAD)
    where.scripted(works("42 \N{CHECK MARK}"), says("It is 42."))
    assert went(where).code == 0
    found = payloads(log)
    assert [p["event"] for p in found] == list(LEAD)
    for payload in found:
        assert " ".join(payload) == KEYS[payload["event"]]
        assert payload["cwd"] == str(where.root)
        assert payload["session_id"] == where.journals()[0].parent.name
    before, after = found[3], found[4]
    call = {"name": "write_file", "input": {"path": "answer.txt", "content": "42 \N{CHECK MARK}"}}
    assert before["tool"] == after["tool"] == call | {"read_only": False}
    assert (before["call_id"], after["call_id"], before["turn_id"]) == ("t1.c1", "t1.c1", "t1")
    assert "\N{CHECK MARK}" in log.read_text("utf-8")
    order = [r["type"] for r in where.records() if r["type"] != "hook_run"]
    assert order[-2:] == ["run_ended", "session_closed"]
    runs = where.told("hook_run")
    assert [run["event"] for run in runs] == list(LEAD)
    assert {(run["cause"], run["by"], run["exit_code"]) for run in runs} == {
        (None, "plugin:guard", 0)
    }


def test_a_failed_turn_tells_the_hooks_of_errors_alone(tmp_path: Path) -> None:
    """[E-14]"""
    log = tmp_path / "log"
    where = guarded(tmp_path, logging(log), "TurnEnd", "TurnError")
    where.scripted(says(""))
    assert went(where).code == 1
    (payload,) = payloads(log)
    assert (payload["event"], payload["cause"]) == ("TurnError", "empty_reply")


@pytest.mark.behaviour("W-39", "J275", "J281", "D-66", "C7", "C10")
@pytest.mark.parametrize(
    ("program", "cause", "words"),
    [
        ("print('INFO starts')\n", "malformed", "syntax"),
        (answer({"action": "dney", "reason": "x"}), "malformed", "did you mean deny"),
        (answer({"action": "deny"}), "malformed", "missing-key: reason"),
        (answer({"action": "deny", "reason": " "}), "malformed", "not blank"),
        (answer({"action": "modify", "payload": {}}), "malformed", "missing-key: payload.input"),
        (f"{answer(ALLOW)}print(json.dumps({ALLOW!r}))\n", "malformed", "syntax"),
        (f"{READ}print(json.dumps({DENY!r}), file=sys.stderr)\n", "malformed", "stderr"),
        ("while True:\n    print('x' * 100_000)\n", "output_cap", "stdout"),
        ("import time\ntime.sleep(600)\n", "timeout", "no end within 1 s"),
        ("import os\nos.kill(os.getpid(), 9)\n", "signal", "signal 9"),
        ("import sys\nsys.exit(2)\n", "nonzero_exit", "exit code 2"),
        (f"{answer(ALLOW)}sys.exit(3)\n", "nonzero_exit", "exit code 3"),
    ],
)
def test_every_way_to_fail_has_its_cause_and_refuses_the_call(
    tmp_path: Path, program: str, cause: str, words: str
) -> None:
    """[H-50, H-52, H-53, W-39 to W-42] At an observer the same failure is a notice alone."""
    slow = cause == "timeout"
    hooks = ("PreToolUse",) if slow else ("PreToolUse", "SessionEnd")
    where = guarded(tmp_path, program, *hooks, timeout=1 if slow else 20)
    where.scripted(works(), says())
    done = went(where)
    assert [r["cause"] for r in done.result["refusals"]] == ["hook_failure"]
    assert not answers_file(where)
    run = where.told("hook_run")[0]
    assert (run["cause"], run["decision"]) == (cause, "none")
    notice = where.told("notice")[0]
    assert notice["code"] == "hook_failed"
    assert f"PreToolUse hook of plugin guard failed ({cause}" in notice["text"]
    assert words in notice["text"]
    assert "PreToolUse hook of plugin guard failed" in done.err
    assert done.code == 0


@pytest.mark.behaviour("J277")
def test_a_rewrite_reaches_the_next_hook_the_tool_and_the_journal(tmp_path: Path) -> None:
    """[H-60, H-63, D-63] In the order of names; neither the tool nor the call changes."""
    log = tmp_path / "log"
    where = place(tmp_path)
    other = {"path": "answer.txt", "content": "43"}
    modify = {"action": "modify", "payload": {"input": other, "tool": "bash", "call_id": "x"}}
    first = hooking(where.root.parent / "b", answer(modify), "PreToolUse", name="alpha")
    second = hooking(
        where.root.parent / "a", logging(log), "PreToolUse", "PostToolUse", name="beta"
    )
    where.install(first, second)
    where.scripted(works("42"), says())
    result = went(where).result
    assert result["tools"] == [{"name": "write_file", "calls": 1, "errors": 0}]
    assert (where.root / "answer.txt").read_text("utf-8") == "43"
    before, after = payloads(log)
    assert before["tool"]["input"] == after["tool"]["input"] == other
    assert after["input_before"]["content"] == "42"
    (finished,) = where.told("tool_finished")
    assert (finished["input"]["content"], finished["input_before"]["content"]) == ("43", "42")
    (judged,) = where.told("authz")
    assert [row["by"] for row in judged["chain"]] == ["plugin:alpha"]
    assert judged["tool"] == "write_file"
    assert [row["contribution"] for row in judged["trace"]] == ["none", "none", "allow"]


def test_a_rewrite_that_does_not_fit_the_tool_refuses_the_call(tmp_path: Path) -> None:
    """[H-60 step 2]"""
    modify = {"action": "modify", "payload": {"input": {"path": 7}}}
    where = guarded(tmp_path, answer(modify))
    where.scripted(works(), says())
    done = went(where)
    (refusal,) = done.result["refusals"]
    assert "plugin guard, PreToolUse rewrite of write_file: " in done.err
    assert "path: expected a string" in done.err
    assert refusal["cause"] == "hook_failure"
    assert "plugin guard rewrote its input into one that does not fit" in refusal["reason"]
    assert not answers_file(where)


def test_what_a_hook_changed_is_no_change_of_a_call(tmp_path: Path) -> None:
    """[T2-51] Its author is the plugin, which stands in no record of a call."""
    body = "open(payload['cwd'] + '/by_hook', 'a').write(payload['event'])\n"
    where = guarded(tmp_path, logging(tmp_path / "log", body), "PreToolUse", "PostToolUse")
    where.scripted(*(asks("bash", command=f"echo {n} > by_call{n}") for n in range(2)), says())
    result = went(where).result
    assert result["changed_files"] == ["by_call0", "by_call1"]
    assert [c["path"] for c in where.told("file_change")] == ["by_call0", "by_call1"]


def test_a_call_that_does_not_fit_its_tool_meets_no_hook(tmp_path: Path) -> None:
    """[E-23]"""
    where = guarded(tmp_path, answer(DENY))
    where.scripted(asks("write_file", path=7), asks("wriet_file", path="x"), says())
    assert went(where).result["refusals"] == []
    assert where.told("hook_run") == []


@pytest.mark.behaviour("D-64")
def test_the_text_of_session_start_stands_in_the_prompt_and_is_cut(tmp_path: Path) -> None:
    """[D-64, H-70, E-130, E-133] All hooks share one budget."""
    where = place(tmp_path)
    text = "print('  use tabs\\n[time] is up \\n')\n"
    flood = f"print('x' * {limits.SESSION_START_CHARS})\n"
    folders = where.root.parent
    where.install(
        hooking(folders / "a", text, "SessionStart", name="alpha"),
        hooking(folders / "b", flood, "SessionStart", name="beta"),
        hooking(folders / "c", "raise SystemExit(1)\n", "SessionStart", name="gamma"),
    )
    where.scripted(says())
    done = went(where)
    (prompt,) = where.told("system_prompt")
    head, _, context = prompt["text"].partition("\n\n## Session context\n\n")
    assert head
    begins = "### plugin alpha\nuse tabs\n\\[time] is up\n### plugin beta\nxxx"
    assert context.startswith(begins)
    hidden = len(begins) - 3
    whole, _, marker = context.rpartition("\n")
    assert len(whole) == limits.SESSION_START_CHARS
    assert marker == f"[SessionStart text cut: {hidden} characters not shown]"
    assert prompt["parts"][-1] == {"name": "session_context", "chars": len(context)}
    assert f"{hidden} characters are not shown" in done.err
    assert "SessionStart hook of plugin gamma failed" in done.err


@pytest.mark.parametrize("event", ["UserPromptSubmit", "TurnStart"])
def test_a_refused_prompt_spends_nothing_and_the_person_reads_why(
    tmp_path: Path, event: str
) -> None:
    """[H-59, E-10]"""
    where = guarded(tmp_path, answer(DENY), event)
    guide = steering(where.root.parent / "guide", "raise SystemExit(1)\n")
    where.install(guide)
    where.scripted(says())
    done = went(where, "--pipeline", "guide")
    result = done.result
    assert (result["status"], done.code, result["steps"]) == ("stopped", 3, 0)
    assert result["outcome"]["cause"] == "hook_refused"
    assert result["rounds"] == (event == "TurnStart")
    assert "plugin guard refused: not on my watch" in done.err
    assert where.told("plugin_exchange") == []
    assert where.told("verdict") == []


@pytest.mark.behaviour("J278")
def test_hooks_see_no_key_and_what_they_say_keeps_no_secret(tmp_path: Path) -> None:
    """[H-41, H-54, T-10]"""
    key = "sk-ant-0123456789abcdef0123"
    body = (
        f"{READ}import os\n"
        "seen = os.environ.get('ANTHROPIC_API_KEY', 'nothing')\n"
        f"reason = 'saw ' + seen + ', found {key}'\n"
        "print(json.dumps({'action': 'deny', 'reason': reason}))\n"
    )
    where = guarded(tmp_path, body)
    where.scripted(works(), says())
    done = where.stella("run", "go", *where.asked, env={"ANTHROPIC_API_KEY": key})
    (refusal,) = one_object(done.out)["refusals"]
    assert "saw nothing, found [redacted]" in refusal["reason"]
    assert key not in done.out + done.err
    assert key not in where.journals()[0].read_text("utf-8")


def removed(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        path.unlink()
    folder.rmdir()


def emptied(folder: Path) -> None:
    manifest = folder / "plugin.toml"
    manifest.write_text('name = "guard"\n', "utf-8")


def broken(folder: Path) -> None:
    (folder / "plugin.toml").write_text("name = \n", "utf-8")


def edited(folder: Path) -> None:
    (folder / "main.py").write_text(f"{answer(ALLOW)}# and more\n", "utf-8")


@pytest.mark.behaviour("K-162", "D-69")
@pytest.mark.parametrize("change", [edited, emptied, broken, removed])
def test_a_changed_guard_refuses_calls_until_it_is_accepted_again(
    tmp_path: Path, change: object
) -> None:
    """[D-69] Also when the change took the hook out of the manifest, or all of it away."""
    where = guarded(tmp_path, answer(ALLOW))
    assert callable(change)
    change(where.root / ".stella" / "plugins" / "guard")
    where.scripted(works(), says())
    done = where.run()
    (refusal,) = done.result["refusals"]
    assert refusal["cause"] == "hook_failure"
    assert "plugin guard" in refusal["reason"]
    assert not answers_file(where)
    assert [run["cause"] for run in where.told("hook_run")] == ["not_accepted"]
    assert "stella plugin remove guard" in done.err
    gone = where.stella("plugin", "remove", "guard")
    assert gone.code == 0, gone.err
    where.install(where.root.parent / "guard")
    assert where.run().result["refusals"] == []
    assert answers_file(where)


@pytest.mark.behaviour("J280")
def test_a_removed_plugin_is_asked_no_more(tmp_path: Path) -> None:
    where = guarded(tmp_path, answer(DENY))
    assert where.stella("plugin", "remove", "guard").code == 0
    where.scripted(works(), says())
    assert went(where).result["refusals"] == []
    assert where.told("hook_run") == []


def test_a_plugin_that_nobody_accepted_is_not_asked_and_a_notice_says_so(tmp_path: Path) -> None:
    """[D-69]"""
    where = place(tmp_path)
    hooking(where.root / ".stella" / "plugins" / "guard", answer(DENY), "PreToolUse")
    where.scripted(works(), says())
    done = went(where)
    assert done.result["refusals"] == []
    assert where.told("hook_run") == []
    notices = [n["text"] for n in where.told("notice")]
    assert len(notices) == 1
    assert notices[0].startswith("guard does not run: nobody accepted it here")


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"])
def test_a_signal_ends_a_hook_that_heeds_nobody(tmp_path: Path, event: str) -> None:
    """[H-56, E-113] The call that ran keeps its result."""
    flag = tmp_path / "flag"
    where = guarded(tmp_path, STUBBORN.format(flag=str(flag)), event, timeout=60)
    where.scripted(works(), says())
    with where.started("run", "go", *where.asked) as process:
        try:
            eventually(flag.exists)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130, err.decode()
    assert json.loads(out)["status"] == "cancelled"
    assert where.left(process.pid) == []
    assert where.whole()
    assert [run["cause"] for run in where.told("hook_run")] == ["cancelled"]
    assert len(where.told("control")) == 1
    finished = where.told("tool_finished")
    expected = {"PreToolUse": ["not_executed"], "PostToolUse": [None]}.get(event, [])
    assert [f["output"].get("error", {}).get("class") for f in finished] == expected


@pytest.mark.behaviour("B19")
def test_session_end_has_its_time_and_little_of_it_after_a_signal(tmp_path: Path) -> None:
    """[H-59] `SessionEnd` hooks have 30 s together, 2 s after a signal."""
    flag, log = tmp_path / "flag", tmp_path / "log"
    body = f"import pathlib, time\npathlib.Path({str(flag)!r}).touch()\ntime.sleep(600)\n"
    where = place(tmp_path)
    folders = where.root.parent
    where.install(
        hooking(folders / "a", logging(log), "SessionEnd", name="alpha"),
        hooking(folders / "b", body, "SessionEnd", name="beta", timeout=60),
    )
    where.scripted(says())
    with where.started("run", "go", *where.asked) as process:
        try:
            eventually(flag.exists)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 0, err.decode()
    assert json.loads(out)["status"] == "completed"
    assert where.left(process.pid) == []
    assert payloads(log)[0]["status"] == "completed"
    assert [run["cause"] for run in where.told("hook_run")] == [None, "cancelled"]
    assert where.records()[-1]["type"] == "session_closed"
