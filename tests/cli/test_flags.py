"""The flags of `run`: every fault of a command line in one message [S-2, D-1, D-10]."""

import pytest

from stella import limits
from stella.authority.gate import Mode
from stella.cli.flags import Given
from stella.cli.flags import judged
from stella.errors import TestCommandError
from stella.errors import UsageError
from stella.session.options import Pipeline
from stella.settings.load import Settings

KNOWN = ("--pipeline", "--max-holds", "--max-steps", "--test-command", "--output-format")


def refused(given: Given) -> str:
    with pytest.raises(UsageError) as error:
        judged(given, KNOWN)
    return error.value.message


def test_without_flags_the_plain_loop_runs() -> None:
    flags = judged(Given(), KNOWN)
    assert flags.pipeline is None
    assert (flags.max_steps, flags.output_format) == (limits.STEPS_DEFAULT, "text")
    assert (flags.mode, flags.mode_source) == (Mode.WORKSPACE, "default")


@pytest.mark.behaviour("D-1")
def test_a_pipeline_takes_its_grants() -> None:
    """[D-1]"""
    flags = judged(
        Given(
            pipeline=" survey-v1 ,verify",
            test_command="pytest -q",
            test_timeout="600",
            watch_tests=("tests/**",),
            red_on_error=True,
            max_holds="0",
            permissions="all",
        ),
        KNOWN,
    )
    assert flags.pipeline is not None
    assert flags.pipeline.names == ("survey-v1", "verify")
    assert (flags.pipeline.test_secs, flags.pipeline.max_holds) == (600, 0)
    assert flags.pipeline.watch == ("tests/**",)
    assert flags.pipeline.red_on_error
    assert (flags.mode, flags.mode_source) == (Mode.ALL, "flag")


@pytest.mark.behaviour("J-5")
@pytest.mark.parametrize(
    ("name", "flag", "low", "high"),
    [
        ("max_steps", "--max-steps", 1, limits.STEPS_MAX),
        ("max_holds", "--max-holds", 0, limits.HOLDS_MAX),
        ("test_timeout", "--test-timeout", limits.TEST_SECS_MIN, limits.TEST_SECS_MAX),
    ],
)
@pytest.mark.behaviour("K-119")
def test_a_number_names_its_range_and_is_taken_at_both_ends(
    name: str, flag: str, low: int, high: int
) -> None:
    """[S-2] limits.STEPS_MAX, limits.HOLDS_MAX, limits.TEST_SECS_MAX, limits.TEST_SECS_MIN."""
    for good in (low, high):
        flags = judged(Given(pipeline="x", **{name: str(good)}), KNOWN)  # type: ignore[arg-type]  # one of three fields
        assert flags.pipeline is not None
    for bad in (str(low - 1), str(high + 1), "x", "1.0", "", " 1", "+1", "٣", "9" * 5000):
        said = refused(Given(pipeline="x", **{name: bad}))  # type: ignore[arg-type]  # one of three fields
        assert f"{flag}: expected {low} to {high}" in said


@pytest.mark.behaviour("D-1")
@pytest.mark.parametrize("value", ["", " ", "a,", ",a", "a,,b"])
@pytest.mark.behaviour("K-89")
def test_an_empty_part_is_refused(value: str) -> None:
    """[D-1]"""
    assert "empty part" in refused(Given(pipeline=value))


@pytest.mark.behaviour("K-88")
def test_both_pipeline_flags_exclude_each_other() -> None:
    """[D-5]"""
    assert "exclude each other" in refused(Given(pipeline="x", no_pipeline=True))


@pytest.mark.behaviour("D-10")
@pytest.mark.parametrize(
    ("given", "flag"),
    [
        (Given(test_command="pytest"), "--test-command"),
        (Given(watch_tests=("x",)), "--watch-tests"),
        (Given(test_timeout="5"), "--test-timeout"),
        (Given(red_on_error=True), "--red-on-error"),
        (Given(max_holds="1"), "--max-holds"),
        (Given(max_holds="1", no_pipeline=True), "--max-holds"),
    ],
)
@pytest.mark.behaviour("K-91")
def test_what_only_a_pipeline_means_needs_one(given: Given, flag: str) -> None:
    """[D-10]"""
    assert f"{flag} needs a pipeline" in refused(given)


def test_a_refused_test_command_alone_has_its_own_code() -> None:
    """[S-23]"""
    with pytest.raises(TestCommandError) as alone:
        judged(Given(pipeline="x", test_command="a && b"), KNOWN)
    assert alone.value.code == "test_command"
    with pytest.raises(UsageError) as among:
        judged(Given(pipeline="x", test_command="a && b", max_steps="0"), KNOWN)
    assert among.value.code == "usage"


