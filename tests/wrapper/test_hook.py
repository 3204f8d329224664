"""One hook call as a real process: a decision, no opinion, a text, or a failure with its cause."""

import asyncio
import os
from pathlib import Path

import pytest

from stella import limits
from stella.process.ending import Completed
from stella.process.ending import Ending
from stella.process.program import Program
from stella.redact import Redactor
from stella.wire.hook import Action
from stella.wire.hook import Allow
from stella.wire.hook import Deny
from stella.wire.hook import DenyEvidence
from stella.wire.hook import HookCause
from stella.wire.hook import HookFailure
from stella.wire.hook import HookText
from stella.wire.hook import Modify
from stella.wire.hook import NoOpinion
from stella.wire.hook import RequireApproval
from stella.wire.occasion import Called
from stella.wire.occasion import Occasion
from stella.wire.occasion import PreToolUse
from stella.wire.occasion import Scene
from stella.wire.occasion import SessionEnd
from stella.wire.occasion import SessionStart
from stella.wire.points import Hook
from stella.wrapper.hook import HookProcess
from stella.wrapper.hook import HookSpoken
from stella.wrapper.hook import conclude
from stella.wrapper.plugin import PluginProcess

KEY = "sk-ant-0123456789abcdef0123"
SCENE = Scene(cwd="/w", session_id="s")
CALL = PreToolUse(tool=Called(name="bash", input={"command": "x"}, read_only=False))
END = SessionEnd(status="met", turns=1)
START = SessionStart(source="new")


def clean(text: str) -> str:
    return Redactor().clean(text)


def hook(folder: Path, program: str, timeout: int = 20) -> HookProcess:
    (folder / "main.py").write_text(program, "utf-8")
    plugin = PluginProcess(
        name="guard",
        arguments=("python3", "-I", "-S", str(folder / "main.py")),
        directory=folder,
        env={"PATH": os.environ["PATH"]},
        timeout_secs=timeout,
        cleared=lambda: Program(path="/usr/bin/env"),
        clean=clean,
    )
    return HookProcess(plugin=plugin)


def spoken(process: HookProcess, occasion: Occasion = CALL) -> HookSpoken:
    return asyncio.run(process.ask(SCENE, occasion))


@pytest.mark.behaviour("W-14", "W-15")
def test_one_payload_comes_and_then_the_end_of_input(tmp_path: Path) -> None:
    """[W-15, W-38, H-55]"""
    program = (
        "import json, sys\nlines = sys.stdin.read().splitlines()\n"
        "reason = f'{len(lines)} {json.loads(lines[0])[\"event\"]}'\n"
        "print(json.dumps({'action': 'deny', 'reason': reason}))\n"
    )
    assert spoken(hook(tmp_path, program)).result == Deny(action=Action.DENY, reason="1 PreToolUse")


def test_a_hook_that_does_not_read_is_heard(tmp_path: Path) -> None:
    """[H-55]"""
    big = PreToolUse(tool=Called(name="bash", input={"x": "y" * 300_000}, read_only=False))
    process = hook(tmp_path, 'print(\'{"action":"allow"}\')\n')
    assert spoken(process, big).result == Allow(action=Action.ALLOW)


@pytest.mark.behaviour("W-43")
@pytest.mark.parametrize(
    ("occasion", "result"),
    [(END, NoOpinion()), (START, HookText(text='{"action":"dney"}'))],
)
def test_observers_and_texts_may_print_what_they_like(
    tmp_path: Path, occasion: Occasion, result: object
) -> None:
    """[W-43, H-50, H-71] What an observer printed is kept for the journal."""
    found = spoken(hook(tmp_path, 'print(\' {"action":"dney"}\\n\')\n'), occasion)
    assert found.result == result
    assert found.exit_code == 0
    assert found.stdout_tail is not None
    assert "dney" in found.stdout_tail


@pytest.mark.parametrize("occasion", [CALL, START, END])
@pytest.mark.parametrize(
    ("program", "cause"),
    [
        ("import sys\nsys.exit(2)\n", HookCause.NONZERO_EXIT),
        ("import os\nos.kill(os.getpid(), 9)\n", HookCause.SIGNAL),
    ],
)
def test_no_way_to_end_but_zero_is_a_success(
    tmp_path: Path, occasion: Occasion, program: str, cause: HookCause
) -> None:
    """[H-50, H-71, Q-5]"""
    found = spoken(hook(tmp_path, program), occasion).result
    assert isinstance(found, HookFailure)
    assert found.cause is cause


def test_the_time_of_a_hook_is_the_plugins_own_and_clamped(tmp_path: Path) -> None:
    """[D-62, D-45]"""
    found = spoken(hook(tmp_path, "import time\ntime.sleep(600)\n", timeout=1)).result
    assert isinstance(found, HookFailure)
    assert (found.cause, found.message) == (HookCause.TIMEOUT, "no end within 1 s of its start")
    for secs in (limits.POINT_SECS, limits.POINT_SECS + 1):
        assert hook(tmp_path, "", timeout=secs).plugin.deadline == limits.POINT_SECS


