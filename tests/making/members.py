"""Members of a pipeline, as a run sees them."""

from stella.manifest.stages import Step
from stella.turn.stages import Composition
from stella.turn.stages import Member
from stella.turn.stages import compose
from stella.verdict.rule import VerdictRule
from stella.verdict.rule import rule_of
from stella.wire.grade import Grade
from stella.wire.points import Point

FLIP = rule_of(
    requirements={"flips": "the test went from failing to passing"},
    flip="required",
    measurements=["code"],
    checks=[("flips", "code <= 0")],
)
BUDGET = rule_of(
    requirements={"small": "the number is small"},
    flip="not-applicable",
    measurements=["x"],
    checks=[("small", "x <= 0")],
)


def arbiter(name: str = "verify", rule: VerdictRule = FLIP, max_holds: int | None = 2) -> Member:
    """A member with the say over completion that answers after the turn."""
    return Member(
        name=name,
        wrapper=name,
        grade=Grade.ARBITER,
        points=frozenset({Point.AFTER_TURN}),
        max_holds=max_holds,
        rule=rule,
    )


def steering(
    name: str = "guide", stages: tuple[Step, ...] = (Step(name="execute"),), **more: object
) -> Member:
    """A member that answers before the turn, and after it when `after` is true."""
    points = {Point.BEFORE_TURN} | ({Point.AFTER_TURN} if more.get("after") else set())
    roles = more.get("roles", {})
    assert isinstance(roles, dict)
    return Member(
        name=name,
        wrapper=name,
        grade=Grade.STEERING,
        points=frozenset(points),
        stages=stages,
        roles=roles,
    )


def composed(*members: Member) -> Composition:
    """The members as one program."""
    return compose(members)
