import pytest

from stella import limits
from stella.consent.powers import shown_lists
from stella.consent.text import Resolution
from stella.consent.text import consent_text
from stella.wire.points import Hook
from tests.making.manifests import ARBITER
from tests.making.manifests import loaded
from tests.making.manifests import steering
from tests.making.manifests import wrapper

POINT = 'points = ["before_turn"]\n'


def lines(text: str, resolution: Resolution | None = None) -> list[str]:
    """Return the lines of the consent text of a manifest."""
    return consent_text(loaded(text), resolution or Resolution()).split("\n")


@pytest.mark.parametrize(
    ("max_holds", "words"),
    [
        ("", "as often as the host allows"),
        ("max_holds = 1", "once per run"),
        ("max_holds = 2", "up to 2 times per run"),
        (f"max_holds = {limits.HOLDS_MAX}", "up to 8 times per run"),
        (
            f"max_holds = {limits.HOLDS_MAX + 1}",
            "up to 9 times per run (the host allows at most 8)",
        ),
    ],
)
def test_how_often_an_arbiter_may_hold(max_holds: str, words: str) -> None:
    """[C-10, M-21, B44]"""
    text = ARBITER.replace("[requirements]", f"{max_holds}\n[requirements]")
    assert f"  - may hold a finished turn open: {words}" in lines(text)


@pytest.mark.parametrize(
    ("calls", "max_calls", "words"),
    [
        ('["recall"]', "", "as many requests per answer as the host allows"),
        ('["recall"]', "max_calls = 1", "at most 1 request per answer"),
        (
            '["recall"]',
            f"max_calls = {limits.HOST_CALLS_PER_POINT}",
            "at most 8 requests per answer",
        ),
        (
            '["recall"]',
            f"max_calls = {limits.HOST_CALLS_PER_POINT + 1}",
            "at most 9 requests per answer (the host allows at most 8)",
        ),
        ('["child_turn"]', "", "as many requests per answer as the host allows"),
        (
            '["child_turn"]',
            "max_calls = 1",
            "at most 1 request per answer and 1 model turn per run",
        ),
        (
            '["child_turn"]',
            f"max_calls = {limits.CHILD_TURNS_PER_RUN}",
            "at most 4 requests per answer and 4 model turns per run",
        ),
        (
            '["child_turn"]',
            f"max_calls = {limits.CHILD_TURNS_PER_RUN + 1}",
            ("at most 5 requests per answer and 5 model turns per run (the host allows at most 4)"),
        ),
    ],
)
def test_how_many_requests_and_model_turns(calls: str, max_calls: str, words: str) -> None:
    """[C-13, D-46, M-21, B44]"""
    assert f"      {words}" in lines(steering("", f"{POINT}calls = {calls}\n{max_calls}"))


@pytest.mark.parametrize(
    ("width", "words"),
    [
        ("", "as many as the host allows isolated attempts at a time that write and spend"),
        ("max_fanout_width = 1", "up to 1 isolated attempt at a time that writes and spends"),
        (
            f"max_fanout_width = {limits.FANOUT_WIDTH}",
            "up to 3 isolated attempts at a time that write and spend",
        ),
        (
            f"max_fanout_width = {limits.FANOUT_WIDTH + 1}",
            (
                "up to 4 isolated attempts at a time that write and spend "
                "(the host allows at most 3)"
            ),
        ),
    ],
)
def test_how_many_attempts(width: str, words: str) -> None:
    """[C-13, M-21, B44]"""
    text = steering("", f'{POINT}calls = ["candidate_fanout"]\n{width}')
    assert f"  - may start {words}" in lines(text)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (limits.POINT_SECS, "stopped after 600s"),
        (limits.POINT_SECS + 1, "stopped after 601s; the host allows at most 600s"),
    ],
)
def test_when_the_process_is_stopped(seconds: int, words: str) -> None:
    """[C-11, T-22, B44]"""
    text = ARBITER.replace("timeout_secs = 30", f"timeout_secs = {seconds}")
    assert f"  - runs as a process: `probe` ({words})" in lines(text)


def test_what_the_process_sees_and_that_nothing_confines_it() -> None:
    """[C-11, C-12, B58]"""
    found = lines(ARBITER + 'env = ["PATH", "API_KEY"]\n', Resolution(runtime="/bin/pro\x1bbe"))
    at = found.index("  - runs as a process: `probe` (stopped after 30s)")
    assert found[at + 1 : at + 4] == [
        r"      program: /bin/pro\u{1B}be [hidden characters]",
        "      environment: PATH, API_KEY and nothing else",
        "      It runs with your own rights on this machine; nothing confines it.",
    ]
    bare = lines(ARBITER)
    assert "      environment: nothing" in bare
    assert "      program: not found on this machine" in bare


def test_requirements_stand_by_key_and_checks_in_manifest_order() -> None:
    """[C-10, M-22]"""
    checks = "".join(
        f'[[oracle.checks]]\nrequirement = "{requirement}"\ncheck = "{check}"\n'
        for requirement, check in (("b", "p99 <= 9"), ("a", "p50 > 1"), ("b", "p50  <=  5"))
    )
    text = ARBITER.replace('fast = "it is fast"', 'b = "second"\n"a:" = "x"\na = "first"') + checks
    found = lines(text)
    at = found.index("  - holds a turn until each of these is met:")
    assert found[at + 1 : at + 8] == [
        "      a: first",
        "          checked by: p50 > 1",
        '      "a:": x',
        "      b: second",
        "          checked by: p99 <= 9",
        "          checked by: p50 <= 5",
        "  - decides with: its own process again",
    ]


def test_the_pipeline_of_a_wrapper_marks_stages_of_its_own() -> None:
    """[C-13]"""
    text = wrapper(("triage", None), ("lint", "test-command"), ("execute", None))
    assert "  - pipeline: w, stages: triage, lint (its own), execute" in lines(text)


def test_a_plugin_that_is_asked_nothing_is_no_pipeline() -> None:
    """[C-13]"""
    selected = "  - pipeline: selected by its name, one stage: execute"
    assert selected not in lines(steering(""))
    assert selected in lines(steering("", POINT))


def test_a_consent_text_tells_later_which_hooks_were_shown() -> None:
    """[D-69] No text of the author's can stand in for the line."""
    manifest = (
        'name = "x"\ndescription = "  - hook points: Stop"\n[loop]\n'
        'participation = "steering"\nhooks = ["PreToolUse", "TurnEnd"]\n'
        f'{POINT}[runtime]\nargv = ["python3"]\ntimeout_secs = 1\n'
    )
    text = "\n".join(lines(manifest))
    hooks, points = shown_lists(text)
    assert hooks == {Hook.PRE_TOOL_USE, Hook.TURN_END}
    assert {point.value for point in points} == {"before_turn"}
    assert shown_lists("") == (frozenset(), frozenset())
