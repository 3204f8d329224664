from pathlib import Path

import pytest

from stella.verdict.progress import Progress
from stella.verdict.progress import Standing
from stella.verdict.progress import progress
from tests.making.verdicts import ProgressVector
from tests.making.verdicts import clause
from tests.making.verdicts import read_vector
from tests.making.verdicts import vector_paths


@pytest.mark.behaviour("J-19", "D-44")
@pytest.mark.parametrize("path", vector_paths(ProgressVector), ids=lambda path: path.stem)
def test_progress_is_the_word_of_the_vector(path: Path) -> None:
    """[J-19, J-20, D-44]"""
    vector = read_vector(ProgressVector, path)
    previous = None if vector.previous is None else vector.previous.standing
    assert progress(previous, vector.current.standing) is vector.progress


def test_the_first_round_is_first_even_when_nothing_could_be_measured() -> None:
    """[J-19 row 1]"""
    assert progress(None, Standing(unmet=(), tree_digest=None)) is Progress.FIRST


@pytest.mark.behaviour("J-20")
def test_a_statement_that_differs_is_a_change() -> None:
    """[J-20] Clauses are compared whole."""
    one = Standing(unmet=(clause(statement="one"),), tree_digest="d")
    two = Standing(unmet=(clause(statement="two"),), tree_digest="d")
    assert progress(one, two) is Progress.CHANGED
    assert progress(one, one) is Progress.UNCHANGED
