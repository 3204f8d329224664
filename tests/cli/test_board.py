"""The board at the end of a run: requirement by requirement, on whose evidence [S-43, D-82]."""

from dataclasses import replace

import msgspec
import pytest

from stella.cli.board import board
from stella.cli.board import reason_words
from stella.session.result import JournalRow
from stella.session.result import result_of
from stella.session.session import Finished
from stella.session.telling import Story
from stella.turn.changes import ChangeBook
from stella.turn.facts import Baselined
from stella.turn.facts import Cause
from stella.turn.facts import ChangedArtifact
from stella.turn.facts import Fact
from stella.turn.facts import ModelFailed
from stella.turn.facts import RunStatus
from stella.turn.facts import TamperFound
from stella.turn.facts import TurnEnded
from stella.turn.facts import TurnStatus
from stella.turn.facts import UsageTotal
from stella.turn.hold import RunEnd
from stella.turn.plugin_facts import PluginFaulted
from stella.turn.tally import Tally
from stella.verdict.again import Ceiling
from stella.verdict.again import Grant
from stella.verdict.again import State
from stella.verdict.again import Stop
from stella.verdict.again import again
from stella.verdict.finding import MeasurementMissing
from stella.verdict.finding import Reason
from stella.verdict.finding import Unchecked
from stella.verdict.finding import Undecidable
from stella.verdict.finding import Unknowable
from stella.verdict.finding import Unread
from stella.verdict.finding import UnreadableCheck
from stella.verdict.finding import Unreported
from stella.verdict.judge import judge
from stella.verdict.progress import Progress
from stella.verdict.rule import VerdictRule
from stella.verdict.rule import rule_of
from stella.wire.evidence import Artifact
from stella.wire.evidence import Flip
from stella.wire.evidence import ObservedEvidence
from stella.wire.evidence import Tamper
from stella.wire.evidence import Tampered
from stella.wire.evidence import TamperState
from stella.wire.evidence import gathered
from stella.wire.grade import Grade
from stella.wire.grant import TestBaseline
from stella.wire.points import Point
from tests.making.members import FLIP

STATE = State(holds_spent=2, host_max_holds=2, progress=Progress.CHANGED)
GRANT = Grant(participation=Grade.ARBITER)


def finished(
    observed: ObservedEvidence | None,
    status: RunStatus,
    *told: Fact,
    state: State = STATE,
    grant: Grant = GRANT,
    tamper: Tamper = TamperState.CLEAN,
    rule: VerdictRule = FLIP,
    text: str = "",
) -> Finished:
    evidence = gathered(observed, tamper)
    verdict = judge(rule, evidence)
    continuation = again(verdict, state, grant)
    end = RunEnd(
        status=status,
        rounds=3,
        turn=None,
        verdict=verdict,
        evidence=evidence,
        outcome=continuation.outcome if isinstance(continuation, Stop) else None,
        tally=Tally(),
        changes=ChangeBook(),
    )
    journal = JournalRow(path="j", records=1, head="0")
    story = Story(own=tuple(told), every=tuple(told))
    return Finished(
        result=result_of(end, story, pipeline="v", session="ses-x", journal=journal),
        rule=rule,
        evidence=evidence,
        told=told,
        turn_text=text,
    )


def lines(done: Finished) -> list[str]:
    return list(board(done))


def seen(flip: Flip, **numbers: int) -> ObservedEvidence:
    return ObservedEvidence(flip=flip, measurements=numbers)


@pytest.mark.behaviour("D-82")
def test_a_met_run_says_on_whose_evidence_it_rests() -> None:
    """[D-82]"""
    baseline = Baselined(
        program="pytest",
        path="/p",
        args=(),
        baseline=TestBaseline.FAILED,
        reason="exit-nonzero",
        duration_ms=1,
        watched=(),
        complete=True,
    )
    clean = TamperFound(round=0, finding=TamperState.CLEAN, artifacts=())
    done = finished(seen(Flip.ACHIEVED, code=0), RunStatus.MET, baseline, clean)
    assert lines(done) == [
        "met: after 3 rounds",
        "  met     flips: the test went from failing to passing",
        "  evidence: reported by the plugin",
        "  baseline: failed (exit-nonzero)",
        "  tamper: clean",
        "cost 0.0000 USD, 0 steps",
        "session ses-x",
        "journal j",
    ]


@pytest.mark.parametrize(
    ("baseline", "rule", "lost"),
    [
        (TestBaseline.PASSED, FLIP, True),
        (TestBaseline.UNOBSERVED, FLIP, True),
        (TestBaseline.FAILED, FLIP, False),
        (TestBaseline.NOT_RUN, FLIP, False),
        (TestBaseline.PASSED, rule_of(requirements={"a": "b"}), False),
        (TestBaseline.PASSED, rule_of(requirements={"a": "b"}, flip="not-applicable"), False),
    ],
)
def test_a_flip_that_nothing_can_earn_any_more_is_named(
    baseline: TestBaseline, rule: VerdictRule, *, lost: bool
) -> None:
    """[G-20]"""
    fact = Baselined(
        program="x",
        args=(),
        baseline=baseline,
        reason="r",
        duration_ms=1,
        watched=(),
        complete=True,
    )
    done = finished(seen(Flip.NOT_ACHIEVED, code=0), RunStatus.UNMET, fact, rule=rule)
    wanted = f"  baseline: {baseline.value} (r){'; a flip can no longer be earned' if lost else ''}"
    assert wanted in lines(done)


