"""The page on writing a plugin is true: every file on it is written, every command run."""

from pathlib import Path

from tests.making.ends import place
from tests.making.pages import followed

PAGE = Path(__file__).parents[2] / "docs" / "writing-a-plugin.md"


def test_the_page_does_what_it_says(tmp_path: Path) -> None:
    """A newcomer's sitting, from an empty directory to a plugin that holds a turn."""
    where = place(tmp_path)
    top = tmp_path / "sitting"
    stands, done = followed(PAGE, top, where.env)
    assert done == {"console", "diff", "json", "python", "sh", "toml"}
    assert len(where.journals()) == 0, "the sitting has a workspace of its own"
    assert stands == top / "shop"
