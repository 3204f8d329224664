"""What is handed on has sizes in place of contents and no secrets [H-40, W-46]."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from stella import codec
from stella.redact import Redactor
from stella.session.sanitise import CONTENTS
from stella.session.sanitise import sanitised
from tests.making.planted import PLANTED
from tests.making.planted import redactor

TREES = st.recursive(
    st.text() | st.integers(0, 9) | st.none(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from([*CONTENTS, "a", "b"]), inner),
)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("", "[0 bytes, 0 lines]"),
        ("a", "[1 bytes, 1 lines]"),
        ("a\n", "[2 bytes, 1 lines]"),
        ("a\nb", "[3 bytes, 2 lines]"),
        ("\N{CHECK MARK}\r\n\n", "[6 bytes, 2 lines]"),
        ("\udcff", "[3 bytes, 1 lines]"),
        (["a", "b"], "[9 bytes, 1 lines]"),
        (None, "[4 bytes, 1 lines]"),
        ({"\udcff": 1}, "[13 bytes, 1 lines]"),
    ],
)
@pytest.mark.parametrize("key", sorted(CONTENTS))
def test_contents_are_measured_and_left_out(key: str, value: object, shown: str) -> None:
    assert sanitised({"input": {"path": "p", key: value}}, Redactor()) == {
        "input": {"path": "p", key: shown}
    }


def test_contents_are_found_at_any_depth() -> None:
    payload = {"input": {"files": [{"path": "p", "content": "x\n"}], "edits": ({"content": "y"},)}}
    assert sanitised(payload, Redactor()) == {
        "input": {
            "files": [{"path": "p", "content": "[2 bytes, 1 lines]"}],
            "edits": [{"content": "[1 bytes, 1 lines]"}],
        }
    }


@pytest.mark.parametrize("name", sorted(PLANTED))
def test_secrets_are_taken_out_of_every_string(name: str) -> None:
    text, secret = PLANTED[name]
    clean = codec.encode(sanitised({"a": [{"b": text}], "c": {text: 1}}, redactor())).decode()
    assert secret not in clean
    assert "[redacted]" in clean


def test_what_no_json_holds_is_written_out() -> None:
    assert sanitised({"path": "a\udcffb", "\udcff": [("\ud800",)]}, Redactor()) == {
        "path": "a\\udcffb",
        "\\udcff": [["\\ud800"]],
    }


def contents(tree: Any) -> list[object]:
    match tree:
        case dict():
            own = [value for key, value in tree.items() if key in CONTENTS]
            return own + [each for value in tree.values() for each in contents(value)]
        case list():
            return [each for value in tree for each in contents(value)]
        case _:
            return []


@given(st.dictionaries(st.sampled_from(["x", "content"]), TREES))
@settings(deadline=None, database=None)
def test_the_copy_always_encodes_and_holds_no_content(payload: dict[str, Any]) -> None:
    copy = sanitised(payload, Redactor())
    codec.encode(copy)
    for value in contents(copy):
        assert isinstance(value, str)
        assert value.endswith(" lines]")
