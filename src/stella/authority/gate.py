"""The one place where a tool call is judged, and the only maker of a `Permit` [A-30 to A-36].

A toolbox runs nothing without a permit, so a path that forgets the gate cannot run a tool.
It judges by mode, risk and what hooks said; rules and approvals join the same function.
"""

from dataclasses import dataclass
from typing import Final

from stella.authority.contract import ToolContract
from stella.authority.decision import Contribution
from stella.authority.decision import Opinion
from stella.authority.decision import deciding
from stella.authority.risk import Risk
from stella.codec import Word


class Mode(Word):
    """How much a run may do without being asked, tightest first [A-20, A-24]."""

    READ_ONLY = "read-only"
    WORKSPACE = "workspace"
    ALL = "all"


_MOST: Final = {Mode.READ_ONLY: Risk.LOW, Mode.WORKSPACE: Risk.HIGH, Mode.ALL: Risk.DESTRUCTIVE}
_MAKER: Final = object()

CAPABILITY: Final = "capability"
"""The cause of a refusal because a plugin did not declare as much [A-51]."""


class Permit:
    """Proof that the gate allowed one call; only `judge` can make one [A-34]."""

    __slots__ = ("call_id", "risk", "tool")

    def __init__(self, maker: object, call_id: str, tool: str, risk: Risk) -> None:
        if maker is not _MAKER:
            message = "a permit is made by the gate, never by hand"
            raise TypeError(message)
        self.call_id = call_id
        self.tool = tool
        self.risk = risk


@dataclass(frozen=True, slots=True, kw_only=True)
class Denied:
    """The call was not made: the cause from the closed list, and the sentence for it [A-50].

    `by` is whose word decided, for the trace.
    """

    cause: str
    sentence: str
    by: str = "mode"


def judge(
    *,
    call_id: str,
    contract: ToolContract,
    risk: Risk,
    mode: Mode,
    opinions: tuple[Opinion, ...] = (),
) -> Permit | Denied:
    """Return a permit for this one call, or why it is denied [A-20, A-32].

    `risk` is the grade of this very call, at least the contract's: writing what steers later
    sessions is graded higher than the tool itself [T2-32]. `opinions` are those of hooks, in
    the order they were given; an allow among them lifts nothing [A-33]. There is nobody to ask
    in this release, so a wish for approval refuses the call [A-63, D-65].
    """
    worst = max(contract.risk, risk, key=lambda grade: grade.rank)
    decided = deciding(
        (*opinions, *_of_declaration(contract, worst), _of_mode(contract, worst, mode))
    )
    assert decided is not None  # noqa: S101  # the mode always says something
    if decided.contribution is Contribution.ALLOW:
        return Permit(_MAKER, call_id, contract.name, worst)
    return Denied(cause=decided.cause, sentence=decided.sentence, by=decided.source)


def _of_declaration(contract: ToolContract, risk: Risk) -> tuple[Opinion, ...]:
    """Return the refusal of a plugin's tool that is worse than the plugin declares [A-40, A-41]."""
    if contract.plugin is None or risk.rank <= contract.ceiling.rank:
        return ()
    sentence = (
        f"{contract.name} is a tool of the plugin {contract.plugin} at risk {risk.value}, and the"
        f" plugin declares no more than {contract.ceiling.value} for it, so the call was not made."
    )
    return (
        Opinion(
            rule=f"capability {contract.name}",
            source=CAPABILITY,
            contribution=Contribution.DENY,
            cause=CAPABILITY,
            sentence=sentence,
        ),
    )


def _of_mode(contract: ToolContract, risk: Risk, mode: Mode) -> Opinion:
    allowed = risk.rank <= _MOST[mode].rank
    if mode is Mode.READ_ONLY:
        allowed = allowed and contract.trusted_read_only
    return Opinion(
        rule=f"mode {mode.value}",
        source="mode",
        contribution=Contribution.ALLOW if allowed else Contribution.DENY,
        cause="mode",
        sentence=(
            f"The permission mode of this run ({mode.value}) does not allow {contract.name} "
            f"at risk {risk.value}, so the call was not made."
        ),
    )
