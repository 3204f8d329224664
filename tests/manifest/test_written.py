from datetime import UTC
from datetime import date
from datetime import datetime
from datetime import time

import pytest

from stella import codec
from stella import limits
from stella.manifest.written import quoted
from stella.manifest.written import toml_text
from stella.manifest.written import written


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a", '"a"'),
        ('a "b" \\ c\n\t\r', r'"a \"b\" \\ c\n\t\r"'),
        (1, "1"),
        (True, "true"),
        (False, "false"),
        (1.5, "1.5"),
        (float("inf"), "inf"),
        (datetime(1979, 5, 27, 7, 32, tzinfo=UTC), "1979-05-27T07:32:00+00:00"),
        (date(1979, 5, 27), "1979-05-27"),
        (time(7, 32), "07:32:00"),
        ([1, ["a"]], '[1, ["a"]]'),
        ((1, 2), "[1, 2]"),
        ([], "[]"),
        ({"a": 1, "b c": {}}, '{"a" = 1, "b c" = {}}'),
    ],
)
def test_a_value_is_written_as_toml_that_reads_back(value: object, text: str) -> None:
    """[M-57]"""
    assert toml_text(value) == text
    back = codec.parse_toml(f"x = {text}")["x"]
    assert back == (list(value) if isinstance(value, tuple) else value)


def test_strings_are_rendered_by_whoever_asks() -> None:
    assert toml_text(["a", {"b": "c"}], str.upper) == "[A, {B = C}]"


def test_a_value_in_a_message_stands_on_one_line_and_hides_nothing() -> None:
    """[M-7, C-3]"""
    assert written("a\nb\u202ec\x1b") == r'"a\nb\u{202E}c\u{1B}"'


def test_a_long_value_is_cut_with_the_number_of_characters_left_out() -> None:
    """[M-7]"""
    fits = "a" * (limits.FAULT_VALUE_CHARS - 2)
    assert written(fits) == quoted(fits)
    assert written(fits + "b").endswith(" [1 more characters]")
