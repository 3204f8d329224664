"""A result is a fold over what a run told [S-22, S-10]."""

from dataclasses import replace

import pytest

from stella.message import ErrorClass
from stella.message import failed
from stella.message import succeeded
from stella.session.result import EXIT_CODES
from stella.session.result import JournalRow
from stella.session.result import RefusalRow
from stella.session.result import RunResult
from stella.session.result import exit_code_of
from stella.session.result import result_of
from stella.session.telling import Story
from stella.turn.changes import ChangeBook
from stella.turn.facts import CallJudged
from stella.turn.facts import Cause
from stella.turn.facts import Fact
from stella.turn.facts import RunStatus
from stella.turn.facts import ToolFinished
from stella.turn.hold import RunEnd
from stella.turn.plugin_facts import PluginFaulted
from stella.turn.tally import Tally
from stella.wire.points import Point

JOURNAL = JournalRow(path="j", records=1, head="0")


def end(status: RunStatus, by: str | None = None, book: ChangeBook | None = None) -> RunEnd:
    return RunEnd(
        status=status,
        rounds=0,
        turn=None,
        verdict=None,
        evidence=None,
        outcome=None,
        tally=Tally(),
        changes=book or ChangeBook(),
        cancelled_by=by,
    )


def result(*facts: Fact, book: ChangeBook | None = None) -> RunResult:
    ended = end(RunStatus.COMPLETED, book=book)
    story = Story(own=facts, every=facts)
    return result_of(ended, story, pipeline=None, session="s", journal=JOURNAL)


@pytest.mark.behaviour("D-83")
@pytest.mark.parametrize(
    ("status", "code"),
    [
        (RunStatus.MET, 0),
        (RunStatus.COMPLETED, 0),
        (RunStatus.FAILED, 1),
        (RunStatus.STOPPED, 3),
        (RunStatus.UNMET, 4),
        (RunStatus.UNDECIDED, 5),
        (RunStatus.CANCELLED, 130),
    ],
)
def test_every_status_has_its_exit_code(status: RunStatus, code: int) -> None:
    """[S-10]"""
    assert exit_code_of(end(status)) == code
    assert set(EXIT_CODES) == set(RunStatus)


@pytest.mark.parametrize(("by", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 143)])
def test_a_signal_says_how_a_cancelled_run_exits(by: str, code: int) -> None:
    """[S-10, S-12]"""
    assert exit_code_of(end(RunStatus.CANCELLED, by)) == code


def finished(call_id: str, tool: str, *, error: ErrorClass | None = None) -> ToolFinished:
    output = succeeded("x") if error is None else failed(error, "no", cause="mode")
    return ToolFinished(call_id=call_id, tool=tool, input={}, output=output, duration_ms=1)


def test_tools_are_counted_in_order_of_first_use() -> None:
    found = result(
        finished("c1", "search"),
        finished("c2", "bash", error=ErrorClass.OTHER),
        finished("c3", "search"),
    )
    assert [(row.name, row.calls, row.errors) for row in found.tools] == [
        ("search", 2, 0),
        ("bash", 1, 1),
    ]


def test_refusals_name_call_principal_and_cause() -> None:
    """[A-53]"""
    judged = CallJudged(
        call_id="c1",
        tool="bash",
        principal="subagent:a",
        risk="high",
        decision="deny",
        chain=(),
        trace=(),
    )
    found = result(
        judged,
        finished("c1", "bash", error=ErrorClass.REFUSED_BY_POLICY),
        finished("c2", "bash", error=ErrorClass.TIMEOUT),
    )
    (row,) = found.refusals
    assert isinstance(row, RefusalRow)
    assert (row.call_id, row.principal, row.cause, row.reason) == ("c1", "subagent:a", "mode", "no")


def test_faults_keep_their_place() -> None:
    fault = PluginFaulted(
        plugin="p", point=Point.AFTER_TURN, round=1, fault="Timeout", message="slow"
    )
    (row,) = result(fault).faults
    assert (row.plugin, row.point, row.stage, row.round, row.fault) == (
        "p",
        "after_turn",
        None,
        1,
        "Timeout",
    )


def test_changed_files_are_null_when_unmeasured() -> None:
    """[S-22]"""
    assert result().changed_files == ()
    assert result(book=ChangeBook(measured=False)).changed_files is None


NOTHING = Story(own=(), every=())


def test_a_refused_prompt_has_a_cause_and_no_turn() -> None:
    """[H-59]"""
    refused = replace(end(RunStatus.STOPPED), cause=Cause.HOOK_REFUSED, refusal="no")
    journal = JournalRow(path="j", records=1, head="0")
    found = result_of(refused, NOTHING, pipeline=None, session="s", journal=journal)
    assert (found.outcome.turn_status, found.outcome.cause) == (None, "hook_refused")
