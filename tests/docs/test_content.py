"""The page about content: its examples are read by the host."""

import re
from pathlib import Path

import pytest

from stella.content.tool import read_tool

PAGE = (Path(__file__).parents[2] / "docs" / "content.md").read_text("utf-8")
TOOLS = re.findall(r"^```toml tool\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("text", TOOLS)
def test_every_tool_file_of_the_page_is_read_without_a_word(text: str) -> None:
    reading = read_tool(text.encode())
    assert reading.value is not None
    assert (reading.faults, reading.notes) == ((), ())


def test_there_is_an_example() -> None:
    assert TOOLS