def test_every_fault_is_told_at_once() -> None:
    """[S-2]"""
    said = refused(
        Given(
            pipeline="a,",
            test_command="a | b",
            max_holds="9",
            max_steps="0",
            output_format="jsn",
            permissions="ask",
            words=("go", "--pipline", "x"),
        )
    )
    for word in (
        'no flag "--pipline"; did you mean --pipeline?',
        "--max-holds: expected 0 to 8",
        "--max-steps: expected 1 to 1000",
        '--output-format: "jsn" is none; did you mean json?',
        "--permissions: ask comes with a later release; the strictest mode there is is read-only",
        "empty part",
        "|",
    ):
        assert word in said
    assert said.startswith("several faults:\n")


@pytest.mark.parametrize("word", ["al", "alll", "ALL", "ask", "aks", ""])
def test_no_wrong_mode_suggests_the_one_that_allows_everything(word: str) -> None:
    """[S-7]"""
    said = refused(Given(permissions=word))
    assert "did you mean" not in said
    assert "read-only" in said


def test_a_near_mode_is_suggested() -> None:
    """[S-2]"""
    assert "did you mean read-only?" in refused(Given(permissions="readonly"))
    assert "did you mean workspace?" in refused(Given(permissions="workspac"))


def test_what_was_typed_is_shown_safely() -> None:
    """[C-5]"""
    assert "\x1b" not in refused(Given(words=("--\x1b[31m",), max_steps="\x1b"))


def test_a_second_argument_is_no_prompt() -> None:
    """[S-8]"""
    assert 'unexpected argument "there"; put the prompt in quotes' in refused(
        Given(words=("go", "there"))
    )
    assert judged(Given(words=("-",)), KNOWN).pipeline is None


def test_settings_hold_where_no_flag_says_something_else() -> None:
    """[D-5, D-7, S2-10]"""
    settings = Settings(pipeline=("a", "b"), max_holds=5, test_secs=7)
    assert judged(Given(), KNOWN, settings).pipeline == Pipeline(
        names=("a", "b"), max_holds=5, test_secs=7
    )
    given = Given(pipeline="c", max_holds="8", test_timeout="9")
    assert judged(given, KNOWN, settings).pipeline == Pipeline(
        names=("c",), max_holds=8, test_secs=9
    )
    assert judged(Given(no_pipeline=True), KNOWN, settings).pipeline is None


def test_test_flags_need_a_selected_or_a_default_pipeline() -> None:
    """[D-10]"""
    settings = Settings(pipeline=("a",))
    given = Given(test_command="pytest", watch_tests=("x",), max_holds="1", red_on_error=True)
    pipeline = judged(given, KNOWN, settings).pipeline
    assert pipeline == Pipeline(
        names=("a",), test_command="pytest", watch=("x",), max_holds=1, red_on_error=True
    )
    with pytest.raises(UsageError, match="--max-holds needs a pipeline"):
        judged(Given(max_holds="1", no_pipeline=True), KNOWN, settings)


def test_a_default_does_not_hide_that_both_flags_exclude_each_other() -> None:
    """[D-5]"""
    with pytest.raises(UsageError, match="exclude each other"):
        judged(Given(pipeline="x", no_pipeline=True), KNOWN, Settings(pipeline=("a",)))


@pytest.mark.behaviour("M2-54")
def test_a_flag_gives_each_tier_its_model() -> None:
    """[M2-54]"""
    given = Given(tier=("cheap=a", " plan = b=c ", "worker=w", "worker=w"), model="w")
    assert judged(given, KNOWN).models == {"cheap": "a", "plan": "b=c", "worker": "w"}


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (("cheap",), '--tier: expected NAME=MODEL, got "cheap"'),
        (("=x",), "expected NAME=MODEL"),
        (("cheap= ",), "expected NAME=MODEL"),
        (("chep=x",), '--tier: "chep" is none; did you mean cheap?'),
        (("triage=x",), "legal here: worker, cheap, verifier, plan, research"),
        (("cheap=a", "cheap=b"), "--tier: cheap is given two models"),
        (("worker=other",), "--model and --tier worker choose different models"),
        (("\x1b=x",), "u{1B}"),
    ],
)
def test_a_tier_that_cannot_be_is_a_fault(rows: tuple[str, ...], told: str) -> None:
    """[M2-51, M2-54, S-2]"""
    said = refused(Given(tier=rows, model="m"))
    assert told in said
    assert "\x1b" not in said
