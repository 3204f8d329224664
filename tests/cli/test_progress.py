"""The lines of a run, one per event, made from facts alone [S-41, S-42]."""

import pytest

from stella.cli.progress import Progress
from stella.cli.progress import served_line
from stella.message import ErrorClass
from stella.message import failed
from stella.message import succeeded
from stella.redact import Redactor
from stella.turn.facts import Baselined
from stella.turn.facts import BoundMember
from stella.turn.facts import CallRequested
from stella.turn.facts import Cause
from stella.turn.facts import ChangedArtifact
from stella.turn.facts import Continued
from stella.turn.facts import Fact
from stella.turn.facts import ModelFailed
from stella.turn.facts import Noticed
from stella.turn.facts import Pinned
from stella.turn.facts import PipelineBound
from stella.turn.facts import Prompted
from stella.turn.facts import TamperFound
from stella.turn.facts import ToolFinished
from stella.turn.facts import TurnEnded
from stella.turn.facts import TurnStarted
from stella.turn.facts import TurnStatus
from stella.turn.facts import UsageTotal
from stella.turn.hook_facts import StopGated
from stella.turn.plugin_facts import PluginFaulted
from stella.turn.plugin_facts import ServedCall
from stella.verdict.again import Another
from stella.verdict.again import State
from stella.verdict.again import again
from stella.verdict.finding import Unmet
from stella.verdict.judge import judge
from stella.wire.evidence import Artifact
from stella.wire.evidence import Flip
from stella.wire.evidence import ObservedEvidence
from stella.wire.evidence import Tampered
from stella.wire.evidence import TamperState
from stella.wire.evidence import gathered
from stella.wire.grant import TestBaseline
from stella.wire.points import Call
from stella.wire.points import Point
from tests.making.members import FLIP
from tests.making.members import arbiter
from tests.making.members import composed


def said(*facts: Fact) -> list[str]:
    progress = Progress()
    return [line for fact in facts for line in progress.lines(fact)]


def requested(**given: object) -> CallRequested:
    return CallRequested(call_id="c", tool="read_file", input=given)


def ended(status: TurnStatus, cause: Cause | None = None, text: str = "done") -> TurnEnded:
    return TurnEnded(
        status=status, cause=cause, stop_gate="not_asked", steps=1, usage=UsageTotal(), text=text
    )


OK = ToolFinished(call_id="c", tool="read_file", input={}, output=succeeded("x"), duration_ms=3)
CHANGED = ToolFinished(
    call_id="c",
    tool="read_file",
    input={"path": "b"},
    input_before={"path": "a"},
    output=succeeded("x"),
    duration_ms=3,
)


@pytest.mark.parametrize(
    ("handle", "shown"),
    [("host-tree", "host-tree"), ("c-7d0f2b9a41c84e55a1d3c06e9b7f2a10", "c-7d0f2b…")],
)
def test_a_handle_is_as_long_as_a_person_needs_it(handle: str, shown: str) -> None:
    """[D-81]"""
    ran = {"passed": True, "exit_code": 0, "duration_ms": 4}
    test = ServedCall(id=1, call=Call.RUN_TEST, args={"candidate": handle}, ok=ran)
    adopted = ServedCall(id=1, call=Call.ADOPT_CANDIDATE, args={}, ok={"adopted": handle})
    assert served_line(test) == f"{shown}: passed (exit 0) in 4 ms"
    assert served_line(adopted) == f"{shown} is in the tree, 0 others discarded"


@pytest.mark.parametrize(
    ("facts", "lines"),
    [
        ((requested(path="src/week.py"), OK), ["read_file src/week.py  ok 3 ms"]),
        (
            (requested(path="a"), CHANGED),
            ["read_file a  changed by a hook to b  ok 3 ms"],
        ),
        ((requested(files=[]), OK), ["read_file  ok 3 ms"]),
        ((requested(files=["a", 3, "b"]), OK), ["read_file a b  ok 3 ms"]),
        ((requested(edits=[{"path": "a"}, {"path": "a"}, {}]), OK), ["read_file a  ok 3 ms"]),
        ((requested(pattern="def", path="."), OK), ["read_file def  ok 3 ms"]),
        ((requested(command="ls\n\x1b[31m"), OK), ["read_file ls \\u{1B}[31m  ok 3 ms"]),
        ((TurnStarted(round=0, principal="user", max_steps=1),), ["round 0"]),
        ((TurnStarted(round=2, principal="user", max_steps=1),), ["round 2"]),
        (
            (ModelFailed(step=0, attempt=1, kind="auth", message="no\nkey"),),
            ["model  auth: no key"],
        ),
        (
            (
                PluginFaulted(
                    plugin="v", point=Point.AFTER_TURN, round=0, fault="Exit", message="code 3"
                ),
            ),
            ["fault  Exit: code 3"],
        ),
        ((Noticed(code="x", text="look\nhere"),), ["notice  look here"]),
        ((ended(TurnStatus.COMPLETED),), []),
        (
            (ended(TurnStatus.STOPPED, Cause.STEP_LIMIT, "too many"),),
            ["turn stopped: too many"],
        ),
        ((Prompted(text="x", source="run"),), []),
        (
            (TamperFound(round=0, finding=TamperState.CLEAN, artifacts=()),),
            [],
        ),
        (
            (
                TamperFound(
                    round=0,
                    finding=Tampered(tampered=Artifact(artifact="t")),
                    artifacts=(ChangedArtifact(path="t", kinds=("edited", "mode-changed")),),
                ),
            ),
            ["tamper  t: edited, mode-changed"],
        ),
    ],
)
def test_a_fact_has_its_lines(facts: tuple[Fact, ...], lines: list[str]) -> None:
    assert said(*facts) == lines