def test_what_it_printed_is_kept_to_the_last_characters_without_secrets(tmp_path: Path) -> None:
    """[H-41, H-53, H-59] limits.HOOK_TAIL_CHARS, at the limit and one past it."""
    program = "import sys\nprint('e' * {n}, end='', file=sys.stderr)\n"
    for size in (limits.HOOK_TAIL_CHARS, limits.HOOK_TAIL_CHARS + 1):
        tail = spoken(hook(tmp_path, program.format(n=size)), END).stderr_tail
        assert tail == "e" * limits.HOOK_TAIL_CHARS
    straddling = "x" * (limits.HOOK_TAIL_CHARS - 5)
    found = spoken(hook(tmp_path, f"print('token {KEY} {straddling}')\n"), END)
    assert found.stdout_tail is not None
    assert KEY[-5:] not in found.stdout_tail
    assert spoken(hook(tmp_path, "print()\n"), END).stdout_tail is None


def test_no_process_is_started_for_a_package_that_is_not_accepted(tmp_path: Path) -> None:
    """[D-69, H-50]"""
    program = "raise SystemExit(1)\n"
    for cleared, cause in (
        ("changed main.py", HookCause.NOT_ACCEPTED),
        (Program(path="/x", not_started="/x: gone"), HookCause.SPAWN_FAILED),
        (Program(path="/nowhere/at/all"), HookCause.SPAWN_FAILED),
    ):
        process = hook(tmp_path, program)
        refusing = HookProcess(
            plugin=PluginProcess(
                name="guard",
                arguments=process.plugin.arguments,
                directory=tmp_path,
                env={},
                timeout_secs=1,
                cleared=lambda cleared=cleared: cleared,  # type: ignore[misc]  # each its own
                clean=clean,
            ),
        )
        found = spoken(refusing)
        assert isinstance(found.result, HookFailure)
        assert found.result.cause is cause
        assert found.exit_code is None


def test_what_it_left_running_is_ended_and_told(tmp_path: Path) -> None:
    """[T-30]"""
    program = "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(600)\n"
    notice = spoken(hook(tmp_path, program)).notice
    assert notice == "guard left 1 of its processes behind at PreToolUse; they were ended"


def done(**more: object) -> Completed:
    return Completed(**({"ending": Ending.EXITED, "code": 0} | more))  # type: ignore[arg-type]  # as given


@pytest.mark.parametrize(
    ("completed", "cause", "words"),
    [
        (done(ending=Ending.OVERFLOWED, overflowed="stderr"), HookCause.OUTPUT_CAP, "stderr"),
        (done(ending=Ending.OVERFLOWED), HookCause.OUTPUT_CAP, "stdout"),
        (done(ending=Ending.LOST, reason="guard gone"), HookCause.TRANSPORT, "guard gone"),
        (done(ending=Ending.NOT_STARTED, reason="no"), HookCause.SPAWN_FAILED, "no"),
        (done(code=1), HookCause.NONZERO_EXIT, "exit code 1"),
        (
            done(code=1, stderr=f"bad {KEY} \x1b[2J".encode()),
            HookCause.NONZERO_EXIT,
            "exit code 1; stderr: bad [redacted] \\u{1B}[2J",
        ),
        (done(stdout=f"got {KEY}".encode()), HookCause.MALFORMED, "got: got [redacted]"),
        (done(stdout=b"checking"), HookCause.MALFORMED, "one decision or nothing"),
        (
            done(ending=Ending.TIMED_OUT, code=None, stderr=f"at {KEY}".encode()),
            HookCause.TIMEOUT,
            "no end within 20 s of its start; stderr: at [redacted]",
        ),
        (done(stderr=b'{"action":"deny"}'), HookCause.MALFORMED, "belongs on stdout"),
    ],
)
def test_each_ending_has_its_cause_and_a_line_fit_to_be_shown(
    completed: Completed, cause: HookCause, words: str
) -> None:
    """[H-50, H-51]"""
    found = conclude(Hook.PRE_TOOL_USE, completed, 20, clean)
    assert isinstance(found, HookFailure)
    assert found.cause is cause
    assert words in found.message
    assert KEY not in found.message


def test_the_words_of_a_decision_hold_no_secret_and_a_rewrite_is_as_it_came() -> None:
    """[H-41, H-54]"""

    def decided(event: Hook, text: str) -> object:
        return conclude(event, done(stdout=text.encode()), 20, clean)

    evidence = f'{{"witness":"{KEY}","command":["{KEY}"],"digest":"{KEY}"}}'
    assert decided(
        Hook.STOP, f'{{"action":"deny","reason":"{KEY}","evidence":{evidence}}}'
    ) == Deny(
        action=Action.DENY,
        reason="[redacted]",
        evidence=DenyEvidence(witness="[redacted]", command=("[redacted]",), digest="[redacted]"),
    )
    bare = decided(Hook.STOP, '{"action":"deny","reason":"x","evidence":{}}')
    assert bare == Deny(action=Action.DENY, reason="x", evidence=DenyEvidence())
    assert decided(Hook.STOP, f'{{"action":"require_approval","reason":"{KEY}"}}') == (
        RequireApproval(action=Action.REQUIRE_APPROVAL, reason="[redacted]")
    )
    rewrite = f'{{"action":"modify","payload":{{"input":{{"x":"{KEY}"}}}}}}'
    assert decided(Hook.PRE_TOOL_USE, rewrite) == Modify(
        action=Action.MODIFY, payload={"input": {"x": KEY}}
    )
