"""The stages of a run: several plugins in one order, each stage run or skipped [D-20 to D-38].

Composition happens once and before any spend; whether a stage runs is decided as late as
possible, because an earlier stage may have published what a later one reads.
"""

from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field

from stella.errors import PipelineError
from stella.manifest.stages import EXECUTE
from stella.manifest.stages import Step
from stella.verdict.again import Grant
from stella.verdict.rule import VerdictRule
from stella.wire.before_turn import PublishedSignal
from stella.wire.grade import Grade
from stella.wire.points import COUNTS
from stella.wire.points import HOST_STAGES
from stella.wire.points import POST_TURN_STAGES
from stella.wire.points import PUBLISHER
from stella.wire.points import Call
from stella.wire.points import Point
from stella.wire.points import Signal

Table = Mapping[Signal, bool | int]
"""What conditions read: every one of the 15 signals and its value now [D-12, D-24]."""

HOST_OWNED = frozenset(
    {signal for signal, publisher in PUBLISHER.items() if publisher is None}
    | {Signal.MUTATING_ACTIONS, Signal.DIFF_LINES}
)
"""The signals whose value is the host's own, whoever publishes another [D-25]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A selected plugin as the run sees it: what it answers, where it stands, what it may say.

    `wrapper` is its value on the wire; `points` are those it may answer and `calls` those it
    may make [M-17, D-37]; `roles` gives each of its roles the tier it declares [M-31].
    """

    name: str
    wrapper: str
    grade: Grade
    points: frozenset[Point]
    stages: tuple[Step, ...] = (Step(name=EXECUTE),)
    roles: Mapping[str, str] = field(default_factory=dict)
    calls: frozenset[Call] = frozenset()
    max_calls: int | None = None
    max_fanout_width: int | None = None
    max_holds: int | None = None
    rule: VerdictRule = field(default_factory=VerdictRule)

    def runs(self, stage: str, table: Table) -> bool:
        """Return whether this member runs `stage` under the signals of `table` [D-20]."""
        return any(each.name == stage and each.runs(table) for each in self.stages)


@dataclass(frozen=True, slots=True, kw_only=True)
class Composition:
    """The members of a run in selection order, and the one order of their stages [D-34]."""

    members: tuple[Member, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]

    @property
    def variant(self) -> str:
        """The recorded name of the composition [D-38]."""
        return ",".join(member.wrapper for member in self.members)

    @property
    def arbiter(self) -> Member | None:
        """The member with the say over completion, if any; there is at most one [D-35]."""
        return next((m for m in self.members if m.grade is Grade.ARBITER), None)

    @property
    def rule(self) -> VerdictRule:
        """The arbiter's rule; without one nothing is required [D-36]."""
        return self.arbiter.rule if self.arbiter else VerdictRule()

    @property
    def grant(self) -> Grant:
        """Whose holds count: the arbiter's, without one the first member's [D-36]."""
        holder = self.arbiter or self.members[0]
        return Grant(participation=holder.grade, max_holds=holder.max_holds)


def compose(members: Iterable[Member]) -> Composition:
    """Return the members as one program, or raise `PipelineError` [D-34 to D-37].

    The error's first word is `EmptyComposition`, `TwoArbiters` or `ConflictingStageOrder`.
    """
    selected = tuple(members)
    if not selected:
        raise PipelineError("EmptyComposition: no plugin is selected; name one with --pipeline")
    arbiters = [m.name for m in selected if m.grade is Grade.ARBITER]
    if len(arbiters) > 1:
        raise PipelineError(
            f'TwoArbiters: "{arbiters[0]}" and "{arbiters[1]}" both claim the say over when a '
            "turn is finished; select one of them"
        )
    order = _merged(selected)
    before, after = _split(order)
    return Composition(members=selected, before=before, after=after)


def _merged(members: tuple[Member, ...]) -> tuple[str, ...]:
    """Merge the stage orders by cursor insertion [D-34]."""
    order: list[str] = []
    owner: dict[str, str] = {}
    for member in members:
        cursor = 0
        for stage in member.stages:
            if stage.name not in order:
                order.insert(cursor, stage.name)
                owner[stage.name] = member.name
                cursor += 1
                continue
            place = order.index(stage.name)
            if place < cursor:
                earlier = order[cursor - 1]
                raise PipelineError(
                    f'ConflictingStageOrder: "{member.name}" has "{stage.name}" after '
                    f'"{earlier}", "{owner[stage.name]}" has it before; select one of them'
                )
            cursor = place + 1
    return tuple(order)


def _split(order: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the pre-turn and the post-turn stages, each in merged order [D-22]."""
    before: list[str] = []
    after: list[str] = []
    turned = False
    for stage in order:
        own = stage not in HOST_STAGES
        (after if stage in POST_TURN_STAGES or (own and turned) else before).append(stage)
        turned = turned or stage == EXECUTE or stage in POST_TURN_STAGES
    return tuple(before), tuple(after)


def opening_table(*, test_command: bool, metered: bool) -> dict[Signal, bool | int]:
    """Return the signals before round 0 [D-12]."""
    table: dict[Signal, bool | int] = {s: 0 if s in COUNTS else False for s in Signal}
    table[Signal.TEST_COMMAND] = test_command
    table[Signal.CANDIDATES] = 1
    table[Signal.BUDGET_METERED] = metered
    return table


def value_of(published: PublishedSignal) -> bool | int:
    """Return what was published, a boolean or a count."""
    value = published.value
    return bool(value.boolean) if value.count is None else value.count


def mistyped(published: PublishedSignal) -> bool:
    """Return whether a value is not of its signal's kind [D-29]."""
    return (published.value.count is not None) != (published.signal in COUNTS)
