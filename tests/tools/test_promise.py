"""Whether an output is what was promised, whatever the schema of its author is like."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from stella import limits
from stella.tools.promise import Promised
from stella.tools.promise import promised
from tests.making.hands import hands

FANNED_OUT = {
    "$defs": {
        **{
            f"a{at}": {"allOf": [{"$ref": f"#/$defs/a{at + 1}"}, {"$ref": f"#/$defs/a{at + 1}"}]}
            for at in range(40)
        },
        "a40": {},
    },
    "$ref": "#/$defs/a0",
}


def judged(root: Path, schema: dict[str, Any], output: bytes) -> Promised:
    with hands(root) as found:
        return asyncio.run(promised(schema, output, found.context))


def test_an_output_that_fits_has_its_value(tmp_path: Path) -> None:
    """[P-19] Blanks around it are left out."""
    found = judged(tmp_path, {"type": "object"}, b' \n{"a": [1]}\n')
    assert found == Promised(value={"a": [1]})


@pytest.mark.parametrize(
    ("output", "why"),
    [(b"{", "it is not JSON: "), (b"\xff", "it is not JSON: "), (b"1", "$: 1 is not of type ")],
)
def test_an_output_that_does_not_fit_has_a_reason(tmp_path: Path, output: bytes, why: str) -> None:
    """[P-19]"""
    found = judged(tmp_path, {"type": "object"}, output)
    assert found.why is not None
    assert found.why.startswith(why)


@pytest.mark.parametrize(
    "schema", [{"pattern": "^(a+)+$"}, FANNED_OUT], ids=["expression", "references"]
)
def test_a_schema_that_takes_for_ever_is_ended(
    tmp_path: Path, schema: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """[P-19] The host goes on: SCHEMA_SECS bounds what the schema of an author costs."""
    assert limits.SCHEMA_SECS == 10
    monkeypatch.setattr(limits, "SCHEMA_SECS", 1)
    found = judged(tmp_path, schema, b'"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"')
    assert found.why == "it could not be checked in 1 seconds"


def test_a_schema_that_takes_more_memory_than_a_check_has_is_ended(tmp_path: Path) -> None:
    """[P-19] SCHEMA_MEMORY: each of these reasons quotes the whole value."""
    assert limits.SCHEMA_MEMORY == 1024 * limits.MIB
    schema = {"anyOf": [{"type": "null"}] * (limits.SCHEMA_VALUES // 3)}
    found = judged(tmp_path, schema, b'"%s"' % (b"a" * (8 * limits.MIB - 2)))
    assert found.why == "it could not be checked within the bounds of a check"
