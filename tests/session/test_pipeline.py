"""From an installed plugin to a member of a run [D-36, M-17]."""

from pathlib import Path

import pytest

from stella import limits
from stella.manifest.oracle import FlipPolicy
from stella.manifest.read import read_manifest
from stella.manifest.stages import Step
from stella.process.program import Program
from stella.session.options import Embedded
from stella.session.options import Pipeline
from stella.session.pipeline import bind
from stella.session.pipeline import member_of
from stella.session.pipeline import rule_for
from stella.wire.after_turn import AfterTurnAnswer
from stella.wire.before_turn import BeforeTurnAnswer
from stella.wire.before_turn import ContextEntry
from stella.wire.envelope import Request
from stella.wire.evidence import Flip
from stella.wire.evidence import ObservedEvidence
from stella.wire.grade import Grade
from stella.wire.host_call import ChildTurnArgs
from stella.wire.host_result import ChildTurnOk
from stella.wire.points import Point
from stella.wire.points import Signal
from stella.wrapper.object import Host
from stella.wrapper.plugin import PluginProcess
from tests.making.plugins import written
from tests.making.sessions import VERIFY
from tests.making.sessions import calls
from tests.making.sessions import finished
from tests.making.sessions import installed
from tests.making.sessions import options
from tests.making.sessions import project
from tests.making.sessions import says
from tests.making.sessions import script
from tests.making.sessions import verifying
from tests.session.test_selection import plugin

STAGES = """
[loop]
participation = "steering"
points = ["before_turn"]
[subloop]
stages = ["think"]
[roles.planner]
tier = "plan"
[runtime]
argv = ["python3", "${plugin_dir}/main.py"]
timeout_secs = 900
env = ["PATH", "OPENAI_API_KEY", "NOT_SET_ANYWHERE"]
[wrapper]
id = "survey-v1"
[[wrapper.stages]]
name = "triage"
[[wrapper.stages]]
name = "research"
if = "questions > 0"
[[wrapper.stages]]
name = "execute"
"""


def test_a_member_has_what_its_manifest_declares() -> None:
    member = member_of(plugin("survey", body=STAGES))
    assert (member.name, member.wrapper, member.grade) == ("survey", "survey-v1", Grade.STEERING)
    assert member.points == {Point.BEFORE_TURN}
    assert member.roles == {"planner": "plan"}
    assert [stage.name for stage in member.stages] == ["triage", "research", "execute"]
    condition = member.stages[1].condition
    assert condition is not None
    assert condition.signal is Signal.QUESTIONS


def test_the_rule_of_verify_is_its_declaration() -> None:
    rule = rule_for(read_manifest((VERIFY / "plugin.toml").read_bytes()).manifest)
    assert set(rule.requirements) == {"tests-flip", "tests-pass"}
    assert rule.oracle is not None
    assert rule.oracle.flip is FlipPolicy.REQUIRED
    assert [check.check for check in rule.oracle.checks] == ["test-command-exit-code <= 0"]


def test_without_a_pipeline_nothing_is_bound(tmp_path: Path) -> None:
    root = project(tmp_path / "work")
    model = script(tmp_path / "m", says("x"))
    assert bind(options(root, tmp_path / "home", model), root) is None


@pytest.mark.behaviour("D-11", "K-44", "B58")
def test_a_process_gets_exactly_its_names_and_never_a_credential(tmp_path: Path) -> None:
    """[T-10, T-11, D-11, D-45]"""
    root = project(tmp_path / "work")
    source = written(tmp_path / "src", f'name = "survey"\n{STAGES}', "")
    installed(root, tmp_path / "home", source)
    model = script(tmp_path / "m", says("x"))
    env = {"PATH": "/usr/bin:/bin", "OPENAI_API_KEY": "k", "HOME": "/h"}
    wanted = options(
        root, tmp_path / "home", model, env=env, pipeline=verifying(names=("survey-v1",))
    )
    bound = bind(wanted, root)
    assert bound is not None
    process = bound.plugins["survey"]
    assert isinstance(process, PluginProcess)
    assert process.env == {"PATH": "/usr/bin:/bin"}
    assert process.arguments == (str(root / ".stella/plugins/survey/main.py"),)
    program = process.cleared()
    assert isinstance(program, Program)
    assert Path(program.path).is_absolute()
    assert program.not_started is None
    assert [code for code, _ in bound.notices] == ["credential_withheld"]
    assert bound.composition.variant == "survey-v1"


