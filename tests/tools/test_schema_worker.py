"""The worker that holds a value against a schema."""

import io
import subprocess
import sys
from typing import Any

from stella import codec
from stella.tools import schema_worker
from stella.tools.schema_worker import Answer
from stella.tools.schema_worker import Question
from stella.tools.schema_worker import main


def asked(schema: dict[str, Any], value: object) -> bytes:
    return codec.encode(Question(schema=schema, value=value))


def answered(data: bytes) -> str | None:
    return codec.decode(Answer, codec.parse(data)).why


def test_it_says_what_is_not_as_the_schema_asks() -> None:
    """[P-19]"""
    for value, why in (("a", None), (None, "$: None is not of type 'string'")):
        out = io.BytesIO()
        assert main(io.BytesIO(asked({"type": "string"}, value)), out) == 0
        assert answered(out.getvalue()) == why


def test_it_is_a_program_that_imports_nothing_from_where_it_runs() -> None:
    done = subprocess.run(
        (sys.executable, "-I", schema_worker.__file__),
        input=asked({"pattern": "^a$"}, "b"),
        capture_output=True,
        check=True,
    )
    assert (answered(done.stdout), done.stderr) == ("$: 'b' does not match '^a$'", b"")