def test_a_failed_call_and_a_refused_one_read_differently() -> None:
    """[E-123]"""
    refused = ToolFinished(
        call_id="c",
        tool="bash",
        input={},
        output=failed(ErrorClass.REFUSED_BY_POLICY, "the mode does not allow it"),
        duration_ms=0,
    )
    broken = ToolFinished(
        call_id="c",
        tool="bash",
        input={},
        output=failed(ErrorClass.NOT_FOUND, "x" * 300),
        duration_ms=0,
    )
    assert said(refused) == ["bash  refused: the mode does not allow it"]
    assert said(broken) == [f"bash  not_found: {'x' * 200} [100 more characters]"]


SECRET = "A1b2C3d4E5f6G7h8"
KEY = f"-----BEGIN PRIVATE KEY-----\n{SECRET}\n{SECRET}\nQm9k"


@pytest.mark.parametrize(
    "text", [KEY, "x" * 70 + f" ghp_{SECRET}", f"{KEY}\n-----END PRIVATE KEY-----"]
)
def test_secrets_go_before_a_text_is_folded_or_cut(text: str) -> None:
    """[J2-24] a part of a secret has no shape to be known by."""
    error = failed(ErrorClass.NOT_FOUND, "y" * 120 + text)
    finished = ToolFinished(call_id="c", tool="bash", input={}, output=error, duration_ms=0)
    program = Baselined(
        program="sh",
        path=text,
        args=("-c", text),
        baseline=TestBaseline.FAILED,
        reason="exit-nonzero",
        duration_ms=1,
        watched=(),
        complete=True,
    )
    lines = said(requested(command=text), finished, Noticed(code="c", text=text), program)
    assert len(lines) == 5
    for line in lines[:3] + lines[4:]:
        assert "A1b2" not in line
        assert "ghp_" not in line
        assert "Qm9k" not in line
    assert sum("[redacted" in line for line in lines) == 4


def test_registered_values_go_before_a_text_is_cut() -> None:
    """[J2-22, J2-24]"""
    progress = Progress(Redactor(["quartz lantern zebra"]))
    for fact in (requested(command="x" * 70 + "quartz lantern zebra"), OK):
        (line,) = list(progress.lines(fact)) or [""]
        assert "quartz" not in line


@pytest.mark.behaviour("G-20")
def test_the_baseline_tells_command_path_result_reason_and_duration() -> None:
    """[G-20]"""
    baseline = Baselined(
        program="pytest",
        path="/usr/bin/pytest",
        args=("-q",),
        baseline=TestBaseline.FAILED,
        reason="exit-nonzero",
        duration_ms=12,
        watched=(Pinned(path="t", fingerprint="f"),),
        complete=True,
    )
    assert said(baseline) == [
        "baseline failed (exit-nonzero) in 12 ms: pytest -q",
        "  program: /usr/bin/pytest",
        "  watching 1 file",
    ]
    none = Baselined(
        program="",
        args=(),
        baseline=TestBaseline.NOT_RUN,
        reason="no-plan",
        duration_ms=0,
        watched=(),
        complete=True,
    )
    assert said(none) == ["baseline not-run (no-plan): no test is granted"]


def test_a_hold_counts_itself_and_names_what_is_not_met() -> None:
    """[S-41]"""
    evidence = gathered(
        ObservedEvidence(flip=Flip.NOT_ACHIEVED, measurements={"code": 1}), TamperState.CLEAN
    )
    verdict = judge(FLIP, evidence)
    assert isinstance(verdict, Unmet)
    state = State(holds_spent=1, host_max_holds=2)
    continuation = again(verdict, state, composed(arbiter()).grant)
    assert isinstance(continuation, Another)
    bound = PipelineBound(
        variant="verify",
        members=(
            BoundMember(name="guide", wrapper="g", grade="steering", digest="", rule_sha256=""),
            BoundMember(name="verify", wrapper="v", grade="arbiter", digest="", rule_sha256=""),
        ),
        rule=FLIP,
        max_holds=2,
        signals={},
    )
    lines = said(bound, Continued(round=1, state=state, again=continuation.again))
    assert lines == [
        "verify holds the turn (2 of 2): flips not met",
        '  - flips: check "code <= 0" is false, reported 1',
        "  - flips: the required fail-to-pass change was reported as not-achieved",
    ]


def test_a_hold_of_the_gate_names_who_how_often_and_why() -> None:
    """[S-41, D-68]"""
    held = StopGated(
        asked=("plugin:judge",),
        decision="deny",
        by="plugin:judge",
        spent=1,
        allowed=2,
        reason="not\nyet",
    )
    assert said(held) == ["plugin judge holds the turn (1 of 2): not yet"]
    assert said(StopGated(asked=("plugin:judge",), decision="allow")) == []
