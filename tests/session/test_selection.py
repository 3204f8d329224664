"""Which plugins the names of a run mean [D-1 to D-8]."""

from pathlib import Path

import pytest

from stella.errors import PipelineError
from stella.errors import UsageError
from stella.manifest.read import read_manifest
from stella.roster.drift import NotAccepted
from stella.roster.plugin import Plugin
from stella.roster.scope import Scope
from stella.session.selection import select

MEMBER = """
[loop]
participation = "steering"
points = ["before_turn"]
[runtime]
argv = ["true"]
timeout_secs = 1
"""
WRAPPER = """
[wrapper]
id = "{0}"
[[wrapper.stages]]
name = "execute"
"""


def plugin(name: str, wrapper: str | None = None, body: str = MEMBER) -> Plugin:
    text = f'name = "{name}"\n{body}{WRAPPER.format(wrapper) if wrapper else ""}'
    return Plugin(
        manifest=read_manifest(text.encode()).manifest,
        warnings=(),
        scope=Scope.USER,
        directory=Path("/plugins", name),
        record=None,
        acceptance=NotAccepted(why="test"),
    )


def roster(*plugins: Plugin) -> list[Plugin]:
    return sorted(plugins, key=lambda p: p.name)


def names(*wanted: str, among: list[Plugin]) -> list[str]:
    return [p.name for p in select(wanted, among).plugins]


@pytest.mark.behaviour("K-86", "K-64")
def test_a_plugin_without_a_wrapper_is_selected_by_its_name() -> None:
    """[M-36]"""
    assert names("b", "a", among=roster(plugin("a"), plugin("b"))) == ["b", "a"]


@pytest.mark.behaviour("D-2")
def test_a_plugin_with_a_wrapper_is_selected_by_either() -> None:
    among = roster(plugin("a", "a-v1"))
    assert names("a-v1", among=among) == names("a", among=among) == ["a"]


@pytest.mark.behaviour("D-2")
@pytest.mark.behaviour("K-85")
def test_an_id_goes_before_a_name_and_a_notice_says_so() -> None:
    """[D-2]"""
    selected = select(("b",), roster(plugin("a", "b"), plugin("b")))
    assert [p.name for p in selected.plugins] == ["a"]
    assert [code for code, _ in selected.notices] == ["id_and_name"]


@pytest.mark.behaviour("D-2")
def test_of_several_with_one_id_the_first_by_name_is_taken() -> None:
    """[D-2]"""
    selected = select(("x",), roster(plugin("b", "x"), plugin("a", "x"), plugin("c", "x")))
    assert [p.name for p in selected.plugins] == ["a"]
    (code, text), *rest = selected.notices
    assert (code, rest) == ("shared_id", [])
    assert "b, c" in text


def test_a_plugin_whose_id_is_its_name_needs_no_notice() -> None:
    assert select(("a",), roster(plugin("a", "a"))).notices == ()


@pytest.mark.behaviour("D-4")
@pytest.mark.behaviour("K-89")
def test_the_same_plugin_twice_names_both_spellings() -> None:
    """[D-4]"""
    with pytest.raises(UsageError, match='"a-v1" and "a" are the same plugin'):
        select(("a-v1", "a"), roster(plugin("a", "a-v1")))


@pytest.mark.behaviour("D-3")
@pytest.mark.behaviour("K-64", "K-89")
def test_an_unknown_name_gets_near_misses_and_the_whole_list() -> None:
    """[D-3]"""
    with pytest.raises(UsageError) as refused:
        select(("verifi",), roster(plugin("verify", "verify-v1"), plugin("zeta")))
    assert "did you mean verify?" in str(refused.value)
    assert "installed: verify, verify-v1, zeta" in str(refused.value)


def test_an_unknown_name_far_from_all_gets_the_list_once() -> None:
    with pytest.raises(UsageError) as refused:
        select(("qqqqqq",), roster(plugin("verify")))
    assert str(refused.value).count("verify") == 1


@pytest.mark.behaviour("D-3")
def test_where_nothing_is_installed_the_way_out_is_the_list_command() -> None:
    """[D-3]"""
    with pytest.raises(UsageError, match="stella plugin list"):
        select(("verify",), roster())


@pytest.mark.behaviour("D-8")
@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("", "NotAWrapper: a has grade none and points none"),
        (
            '[loop]\nparticipation = "observer"\n[runtime]\nargv = ["x"]\ntimeout_secs = 1\n',
            "NotAWrapper: a has grade observer and points none",
        ),
        (
            '[loop]\nparticipation = "steering"\npoints = ["before_turn"]\n',
            r"a has no \[runtime\]",
        ),
    ],
)
@pytest.mark.behaviour("K-64", "K-90")
def test_a_plugin_that_would_never_be_asked_is_refused(body: str, words: str) -> None:
    """[D-8]"""
    with pytest.raises(PipelineError, match=words):
        select(("a",), roster(plugin("a", body=body)))
