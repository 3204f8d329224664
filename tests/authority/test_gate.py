import pytest

from stella.authority.contract import Provenance
from stella.authority.contract import ToolContract
from stella.authority.decision import Contribution
from stella.authority.decision import Opinion
from stella.authority.gate import Denied
from stella.authority.gate import Mode
from stella.authority.gate import Permit
from stella.authority.gate import judge
from stella.authority.risk import Risk


def contract(
    risk: Risk, *, read_only: bool = False, provenance: Provenance = Provenance.BUILTIN
) -> ToolContract:
    return ToolContract(
        name="tool",
        description="",
        input_schema={},
        read_only=read_only,
        risk=risk,
        provenance=provenance,
    )


def allowed(mode: Mode, given: ToolContract, risk: Risk | None = None) -> bool:
    ruling = judge(call_id="t1.c1", contract=given, risk=risk or given.risk, mode=mode)
    return isinstance(ruling, Permit)


@pytest.mark.parametrize(
    ("mode", "runs"),
    [
        (Mode.READ_ONLY, (False, False, False, False)),
        (Mode.WORKSPACE, (True, True, True, False)),
        (Mode.ALL, (True, True, True, True)),
    ],
)
def test_the_mode_decides_by_risk(mode: Mode, runs: tuple[bool, ...]) -> None:
    """[A-20]"""
    assert tuple(allowed(mode, contract(risk)) for risk in Risk) == runs


def test_read_only_mode_runs_trusted_reads_alone() -> None:
    """[A-20, A-22]"""
    assert allowed(Mode.READ_ONLY, contract(Risk.LOW, read_only=True))
    declared = contract(Risk.LOW, read_only=True, provenance=Provenance.DECLARED)
    assert not allowed(Mode.READ_ONLY, declared)
    assert not allowed(Mode.READ_ONLY, contract(Risk.LOW, read_only=True), Risk.MEDIUM)


def test_a_call_is_judged_by_the_worse_of_its_tool_and_itself() -> None:
    """[T2-32]"""
    assert not allowed(Mode.WORKSPACE, contract(Risk.MEDIUM), Risk.DESTRUCTIVE)
    assert not allowed(Mode.WORKSPACE, contract(Risk.DESTRUCTIVE), Risk.LOW)


def test_a_denial_names_cause_mode_tool_and_risk() -> None:
    """[A-50, A-51]"""
    ruling = judge(
        call_id="c", contract=contract(Risk.DESTRUCTIVE), risk=Risk.LOW, mode=Mode.WORKSPACE
    )
    assert isinstance(ruling, Denied)
    assert ruling.cause == "mode"
    for word in ("workspace", "tool", "destructive"):
        assert word in ruling.sentence


def test_a_permit_is_for_one_call_and_only_the_gate_makes_it() -> None:
    """[A-34, law 5]"""
    ruling = judge(call_id="t1.c7", contract=contract(Risk.LOW), risk=Risk.LOW, mode=Mode.ALL)
    assert isinstance(ruling, Permit)
    assert (ruling.call_id, ruling.tool, ruling.risk) == ("t1.c7", "tool", Risk.LOW)
    with pytest.raises(TypeError, match="made by the gate"):
        Permit(object(), "t1.c7", "tool", Risk.LOW)


@pytest.mark.parametrize(
    ("contribution", "mode", "cause", "by"),
    [
        (Contribution.DENY, Mode.ALL, "plugin", "plugin:guard"),
        (Contribution.REQUIRE_APPROVAL, Mode.ALL, "plugin", "plugin:guard"),
        (Contribution.ALLOW, Mode.READ_ONLY, "mode", "mode"),
        (Contribution.NONE, Mode.READ_ONLY, "mode", "mode"),
        (Contribution.REQUIRE_APPROVAL, Mode.READ_ONLY, "mode", "mode"),
        (Contribution.ALLOW, Mode.ALL, None, None),
        (Contribution.NONE, Mode.ALL, None, None),
    ],
)
def test_what_hooks_say_can_refuse_a_call_and_never_lift_a_refusal(
    contribution: Contribution, mode: Mode, cause: str | None, by: str | None
) -> None:
    """[A-32, A-33, D-63]"""
    opinion = Opinion(
        rule="PreToolUse",
        source="plugin:guard",
        contribution=contribution,
        cause="plugin",
        sentence="no",
    )
    ruling = judge(
        call_id="t1.c1",
        contract=contract(Risk.MEDIUM),
        risk=Risk.MEDIUM,
        mode=mode,
        opinions=(opinion,),
    )
    if cause is None:
        assert isinstance(ruling, Permit)
    else:
        assert isinstance(ruling, Denied)
        assert (ruling.cause, ruling.by) == (cause, by)


@pytest.mark.parametrize(
    ("risk", "ceiling", "plugin", "cause"),
    [
        (Risk.HIGH, Risk.HIGH, "lint", None),
        (Risk.DESTRUCTIVE, Risk.HIGH, "lint", "capability"),
        (Risk.DESTRUCTIVE, Risk.DESTRUCTIVE, "lint", None),
        (Risk.DESTRUCTIVE, Risk.HIGH, None, None),
    ],
)
def test_a_plugins_tool_is_held_to_what_the_plugin_declares(
    risk: Risk, ceiling: Risk, plugin: str | None, cause: str | None
) -> None:
    """[A-40, A-41, P-20]: a ceiling lets nothing through that the mode refuses."""
    given = ToolContract(
        name="tool",
        description="",
        input_schema={},
        read_only=False,
        risk=risk,
        provenance=Provenance.DECLARED,
        plugin=plugin,
        ceiling=ceiling,
    )
    ruling = judge(call_id="t1.c1", contract=given, risk=risk, mode=Mode.ALL)
    assert (ruling.cause if isinstance(ruling, Denied) else None) == cause
    assert not allowed(Mode.READ_ONLY, given)
    if isinstance(ruling, Denied):
        assert ruling.by == "capability"
        assert ruling.sentence == (
            "tool is a tool of the plugin lint at risk destructive, and the plugin declares no "
            "more than high for it, so the call was not made."
        )
