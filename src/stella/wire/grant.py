"""What a plugin is given to look at: the candidate, and the test it may run in it [W-21, W-22].

The timeout, the resolved program and the reason of a baseline stay with the host [W-23].
"""

import msgspec

from stella.codec import Word


class TestBaseline(Word):
    """What the granted test said before the turn [W-48, G-21]."""

    __test__ = False
    NOT_RUN = "not-run"
    PASSED = "passed"
    FAILED = "failed"
    UNOBSERVED = "unobserved"


class TestPlan(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """The granted test exactly as the person typed it, and its result before the turn [W-22].

    `args` is omitted on the wire when empty; `baseline` is always written and reads as
    `not-run` when absent.
    """

    __test__ = False
    program: str
    args: tuple[str, ...] = ()
    # A factory, not a default: msgspec would leave a default out of the message.
    baseline: TestBaseline = msgspec.field(default_factory=lambda: TestBaseline.NOT_RUN)


class CandidateGrant(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """A tree a plugin may look at: its handle, its absolute root and the test plan [W-21]."""

    handle: str
    root: str
    test: TestPlan | None = None


HOST_TREE = "host-tree"
"""The handle of the person's own tree [G-1]."""
