"""The page on trust is true: every file on it is written, every command run, the question asked."""

from pathlib import Path

import pytest

from tests.making.ends import place
from tests.making.pages import followed

PAGE = Path(__file__).parents[2] / "docs" / "trust.md"


@pytest.mark.behaviour("I-52.page", "I-57.page")
def test_the_page_does_what_it_says(tmp_path: Path) -> None:
    """[I-34, I-50 to I-57] From a stranger's workspace to one that is trusted, and back."""
    top = tmp_path / "sitting"
    stands, done = followed(PAGE, top, place(tmp_path).env)
    assert done == {"console", "json", "python", "toml"}
    assert stands == top / "shop"
