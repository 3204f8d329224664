from tests.making.manifests import broken


def test_a_driver_needs_no_grade_and_may_ask_for_nothing() -> None:
    """[M-47, M-48, K-25]"""
    assert broken('name = "x"\n[driver]\n') == []
    assert broken('name = "x"\n[driver]\ncalls = ["work_start"]\nmax_calls = 1\n') == []


def test_a_verb_stands_once() -> None:
    """[R-15]"""
    assert broken('name = "x"\n[driver]\ncalls = ["work_start", "work_start"]\n') == ["R-15"]


def test_a_bound_needs_verbs_unless_one_may_be_meant() -> None:
    """[R-16, M-5]"""
    assert broken('name = "x"\n[driver]\nmax_calls = 1\n') == ["R-16"]
    assert broken('name = "x"\n[driver]\ncalls = ["release"]\nmax_calls = 1\n') == [
        "R-1 unknown-token"
    ]


def test_a_bound_of_nothing_is_refused() -> None:
    """[R-17]"""
    assert broken('name = "x"\n[driver]\ncalls = ["work_start"]\nmax_calls = 0\n') == ["R-17"]
