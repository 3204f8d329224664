import pytest

from stella import limits
from stella.manifest.read import examine
from tests.making.manifests import broken
from tests.making.manifests import steering
from tests.making.manifests import warned

OBSERVER = """\
name = "x"
[loop]
participation = "observer"
events = [{}]
[runtime]
argv = ["x"]
timeout_secs = 1
"""
CAPABILITY = '[[capabilities]]\ntool = "t"\nrisk = {}\npurpose = "p"\n'


@pytest.mark.behaviour("M-20")
def test_an_event_nobody_emits_is_worth_a_warning() -> None:
    """[M-20, K-84]"""
    text = OBSERVER.format('"tool.call.complete"')
    assert broken(text) == []
    (warning,) = examine(text.encode()).warnings
    assert (warning.rule, warning.name) == ("M-20", "UnknownEventName")
    assert warning.near == ("tool.call.completed",)


def test_a_pattern_that_is_none_or_may_match_is_not_worth_a_warning() -> None:
    """[M-20]"""
    assert warned(OBSERVER.format('"*", "nowhere.*", "plugin.a.b", "host.a.b", "A"')) == []
    assert warned(OBSERVER.format('"nothing-like-it"')) == ["M-20"]


@pytest.mark.behaviour("M-37")
def test_an_id_the_flag_cannot_name_is_worth_a_warning() -> None:
    """[M-37]"""
    stages = '[[wrapper.stages]]\nname = "execute"\n'
    assert warned(steering(f'[wrapper]\nid = "a, b"\n{stages}')) == ["M-37"]
    assert warned(steering(f'[wrapper]\nid = "a"\n{stages}')) == []
    assert warned(steering(f'[wrapper]\nid = " "\n{stages}')) == []


def test_an_unknown_risk_is_worth_a_warning_that_says_how_it_is_read() -> None:
    """[M-52, K-24, K-83]"""
    text = f'name = "x"\n{CAPABILITY}'
    (near,) = examine(text.format('"hgh"').encode()).warnings
    assert near.near == ("high",)
    assert 'read as "destructive"; did you mean high?' in near.message
    (far,) = examine(text.format('"catastrophic"').encode()).warnings
    assert far.message.endswith("grades: low, medium, high, destructive.")
    assert warned(text.format('"destructive"')) == []
    assert broken(text.format("1")) == ["R-1 wrong-type"]
    assert warned(text.format("1")) == []


def test_a_manifest_that_does_not_load_is_warned_about_all_the_same() -> None:
    """[I-64]"""
    text = f'name = " "\n{CAPABILITY.format(chr(34) + "hgh" + chr(34))}'
    assert broken(text) == ["R-2"]
    assert warned(text) == ["M-52"]


def test_the_first_unknown_events_alone_are_told_what_may_be_meant() -> None:
    """[M-8]: limits.NEAR_LOOKUPS and limits.NEAR_CHARS; a list may hold very many."""
    names = [f'"session.{"x" * limits.NEAR_CHARS}"', *['"session.create"'] * limits.NEAR_LOOKUPS]
    warnings = examine(OBSERVER.format(", ".join(names)).encode()).warnings
    assert [each.near != () for each in warnings] == [
        False,
        *[True] * (limits.NEAR_LOOKUPS - 1),
        False,
    ]


def test_the_first_unknown_risks_alone_are_told_what_may_be_meant() -> None:
    """[M-8]: limits.NEAR_LOOKUPS"""
    tools = "".join(
        f'[[capabilities]]\ntool = "t{n}"\nrisk = "hgh"\npurpose = "p"\n'
        for n in range(limits.NEAR_LOOKUPS + 1)
    )
    warnings = examine(f'name = "x"\n{tools}'.encode()).warnings
    assert [each.near for each in warnings] == [("high",)] * limits.NEAR_LOOKUPS + [()]