@pytest.mark.behaviour("D-12")
def test_the_bound_pipeline_is_recorded_with_digests(tmp_path: Path) -> None:
    """[J2-40]"""
    root = project(tmp_path / "work")
    installed(root, tmp_path / "home")
    model = script(tmp_path / "m", says("x"))
    bound = bind(options(root, tmp_path / "home", model, pipeline=verifying()), root)
    assert bound is not None
    (member,) = bound.fact.members
    assert member.digest.startswith("sha256:")
    assert len(member.rule_sha256) == 64
    assert bound.fact.max_holds == 2
    assert bound.fact.signals["test-command"] is True
    assert len(bound.fact.signals) == len(Signal)


@pytest.mark.behaviour("T-35")
def test_an_object_of_the_embedding_program_wraps_a_run_like_a_process(tmp_path: Path) -> None:
    """[T-35, S-79, D-53]"""
    text = """
name = "inner"
[loop]
participation = "arbiter"
hooks = ["Stop"]
points = ["before_turn", "after_turn"]
calls = ["child_turn"]
max_holds = 1
[subloop]
stages = ["think"]
[roles.planner]
tier = "plan"
[requirements]
small = "the number is small"
[oracle]
flip = "not-applicable"
measurements = ["x"]
[oracle.command]
argv = ["in-process"]
timeout_secs = 5
[[oracle.checks]]
requirement = "small"
check = "x <= 0"
"""
    rounds = []

    class Inner:
        async def before_turn(self, _request: Request, host: Host) -> BeforeTurnAnswer:
            told = await host.ask(ChildTurnArgs(role="planner", instruction="plan"))
            assert isinstance(told, ChildTurnOk)
            entry = ContextEntry(label="plan", text=told.report)
            return BeforeTurnAnswer(protocol_version=1, context=(entry,))

        async def after_turn(self, request: Request, _host: Host) -> AfterTurnAnswer:
            rounds.append(request.round)
            evidence = ObservedEvidence(
                flip=Flip.NOT_ATTEMPTED, measurements={"x": 1 - request.round}
            )
            return AfterTurnAnswer(protocol_version=1, evidence=evidence)

    root = project(tmp_path / "work")
    manifest = read_manifest(text.encode()).manifest
    change = calls("write_file", path="new", content="x\n")
    model = script(tmp_path / "m", says("one"), change, says("first"), says("two"), says("second"))
    wanted = options(
        root,
        tmp_path / "home",
        model,
        pipeline=Pipeline(names=("inner",)),
        plugins=(Embedded(manifest=manifest, handlers=Inner()),),
    )
    done = finished(wanted)
    assert done.result.status.value == "met"
    assert rounds == [0, 1]
    bound = bind(wanted, root)
    assert bound is not None
    assert bound.fact.members[0].digest == ""


@pytest.mark.behaviour("D-21")
def test_a_plugin_without_a_wrapper_has_the_one_stage_of_the_turn() -> None:
    """[D-21, M-36]"""
    member = member_of(plugin("bare"))
    assert (member.wrapper, member.stages) == ("bare", (Step(name="execute"),))


ASKS = """
[loop]
participation = "steering"
points = ["before_turn"]
calls = ["child_turn"]
max_calls = {0}
[subloop]
stages = ["think"]
[roles.planner]
tier = "plan"
[runtime]
argv = ["python3", "${{plugin_dir}}/main.py"]
timeout_secs = 5
"""


@pytest.mark.behaviour("D-11")
@pytest.mark.parametrize("asks", [limits.CHILD_TURNS_PER_RUN, limits.CHILD_TURNS_PER_RUN + 1])
def test_child_turns_beyond_the_bound_are_said_to_be_lowered(tmp_path: Path, asks: int) -> None:
    """[D-11]"""
    root = project(tmp_path / "work")
    text = f'name = "asks"\n{ASKS.format(asks)}'
    installed(root, tmp_path / "home", written(tmp_path / "src", text, ""))
    model = script(tmp_path / "m", says("x"))
    bound = bind(options(root, tmp_path / "home", model, pipeline=verifying(names=("asks",))), root)
    assert bound is not None
    lowered = ("child_turns_lowered", "asks asks for 5 child turns; 4 are allowed")
    assert bound.notices == (lowered,) * (asks > limits.CHILD_TURNS_PER_RUN)
