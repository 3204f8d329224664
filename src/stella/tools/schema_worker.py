"""A program of its own: holds a value against a schema, in a process that can be ended [P-19].

An author's schema may take exponential time and any amount of memory, with an expression or with
references that fan out, so none is applied in the host. Standard input is a question as JSON,
standard output its answer.
"""

import resource
import sys
from contextlib import suppress
from typing import Any
from typing import BinaryIO

import msgspec

from stella import codec
from stella import limits
from stella.content.schema import unmet


class Question(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A schema that is one, and a value."""

    schema: dict[str, Any]
    value: Any = None


class Answer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What in the value is not as the schema asks, null when all is."""

    why: str | None = None


def main(asked: BinaryIO, out: BinaryIO) -> int:
    """Answer one question; 0 when there is an answer."""
    question = codec.decode(Question, codec.parse(asked.read()))
    out.write(codec.encode(Answer(why=unmet(question.schema, question.value))))
    out.flush()
    return 0


if __name__ == "__main__":
    # Not every system bounds memory; the time is bounded in any case.
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_AS, (limits.SCHEMA_MEMORY, limits.SCHEMA_MEMORY))
    sys.exit(main(sys.stdin.buffer, sys.stdout.buffer))
