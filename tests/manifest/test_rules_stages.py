import pytest

from stella import limits
from stella.manifest.stages import BOUNDARY
from stella.wire.points import HOST_STAGES
from tests.making.manifests import broken
from tests.making.manifests import faults
from tests.making.manifests import steering
from tests.making.manifests import wrapper

ENTRY = "[[wrapper.stages]]\n"


def test_a_subloop_has_named_stages_that_stand_once() -> None:
    """[R-38, R-39, R-40, M-29]"""
    assert broken(steering("[subloop]\nstages = []")) == ["R-38"]
    assert broken(steering("[subloop]\nstages = [1]")) == ["R-1 wrong-type"]
    assert broken(steering('[subloop]\nstages = ["a", " ", " ", "a"]')) == ["R-39", "R-39", "R-40"]
    assert broken(steering("[subloop]")) == ["R-1 missing-key"]


def test_roles_need_a_subloop_unless_one_may_be_meant() -> None:
    """[R-61, R-62, M-30]"""
    roles = '[roles.b]\ntier = " "\n[roles.a]\ntier = "t"\n'
    subloop = '[subloop]\nstages = ["a"]\n'
    assert broken(steering(roles)) == ["R-61", "R-62"]
    assert broken(steering(subloop + roles)) == ["R-62"]
    assert broken("subloop = 1\n" + steering(roles)) == ["R-1 wrong-type", "R-62"]
    assert broken(steering(subloop + "[roles.a]\ntier = 1\n")) == ["R-1 wrong-type"]
    assert broken(steering("[roles]")) == []


def test_a_wrapper_has_an_id_and_stages() -> None:
    """[R-42, R-43, M-35]"""
    assert broken(steering('[wrapper]\nid = " "\nstages = []')) == ["R-42", "R-43"]
    assert broken(steering("[wrapper]\nid = 'a'\nstages = [1]")) == ["R-1 wrong-type"]
    assert broken(steering("[wrapper]")) == ["R-1 missing-key", "R-1 missing-key"]


@pytest.mark.behaviour("M-38")
@pytest.mark.parametrize("name", HOST_STAGES)
def test_every_host_stage_may_be_named(name: str) -> None:
    """[M-38]"""
    assert broken(wrapper((name, None))) == []


@pytest.mark.parametrize("name", BOUNDARY)
def test_another_spelling_of_a_host_stage_says_which_to_write(name: str) -> None:
    """[R-45, K-19]"""
    found = faults(wrapper((name, None)))
    assert [each.rule for each in found] == ["R-45"]
    assert found[0].fix == f'write "{BOUNDARY[name]}"'


@pytest.mark.behaviour("M-40")
def test_a_malformed_stage_is_told_which_host_stage_is_near() -> None:
    """[R-46, M-40]"""
    found = faults(wrapper(("Execute", None)))
    assert found[0].near == ("execute",)
    assert found[0].message.endswith("did you mean execute?")


def test_a_blank_stage_name_hides_only_what_is_about_the_name() -> None:
    """[R-44, M-5, Q-7]"""
    assert broken(wrapper(("", "plans>0"), ("", None))) == ["R-44", "R-48", "R-44"]


def test_a_stage_whose_name_did_not_decode_is_judged_by_its_condition() -> None:
    """[M-5]"""
    text = steering(f'[wrapper]\nid = "w"\n{ENTRY}name = 1\nif = "plans>0"\n')
    assert broken(text) == ["R-1 wrong-type", "R-48"]


def test_a_stage_is_read_before_the_graph_is() -> None:
    """[M-44, M-62]"""
    stages = (("plan", None), ("plan", "plans>0"), ("Plan", "plans"))
    assert broken(wrapper(*stages)) == ["R-47", "R-48", "R-46", "R-51"]


def test_an_unknown_signal_lists_all_and_names_the_near_ones() -> None:
    """[R-49]"""
    found = faults(wrapper(("triage", None), ("plan", "plan")))
    assert found[0].near == ("plans",)
    assert found[0].message.count(", ") == 14
    assert broken(wrapper(("plan", "questoins > 0"))) == ["R-49"]


def test_facts_of_the_host_may_be_read_anywhere() -> None:
    """[M-44]"""
    stages = (
        ("plan", "test-command"),
        ("scope", "no-budget-metered"),
        ("recall", "candidates > 1"),
    )
    assert broken(wrapper(*stages)) == []


@pytest.mark.behaviour("M-44")
def test_a_publisher_stands_earlier_and_always_runs() -> None:
    """[R-51, R-52, M-44, K-16, K-17, K-18]"""
    assert broken(wrapper(("triage", None), ("plan", "no-plans"))) == []
    assert broken(wrapper(("triage", "test-command"), ("plan", "plans"))) == ["R-52"]
    assert broken(wrapper(("plan", "plans"), ("triage", None))) == ["R-51"]
    assert broken(wrapper(("plan", "plans"))) == ["R-51"]
    assert broken(wrapper(("triage", "plans"))) == ["R-51"]


def test_a_publisher_whose_condition_is_wrong_still_has_one() -> None:
    """[R-52, Q-7]"""
    assert broken(wrapper(("triage", "plans>0"), ("plan", "plans"))) == ["R-48", "R-52"]


@pytest.mark.behaviour("M-42")
def test_a_contributed_stage_publishes_nothing() -> None:
    """[M-42]"""
    assert broken(wrapper(("my-triage", None), ("plan", "plans"))) == ["R-51"]


@pytest.mark.parametrize(
    "earlier",
    [
        f"{ENTRY}name = 1\n",
        f'{ENTRY}name = "triage"\nif = 1\n',
        f"{ENTRY}",
    ],
)
def test_a_stage_before_it_that_did_not_decode_may_be_the_publisher(earlier: str) -> None:
    """[M-5]"""
    text = steering(f'[wrapper]\nid = "w"\n{earlier}{ENTRY}name = "plan"\nif = "plans"\n')
    assert [rule.partition(" ")[0] for rule in broken(text)] == ["R-1"]


def test_an_entry_that_is_no_table_may_be_the_publisher_of_what_follows_alone() -> None:
    """[M-5]"""
    plan = '{ name = "plan", if = "plans" }'
    scope = '{ name = "scope", if = "plans" }'
    after = steering(f'[wrapper]\nid = "w"\nstages = [1, {plan}, {scope}]\n')
    assert broken(after) == ["R-1 wrong-type"]
    before = steering(f'[wrapper]\nid = "w"\nstages = [{plan}, 1, {scope}]\n')
    assert broken(before) == ["R-1 wrong-type", "R-51"]


def test_a_condition_that_did_not_decode_is_not_judged() -> None:
    """[M-5]"""
    text = steering(f'[wrapper]\nid = "w"\n{ENTRY}name = "plan"\nif = 1\n')
    assert broken(text) == ["R-1 wrong-type"]


@pytest.mark.parametrize(
    ("row", "near"),
    [('name = "Exec{}ute"', ("execute",)), ('name = "a{}"\nif = "plns"', ("plans",))],
)
def test_the_first_wrong_stages_alone_are_told_what_may_be_meant(
    row: str, near: tuple[str, ...]
) -> None:
    """[M-8]: limits.NEAR_LOOKUPS"""
    rows = "".join(
        f"[[wrapper.stages]]\n{row.format(number)}\n" for number in range(limits.NEAR_LOOKUPS + 1)
    )
    found = [each for each in faults(steering(f'[wrapper]\nid = "a"\n{rows}')) if each.near]
    assert len(found) == limits.NEAR_LOOKUPS
    assert {each.near for each in found} == {near}
