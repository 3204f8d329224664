"""[S2-4, S2-20 to S2-28] Every key of a file is acted on, ignored with a notice, or a fault."""

import re
from typing import Any

import pytest

from stella.settings.sections import SECTIONS
from stella.settings.sections import Looked
from stella.settings.sections import Scope
from stella.settings.sections import looked_over


def troubles(tree: dict[str, Any], scope: Scope = Scope.USER) -> list[str]:
    return [f"{each.at}: {each.message}" for each in looked_over(tree, scope).troubles]


def test_what_is_acted_on_is_left_for_the_codec() -> None:
    tree = {
        "meta": {"schema_version": 1, "scope": "user"},
        "model": {"default": "a"},
        "tiers": {"cheap": "b"},
        "pipeline": {"default": "v", "max_holds": 1, "test_timeout_secs": 5, "tiers": {}},
    }
    assert looked_over(tree, Scope.USER) == Looked(tree=tree)
    assert looked_over({"plugins": {"any": 1}}, Scope.USER).tree == {"plugins": {"any": 1}}
    wrong = {"pipeline": 3, "model": [], "plugins": "off"}
    assert looked_over(wrong, Scope.PROJECT) == Looked(tree=wrong)


LATER = [
    name
    for name, section in SECTIONS.items()
    if not section.acted and not section.free and name != "authority"
]


@pytest.mark.behaviour("S2-20.later")
@pytest.mark.parametrize("name", LATER)
@pytest.mark.parametrize("value", [{}, 3, {"x": 1}])
def test_a_section_that_is_not_acted_on_is_a_fault_that_says_so(name: str, value: object) -> None:
    """[S2-20 to S2-27]"""
    assert any(
        re.fullmatch(f"{name}: this release does not act on it yet; .*", each)
        for each in troubles({name: value})
    )


@pytest.mark.parametrize("key", ["silence_timeout_secs", "temperature", "effort"])
def test_a_key_that_is_not_acted_on_is_a_fault_that_says_so(key: str) -> None:
    """[S2-20]"""
    looked = looked_over({"model": {key: 1, "default": "a"}}, Scope.USER)
    (trouble,) = looked.troubles
    assert (trouble.section, trouble.at) == ("model", f"model.{key}")
    assert "does not act on it yet" in trouble.message
    assert looked.tree == {"model": {"default": "a"}}


@pytest.mark.behaviour("S2-4.near")
@pytest.mark.parametrize(
    ("tree", "told"),
    [
        ({"pipelin": {}}, 'pipelin: unknown section "pipelin"; did you mean pipeline?'),
        ({"modle": 1}, 'modle: unknown section "modle"; did you mean model?'),
        ({"pipeline": {"max-hold": 1}}, 'unknown key "max-hold"; did you mean max_holds?'),
        ({"tiers": {"verifer": "x"}}, 'unknown key "verifer"; did you mean verifier?'),
        ({"budget": {"run_usb": 1}}, 'unknown key "run_usb"; did you mean run_usd?'),
        ({"model": {"x\x1b": 1}}, 'model.x\\u{1B}: unknown key "x\\u{1B}"; legal here: default,'),
        ({"nothing_like_it": {}}, "legal here: meta, model,"),
        ({"mcp": {}}, "servers are declared in mcp.toml"),
    ],
)
def test_an_unknown_word_is_a_fault_with_near_ones(tree: dict[str, Any], told: str) -> None:
    """[S2-4, S2-28, M-8]"""
    for scope in (Scope.USER, Scope.PROJECT):
        assert told in troubles(tree, scope)[0]


def test_what_may_not_stand_in_the_persons_file_is_a_fault_that_names_its_scopes() -> None:
    """[S2-28]"""
    assert troubles({"authority": {"max_mode": "ask"}}) == [
        "authority: it may not stand in the user file; it belongs to: managed"
    ]


@pytest.mark.behaviour("S2-28")
@pytest.mark.parametrize(
    "name",
    [
        *("providers", "prices", "engine", "agent", "workspace", "reward", "detect", "serve"),
        "authority",
    ],
)
def test_what_a_projects_file_says_to_no_effect_is_ignored(name: str) -> None:
    """[S2-28, A-70]"""
    assert looked_over({name: {}}, Scope.PROJECT) == Looked(ignored=(name,))


@pytest.mark.parametrize("name", ["hooks"])
def test_what_needs_trust_and_comes_later_is_apart(name: str) -> None:
    """[A-70, A-72]"""
    assert looked_over({name: {}}, Scope.PROJECT) == Looked(later=(name,))


def test_a_later_key_of_what_needs_trust_is_ignored_in_a_projects_file() -> None:
    """[A-70]"""
    tree = {"model": {"temperature": 1.0, "default": "a"}}
    assert looked_over(tree, Scope.PROJECT) == Looked(
        tree={"model": {"default": "a"}}, later=("model.temperature",)
    )


@pytest.mark.parametrize("name", ["permissions", "tools", "budget", "redaction"])
def test_what_would_tighten_is_never_ignored(name: str) -> None:
    """[A-70] A rule that forbids, in a release that cannot apply it, ends the run."""
    assert "does not act on it yet" in troubles({name: {}}, Scope.PROJECT)[0]
