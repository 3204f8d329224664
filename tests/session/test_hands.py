"""The hands answer one kind of question each; a permit is for one call and is used once [A-30]."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from stella.authority.gate import Mode
from stella.clock import SystemClock
from stella.message import Asked
from stella.message import ErrorClass
from stella.message import Message
from stella.message import Role
from stella.providers.all import open_model
from stella.session.hands import Hands
from stella.session.watching import Watching
from stella.tools.all import TOOLS
from stella.tools.paths import held_root
from stella.tools.seen import Seen
from stella.tools.tool import ToolContext
from stella.tools.toolbox import Toolbox
from stella.turn.questions import AskGate
from stella.turn.questions import AskModel
from stella.turn.questions import RunTools
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
