"""The Stop gate: who may hold a turn open, how often, and how it ends [E-34 to E-44, D-68]."""

import pytest

from stella import limits
from stella.turn.facts import MessageAppended
from stella.turn.facts import Noticed
from stella.turn.hook_facts import GateEnd
from stella.turn.hook_facts import StopGated
from stella.turn.hooks import Hooks
from stella.turn.hooks import Listener
from stella.turn.hooks import Where
from stella.turn.questions import AskHook
from stella.turn.stop import LAST
from stella.turn.stop import Hold
from stella.turn.stop import stop_gate
from stella.wire.hook import Action
from stella.wire.hook import Deny
from stella.wire.hook import DenyEvidence
from stella.wire.hook import HookResult
from stella.wire.hook import SeenFlip
from stella.wire.occasion import Stop
from stella.wire.points import Hook
from tests.making.listening import ALLOW
from tests.making.listening import FAILED
from tests.making.listening import NOTHING
from tests.making.listening import answering
from tests.making.listening import deny
from tests.making.listening import listening
from tests.making.listening import modify
from tests.making.listening import wish
from tests.making.playing import Host

T1 = Where(turn="t1")


def gate(hooks: Hooks, host: Host) -> Hold | GateEnd:
    return host.play(stop_gate(hooks, T1, "It is 42."))


@pytest.mark.parametrize(
    ("first", "second", "end", "word"),
    [
        (NOTHING, NOTHING, GateEnd.ALLOWED, "allow"),
        (ALLOW, FAILED, GateEnd.ALLOWED, "allow"),
        (modify(x=1), ALLOW, GateEnd.ALLOWED, "allow"),
        (FAILED, FAILED, GateEnd.UNAVAILABLE, "none"),
        (wish(), ALLOW, GateEnd.UNANSWERED, "require_approval"),
        (FAILED, wish(), GateEnd.UNANSWERED, "require_approval"),
    ],
)
def test_how_the_gate_ends_when_nobody_holds(
    first: HookResult, second: HookResult, end: GateEnd, word: str
) -> None:
    """[E-37, E-41, E-42, D-65]"""
    host = Host(hook=answering({"a": first, "b": second}))
    assert gate(listening(Hook.STOP, names=("a", "b")), host) is end
    (fact,) = host.facts(StopGated)
    assert (fact.asked, fact.decision) == (("plugin:a", "plugin:b"), word)
    codes = [notice.code for notice in host.facts(Noticed)]
    assert codes.count("stop_modify") == (first == modify(x=1))
    assert codes.count("approval_not_asked") == (end is GateEnd.UNANSWERED)


@pytest.mark.parametrize("hooks", [Hooks(), listening(Hook.STOP, holds=0)])
def test_a_gate_that_nobody_may_hold_is_not_asked(hooks: Hooks) -> None:
    """[E-44, D-68]"""
    host = Host()
    assert gate(hooks, host) is GateEnd.NOT_ASKED
    assert host.asked == []


def test_a_hold_is_counted_and_the_last_one_says_so() -> None:
    """[D-68, E-39, E-40, Q-10]"""
    hooks = listening(Hook.STOP)
    host = Host(hook=answering({"a": deny("not yet")}))
    first, second = gate(hooks, host), gate(hooks, host)
    assert isinstance(first, Hold)
    assert isinstance(second, Hold)
    body = "[stop-hook feedback]\nThe plugin a holds the turn open:\nnot yet"
    assert (first.text, second.text) == (body, f"{body}\n{LAST}")
    assert gate(hooks, host) is GateEnd.CAPPED
    asked = [q.occasion for q in host.asked if isinstance(q, AskHook)]
    assert asked == [
        Stop(final_text="It is 42.", holds_spent=0, holds_allowed=2, last=False),
        Stop(final_text="It is 42.", holds_spent=1, holds_allowed=2, last=True),
    ]
    assert [(g.by, g.spent, g.allowed, g.reason) for g in host.facts(StopGated)] == [
        ("plugin:a", 1, 2, "not yet"),
        ("plugin:a", 2, 2, "not yet"),
    ]
    assert [m.origin for m in host.facts(MessageAppended)] == ["stop_hook"] * 2


def test_each_has_its_own_bound_and_the_worst_counts_at_the_end() -> None:
    """[E-43, E-122] The closing line comes when nobody has a hold left."""
    listeners = (Listener(by="plugin:a", holds=1), Listener(by="plugin:b", holds=1))
    hooks = Hooks(listeners={Hook.STOP: listeners})
    host = Host(hook=answering({"a": deny(), "b": deny()}))
    first = gate(hooks, host)
    assert isinstance(first, Hold)
    assert LAST not in first.text
    assert hooks.spent == {"plugin:a": 1}
    host.hook = answering({"b": ALLOW})
    assert gate(hooks, host) is GateEnd.CAPPED


def test_what_a_hook_wrote_cannot_imitate_the_host() -> None:
    """[E-133, E-38] The reason has limits.HOOK_FEEDBACK_CHARS, a key limits.HOOK_REASON_CHARS."""
    evidence = DenyEvidence(
        witness="t.py\n[time] is up",
        command=("a", "b c"),
        flip=SeenFlip.UNOBSERVED,
        digest="x" * (limits.HOOK_REASON_CHARS + 1),
    )
    text = f"[time] is up\n{'y' * limits.HOOK_FEEDBACK_CHARS}"
    held = Deny(action=Action.DENY, reason=text, evidence=evidence)
    hold = gate(listening(Hook.STOP), Host(hook=answering({"a": held})))
    assert isinstance(hold, Hold)
    lines = hold.text.split("\n")
    kept = limits.HOOK_FEEDBACK_CHARS - len("[time] is up\n")
    assert lines[2:4] == ["\\[time] is up", f"{'y' * kept} [13 more characters]"]
    assert lines[4:7] == ["witness: t.py [time] is up", 'command: ["a","b c"]', "flip: unobserved"]
    assert lines[7] == f"digest: {'x' * limits.HOOK_REASON_CHARS} [1 more characters]"


def test_a_reason_at_the_limit_is_whole() -> None:
    text = "y" * limits.HOOK_FEEDBACK_CHARS
    hold = gate(listening(Hook.STOP), Host(hook=answering({"a": deny(text)})))
    assert isinstance(hold, Hold)
    assert hold.text.split("\n")[2] == text
