import pytest

from tests.making.manifests import broken
from tests.making.manifests import faults
from tests.making.manifests import loaded
from tests.making.manifests import steering

RUNTIME = '[runtime]\nargv = ["x"]\ntimeout_secs = 1\n'


@pytest.mark.parametrize("name", ["", " ", "\\t\u00a0"])
def test_a_blank_name_is_refused(name: str) -> None:
    """[R-2]"""
    assert broken(f'name = "{name}"') == ["R-2"]


def test_an_arbiter_lists_stop() -> None:
    """[R-19, K-4]"""
    text = 'name = "x"\n[loop]\nparticipation = "arbiter"\nhooks = []\n[requirements]\na = "b"\n'
    assert broken(text) == ["R-19"]


def test_nobody_asks_for_stop_in_a_list_that_did_not_decode() -> None:
    """[M-5, Q-7]"""
    head = 'name = "x"\n[loop]\nparticipation = "arbiter"\n'
    tail = '\n[requirements]\na = "b"\n'
    assert broken(f'{head}hooks = ["Sotp"]{tail}') == ["R-1 unknown-token"]
    assert broken(f'{head}hooks = ["TurnEnd", 1]{tail}') == ["R-1 wrong-type"]
    assert broken(f'{head}hooks = "Stop"{tail}') == ["R-1 wrong-type"]


def test_calls_need_a_point_unless_one_may_be_meant() -> None:
    """[R-10, M-5, K-7]"""
    assert broken(steering("", 'calls = ["recall"]')) == ["R-10"]
    assert broken(steering("", 'calls = ["recall"]\npoints = ["before_trun"]')) == [
        "R-1 unknown-token"
    ]


def test_a_bound_needs_what_it_bounds_unless_that_may_be_meant() -> None:
    """[R-11, R-13, M-5]"""
    points = 'points = ["before_turn"]\n'
    assert broken(steering("", "max_calls = 2")) == ["R-11"]
    assert broken(steering("", f'{points}max_calls = 2\ncalls = ["recal"]')) == [
        "R-1 unknown-token"
    ]
    assert broken(steering("", f'{points}max_fanout_width = 2\ncalls = ["recall"]')) == ["R-13"]
    assert broken(steering("", f'{points}max_fanout_width = 2\ncalls = ["recall", "fan"]')) == [
        "R-1 unknown-token"
    ]


def test_a_bound_of_nothing_and_for_nothing_breaks_both_rules() -> None:
    """[R-11, R-12, R-13, R-14]"""
    assert broken(steering("", "max_calls = 0\nmax_fanout_width = 0")) == [
        "R-11",
        "R-12",
        "R-13",
        "R-14",
    ]


@pytest.mark.behaviour("M-10")
def test_bounds_of_one_and_of_the_widest_u32_load() -> None:
    """[M-10, M-15]"""
    loop = loaded(
        steering(
            "",
            'points = ["before_turn"]\ncalls = ["candidate_fanout"]\n'
            "max_calls = 4294967295\nmax_fanout_width = 1",
        )
    ).loop
    assert (loop.max_calls, loop.max_fanout_width) == (4294967295, 1)


def test_a_plus_sign_is_not_kept_by_the_reader() -> None:
    """[M-10, Q-21]"""
    text = 'points = ["before_turn"]\ncalls = ["recall"]\nmax_calls = +2'
    assert loaded(steering("", text)).loop.max_calls == 2


@pytest.mark.parametrize("hook", ["PreIssueWork", "PostIssueWork"])
def test_a_hook_no_plugin_receives_has_a_message_of_its_own(hook: str) -> None:
    """[M-16, R-4, K-26]"""
    found = faults(steering("", f'hooks = ["{hook}"]'))
    assert [each.rule for each in found] == ["R-4"]
    assert "no plugin receives it" in found[0].message


def test_a_hook_no_plugin_receives_counts_as_a_hook_and_repeats() -> None:
    """[R-3, R-4, R-5]"""
    text = 'name = "x"\n[loop]\nhooks = ["PreIssueWork", "PreIssueWork"]\n'
    assert broken(text) == ["R-4", "R-3", "R-4", "R-5"]


@pytest.mark.behaviour("M-19")
def test_events_need_a_process_unless_one_may_be_meant() -> None:
    """[R-80, M-19, K-84]"""
    head = 'name = "x"\n[loop]\nparticipation = "observer"\nevents = ["*"]\n'
    assert broken(head) == ["R-80"]
    assert broken(head + RUNTIME) == []
    assert broken(f"runtime = 1\n{head}") == ["R-1 wrong-type"]


def test_each_case_of_events_has_its_rule() -> None:
    """[K-84]"""
    observer = 'name = "x"\n[loop]\nparticipation = "observer"\n'
    assert broken(f'{observer}events = ["a.*.b"]\n{RUNTIME}') == ["R-77"]
    assert broken(f'{observer}events = ["*", "*"]\n{RUNTIME}') == ["R-78"]
    assert broken(f'name = "x"\n[loop]\nevents = ["*"]\n{RUNTIME}') == ["R-79", "R-54"]


def test_holds_are_an_arbiters_and_at_least_one() -> None:
    """[R-20, R-21]"""
    assert broken(steering("", "max_holds = 1")) == ["R-20"]
    assert broken(steering("", "max_holds = 0")) == ["R-20", "R-21"]
