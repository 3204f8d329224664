"""What an exit status says of the granted test, row by row [G-21 to G-26]."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from stella.wire.grant import TestBaseline
from stella.witness.command import parse_test_command
from stella.witness.readings import ROWS
from stella.witness.readings import BaselineReason
from stella.witness.readings import reading
from stella.witness.runners import Recognised
from stella.witness.runners import Runner
from stella.witness.runners import recognise
from tests.making.vectors import vectors

VECTORS = vectors("witness/readings")


@pytest.mark.behaviour(
    "G-21", "G-23", "G-24", "G-25", "G-26", "K-93", "K-94", "K-95", "K-98", "K-99"
)
@pytest.mark.parametrize("vector", [pytest.param(data, id=name) for name, data in VECTORS])
def test_the_reading_is_that_of_the_vector(vector: dict[str, Any]) -> None:
    """[G-23 to G-25, K-93 to K-95, K-98, K-99]"""
    recognised = recognise(parse_test_command(vector["command"]))
    plain = reading(recognised, vector["code"], vector["output"])
    red = reading(recognised, vector["code"], vector["output"], red_on_error=True)
    assert (plain.baseline.value, plain.reason.value) == (vector["baseline"], vector["reason"])
    assert (red.baseline.value, red.reason.value) == (vector["red_on_error"], vector["reason"])


@pytest.mark.behaviour("G-23", "G-24")
def test_every_row_of_the_tables_is_met_by_a_vector() -> None:
    """A row that no vector reaches would be a row that nobody checked."""
    reached = set()
    for _, vector in VECTORS:
        recognised = recognise(parse_test_command(vector["command"]))
        for at, row in enumerate(ROWS[recognised.runner]):
            known = row.codes is None or vector["code"] in row.codes
            if known and row.says(vector["output"], recognised.args):
                reached.add((recognised.runner, at))
                break
    rows = {(runner, at) for runner in ROWS for at in range(len(ROWS[runner]))}
    # The markers of two rows stand behind colour in their own vectors.
    assert rows == reached


def test_the_reasons_that_no_exit_status_gives_are_those_of_the_run_itself() -> None:
    """[G-22]"""
    given_by_rows = {row.reason for rows in ROWS.values() for row in rows}
    assert set(BaselineReason) - given_by_rows == {
        BaselineReason.NO_PLAN,
        BaselineReason.TIMED_OUT,
        BaselineReason.KILLED_BY_SIGNAL,
        BaselineReason.INFRASTRUCTURE,
        BaselineReason.ARTIFACT_CHANGED,
    }


@given(
    runner=st.sampled_from(Runner), code=st.integers(0, 255), output=st.text(), red=st.booleans()
)
@settings(deadline=None)
def test_any_exit_status_has_a_reading(
    runner: Runner,
    code: int,
    output: str,
    red: bool,  # drawn by name
) -> None:
    found = reading(Recognised(runner=runner, program="x", args=()), code, output, red_on_error=red)
    assert found.baseline is not TestBaseline.NOT_RUN
    assert (found.baseline is TestBaseline.PASSED) <= (code == 0)


@pytest.mark.behaviour("G-25")
@given(runner=st.sampled_from(Runner), code=st.integers(0, 255), output=st.text())
@settings(deadline=None)
def test_red_on_error_turns_unobserved_into_failed_and_nothing_else(
    runner: Runner, code: int, output: str
) -> None:
    """[G-25]"""
    recognised = Recognised(runner=runner, program="x", args=())
    plain = reading(recognised, code, output)
    red = reading(recognised, code, output, red_on_error=True)
    assert plain.reason is red.reason
    if plain.baseline is not red.baseline:
        assert plain.baseline is TestBaseline.UNOBSERVED
        assert red.baseline is TestBaseline.FAILED


@pytest.mark.behaviour("G-23")
@pytest.mark.parametrize(
    "escape",
    [
        "\x1b[0m",
        "\x1b[38;5;1m",
        "\x1b]0;title\x07",
        "\x1b]8;;x\x1b\\",
        "\x1bP1$r\x1b\\",
        "\x1b(B",
        "\x1b7",
    ],
)
def test_a_marker_is_found_behind_terminal_escapes(escape: str) -> None:
    """[G-23]"""
    output = f"error: could not{escape} compile"
    recognised = recognise(("cargo", "test"))
    assert reading(recognised, 101, output).reason is BaselineReason.BUILD_ERROR


def test_output_that_is_all_escapes_is_read_in_good_time() -> None:
    for piece in ("\x1b", "\x1b[", "\x1b]", "\x1bP", "\x1b[1;", "1 passed in 0."):
        reading(recognise(("pytest",)), 1, piece * 30_000)


@pytest.mark.behaviour("G-22")
def test_the_reasons_are_the_closed_list() -> None:
    """[G-22]"""
    words = (
        "no-plan not-started timed-out killed-by-signal infrastructure artifact-changed "
        "interrupted internal-error usage-error nothing-collected collection-error import-error "
        "build-error unknown-exit exit-zero exit-nonzero"
    )
    assert [reason.value for reason in BaselineReason] == words.split()