@pytest.mark.behaviour("D-82")
def test_an_unmet_run_says_every_clause_and_why_it_stopped() -> None:
    """[D-82]"""
    edited = TamperFound(
        round=0,
        finding=Tampered(tampered=Artifact(artifact="t")),
        artifacts=(ChangedArtifact(path="t", kinds=("edited",)),),
    )
    shown = lines(finished(seen(Flip.NOT_ACHIEVED, code=1), RunStatus.UNMET, edited))
    assert shown[:5] == [
        "unmet: 2 clauses not met after 3 rounds; all 2 holds spent",
        "  unmet   flips: the test went from failing to passing",
        '          check "code <= 0" is false, reported 1',
        "          the required fail-to-pass change was reported as not-achieved",
        "  evidence: reported by the plugin",
    ]
    assert "  tamper: t (edited)" in shown


def test_a_model_that_failed_is_quoted_once() -> None:
    """The line of the failed call has its words; the headline has the rest."""
    failed = ModelFailed(step=1, attempt=1, kind="auth", message="no\nkey")
    ended = TurnEnded(
        status=TurnStatus.FAILED,
        cause=Cause.PROVIDER,
        stop_gate="not_asked",
        steps=1,
        usage=UsageTotal(),
        text="the model gave no reply (auth): no key",
    )
    done = finished(None, RunStatus.FAILED, failed, ended, text=ended.text)
    assert lines(done)[0] == "failed: the model gave no reply (auth) (after 3 rounds)"


@pytest.mark.parametrize(
    ("state", "grant", "words"),
    [
        (State(holds_spent=0, host_max_holds=0), GRANT, "; no holds allowed"),
        (STATE, Grant(participation=Grade.STEERING), "no say over completion"),
        (
            State(holds_spent=0, host_max_holds=2, progress=Progress.UNCHANGED),
            GRANT,
            "changed nothing",
        ),
        (
            State(holds_spent=0, host_max_holds=2, ceiling=Ceiling.STEPS),
            GRANT,
            "the limit of steps is reached",
        ),
    ],
)
def test_every_stop_has_its_own_words(state: State, grant: Grant, words: str) -> None:
    done = finished(seen(Flip.NOT_ACHIEVED, code=1), RunStatus.UNMET, state=state, grant=grant)
    assert words in lines(done)[0]


@pytest.mark.behaviour("D-82")
def test_an_undecided_run_says_what_is_unknown() -> None:
    """[D-82]"""
    shown = lines(finished(None, RunStatus.UNDECIDED))
    assert shown[0] == "undecided: after 3 rounds"
    assert shown[1].startswith("  unknown flips")
    assert shown[2] == '          the plugin did not report "code"'
    assert shown[3] == "  evidence: nobody answered"


@pytest.mark.behaviour("D-82")
def test_a_run_without_requirements_was_not_judged_and_says_so_with_its_faults() -> None:
    """[D-82, S-43]"""
    fault = PluginFaulted(plugin="p", point=Point.BEFORE_TURN, round=0, fault="Exit", message="x")
    shown = lines(finished(None, RunStatus.COMPLETED, fault, rule=VerdictRule()))
    assert shown[1:3] == ["nothing was judged", "1 fault occurred; see the lines above"]


def test_a_cut_turn_says_by_what() -> None:
    ended = TurnEnded(
        status=TurnStatus.STOPPED,
        cause=Cause.STEP_LIMIT,
        stop_gate="not_asked",
        steps=1,
        usage=UsageTotal(),
        text="the turn reached its limit of 1 steps",
    )
    done = finished(
        seen(Flip.ACHIEVED, code=0), RunStatus.STOPPED, ended, text="the turn reached its limit"
    )
    assert lines(done)[0] == "stopped: the turn reached its limit (after 3 rounds)"


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        *((reason, "") for reason in Unknowable),
        (Undecidable(undecidable=Unchecked(requirement="r")), "no check"),
        (
            MeasurementMissing(measurement_missing=Unreported(requirement="r", measurement="x\n")),
            'report "x"',
        ),
        (UnreadableCheck(unreadable_check=Unread(requirement="r", reason="odd")), "odd"),
    ],
)
def test_every_reason_has_its_own_words(reason: Reason, words: str) -> None:
    text = reason_words(reason)
    assert text
    assert words in text
    others = {reason_words(each) for each in Unknowable if each is not reason}
    assert text not in others


@pytest.mark.parametrize(
    ("gate", "words"),
    [
        ("allowed", "after 3 rounds"),
        ("capped", "after 3 rounds; a Stop hook held the turn as often as it may"),
        ("unanswered", "after 3 rounds; a Stop hook wanted a person to approve"),
    ],
)
def test_a_gate_that_was_not_satisfied_is_named(gate: str, words: str) -> None:
    """[E-40, E-42]"""
    ended = TurnEnded(
        status=TurnStatus.COMPLETED, stop_gate=gate, steps=1, usage=UsageTotal(), text="x"
    )
    done = finished(seen(Flip.ACHIEVED, code=0), RunStatus.UNMET, ended)
    assert words in lines(done)[0]


@pytest.mark.behaviour("D-82")
def test_a_run_that_ended_before_it_was_judged_says_so() -> None:
    """[D-14, D-82] It has a rule and nobody's evidence."""
    done = replace(finished(None, RunStatus.CANCELLED), evidence=None)
    assert lines(done)[:3] == [
        "cancelled: after 3 rounds",
        "nothing was judged",
        "cost 0.0000 USD, 0 steps",
    ]
    unpriced = replace(done, result=msgspec.structs.replace(done.result, cost_usd=None))
    assert "cost unknown (no price for the model), 0 steps" in lines(unpriced)
