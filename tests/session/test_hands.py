"""The hands answer one kind of question each; a permit is for one call and is used once [A-30]."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from stella.authority.decision import Contribution
from stella.authority.decision import Opinion
from stella.authority.gate import Mode
from stella.clock import SystemClock
from stella.content.guard import Guard
from stella.message import Asked
from stella.message import ErrorClass
from stella.message import Message
from stella.message import Role
from stella.process.program import Program
from stella.providers.all import open_model
from stella.session.hands import Hands
from stella.session.hooked import Hooked
from stella.session.watching import Watching
from stella.tools.all import TOOLS
from stella.tools.paths import held_root
from stella.tools.seen import Seen
from stella.tools.tool import ToolContext
from stella.tools.toolbox import Toolbox
from stella.turn.facts import Noticed
from stella.turn.questions import AskGate
from stella.turn.questions import AskHook
from stella.turn.questions import AskModel
from stella.turn.questions import CheckCall
from stella.turn.questions import RunTools
from stella.wire.hook import Deny
from stella.wire.occasion import SubagentStart
from stella.wrapper.hook import HookProcess
from stella.wrapper.plugin import PluginProcess
from tests.making.sessions import project
from tests.making.sessions import says
from tests.making.sessions import script
from tests.session.test_telling import telling


@contextmanager
def hands(tmp_path: Path, mode: Mode = Mode.WORKSPACE) -> Iterator[Hands]:
    root = project(tmp_path / "work")
    clock = SystemClock()
    written = telling(tmp_path / "told")
    model = open_model(f"script:{script(tmp_path / 'm', says('hello'))}", clock=clock)
    with held_root(str(root)) as held:
        context = ToolContext(
            root=held,
            environment={"PATH": "/usr/bin:/bin"},
            clock=clock,
            seen=Seen(),
            session_id="ses-x",
        )
        watching = Watching(
            root=root,
            env={},
            path_value="/usr/bin:/bin",
            private=tmp_path,
            clock=clock,
            telling=written,
            granting=None,
        )
        yield Hands(
            telling=written,
            clock=clock,
            model_port=model,
            toolbox=Toolbox(TOOLS, context),
            mode=mode,
            principal="user",
            watching=watching,
        )
    written.journal.close()


def call(name: str, **given: object) -> Asked:
    return Asked(call_id="t1.c1", name=name, input=given)


def test_a_model_is_asked_and_timed(tmp_path: Path) -> None:
    with hands(tmp_path) as ours:
        question = AskModel(
            messages=(Message(role=Role.USER, content="x"),), role="worker", seat="worker"
        )
        answer = asyncio.run(ours.model(question))
        assert answer.reply.text == "hello"  # type: ignore[union-attr]  # the script has a reply
        assert answer.duration_ms >= 0
        assert next(schema.name for schema in ours.schemas) == "read_file"


def test_an_allowed_call_runs_once_and_what_it_changed_is_measured(tmp_path: Path) -> None:
    with hands(tmp_path) as ours:

        async def go() -> None:
            await ours.watching.open()
            asked = call("write_file", path="new.txt", content="1\n")
            ruling = ours.gate(AskGate(call=asked))
            assert ruling.refusal is None
            assert ruling.judged is not None
            assert (ruling.judged.decision, ruling.judged.cause) == ("allow", None)
            (ran,) = await ours.run(RunTools(calls=(asked,)))
            assert ran.output.ok is not None
            assert ran.changes is not None
            assert [change.path for change in ran.changes] == ["new.txt"]

        asyncio.run(go())


def test_a_read_is_trusted_and_not_measured(tmp_path: Path) -> None:
    with hands(tmp_path) as ours:
        asked = call("read_file", path="answer.txt")
        ruling = ours.gate(AskGate(call=asked))
        assert ruling.read_only
        (ran,) = asyncio.run(ours.run(RunTools(calls=(asked,))))
        assert ran.changes == ()


def test_a_denied_call_has_no_permit_and_cannot_run(tmp_path: Path) -> None:
    """[A-36, law 5]"""
    with hands(tmp_path, Mode.READ_ONLY) as ours:
        asked = call("bash", command="touch made")
        ruling = ours.gate(AskGate(call=asked))
        assert ruling.refusal is not None
        assert ruling.refusal.error is not None
        assert ruling.refusal.error.kind is ErrorClass.REFUSED_BY_POLICY
        assert ruling.judged is not None
        assert (ruling.judged.decision, ruling.judged.cause) == ("deny", "mode")
        with pytest.raises(KeyError):
            asyncio.run(ours.run(RunTools(calls=(asked,))))
        assert not (ours.watching.root / "made").exists()


def test_an_unknown_tool_never_reaches_the_gate(tmp_path: Path) -> None:
    """[E-23]"""
    with hands(tmp_path) as ours:
        ruling = ours.gate(AskGate(call=call("raed_file")))
        assert ruling.judged is None
        assert ruling.refusal is not None
        assert ruling.refusal.error is not None
        assert ruling.refusal.error.kind is ErrorClass.NOT_FOUND
        assert "read_file" in ruling.refusal.text


def test_a_call_is_looked_up_without_being_judged(tmp_path: Path) -> None:
    """[E-23 items 1 to 3]"""
    with hands(tmp_path, Mode.READ_ONLY) as ours:
        shell = ours.check(CheckCall(call=call("bash", command="x")))
        read = ours.check(CheckCall(call=call("read_file", path="x")))
        wrong = ours.check(CheckCall(call=call("bash")))
        assert [(c.fits, c.read_only) for c in (shell, read, wrong)] == [
            (True, False),
            (True, True),
            (False, False),
        ]


def test_what_hooks_said_stands_in_the_trace_and_can_refuse(tmp_path: Path) -> None:
    """[A-8, A-37, H-60 step 8]"""
    with hands(tmp_path) as ours:
        said = Opinion(
            rule="PreToolUse",
            source="plugin:a",
            contribution=Contribution.DENY,
            cause="plugin",
            sentence="no",
        )
        chain = ({"by": "plugin:a", "before": "0", "after": "1"},)
        question = AskGate(call=call("bash", command="x"), opinions=(said,), chain=chain)
        ruling = ours.gate(question)
        assert ruling.refusal is not None
        assert ruling.refusal.text == "no"
        judged = ruling.judged
        assert judged is not None
        assert (judged.decision, judged.cause, judged.chain) == ("deny", "plugin", chain)
        assert [(r.source, r.contribution, r.deciding) for r in judged.trace] == [
            ("plugin:a", "deny", True),
            ("mode", "allow", False),
        ]


def test_a_hook_is_told_where_it_is_and_what_it_left_is_a_notice(tmp_path: Path) -> None:
    """[H-58] The turn of a sub-agent is that of the lead."""
    program = (
        "import json, os, sys, time\n"
        "given = json.loads(sys.stdin.readline())\n"
        "if os.fork() == 0:\n    os.setsid()\n    time.sleep(600)\n"
        "keys = ('cwd', 'session_id', 'turn_id', 'agent_id')\n"
        "reason = ' '.join(given[key] for key in keys)\n"
        "print(json.dumps({'action': 'deny', 'reason': reason}))\n"
    )
    (tmp_path / "main.py").write_text(program, "utf-8")
    process = PluginProcess(
        name="a",
        arguments=("python3", "-I", "-S", str(tmp_path / "main.py")),
        directory=tmp_path,
        env={"PATH": os.environ["PATH"]},
        timeout_secs=20,
        cleared=lambda: Program(path="/usr/bin/env"),
    )
    with hands(tmp_path) as ours:
        ours.hooked = Hooked(
            processes={"plugin:a": HookProcess(plugin=process)},
            cwd="/w",
            session="ses-x",
        )
        question = AskHook(
            by="plugin:a",
            occasion=SubagentStart(parent_id="t1", depth=1, access="read", instruction="x"),
            turn="t1.a1",
            agent="t1.a1",
            call=None,
        )
        heard = asyncio.run(ours.hook(question))
        assert isinstance(heard.result, Deny)
        assert heard.result.reason == "/w ses-x t1 t1.a1"
        assert heard.exit_code == 0
        notices = [fact.text for fact in ours.telling.told if isinstance(fact, Noticed)]
        assert notices == ["a left 1 of its processes behind at SubagentStart; they were ended"]


# ── guards of records [P-65] ──────────────────────────────────────────────────────────

SECRETS = Guard(
    lineage="no-secrets", whose="the person's", statement="Hands off.", path="secrets/*"
)


def guarding(ours: Hands, *guards: Guard) -> Hands:
    ours.guards = guards
    return ours


@pytest.mark.parametrize("form", ["plain", "dotted", "absolute", "linked", "text"])
def test_an_armed_guard_refuses_a_call_however_its_path_is_written(
    tmp_path: Path, form: str
) -> None:
    """[P-65, A-14] Nothing is written, and the trace says whose word decided."""
    with hands(tmp_path) as ours:
        root = ours.watching.root
        (root / "secrets").mkdir()
        (root / "link").symlink_to("secrets")
        path = {
            "plain": "secrets/key",
            "dotted": "./secrets/../secrets/key",
            "absolute": f"{root}/secrets/key",
            "linked": "link/key",
            "text": "secrets/key",
        }[form]
        asked = call("write_file", path=path, content="x")
        if form == "text":
            text = '{"path": "secrets/\\u006bey", "content": "x"}'
            asked = Asked(call_id="t1.c1", name="write_file", input=text)
        ruling = guarding(ours, SECRETS).gate(AskGate(call=asked))
        assert ruling.refusal is not None
        assert ruling.refusal.error is not None
        assert ruling.refusal.error.kind is ErrorClass.REFUSED_BY_POLICY
        assert ruling.refusal.error.message == (
            "A rule denies this (the person's record no-secrets): Hands off."
        )
        assert ruling.judged is not None
        assert (ruling.judged.decision, ruling.judged.cause) == ("deny", "rule")
        row = ruling.judged.trace[0]
        assert (row.rule, row.source, row.deciding) == ("record no-secrets", "record", True)
        assert list((root / "secrets").iterdir()) == []


def test_a_guard_lets_through_what_it_does_not_name(tmp_path: Path) -> None:
    """[P-65, A-33] And an allow of a hook does not lift one."""
    with hands(tmp_path) as ours:
        asked = call("write_file", path="other", content="x")
        assert guarding(ours, SECRETS).gate(AskGate(call=asked)).refusal is None
        shell = call("bash", command="git push")
        push = Guard(lineage="p", whose="the person's", statement="No.", command="git push")
        allow = Opinion(rule="r", source="hook", contribution=Contribution.ALLOW)
        ruling = guarding(ours, push).gate(AskGate(call=shell, opinions=(allow,)))
        assert ruling.refusal is not None
        assert ruling.judged is not None
        assert [row.source for row in ruling.judged.trace] == ["hook", "record", "mode"]
