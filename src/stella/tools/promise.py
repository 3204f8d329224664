"""Whether the output of a tool is what its author's schema promises [P-19]."""

import sys
from dataclasses import dataclass
from typing import Any

from stella import codec
from stella import limits
from stella.content.schema import Schema
from stella.process.ending import Ending
from stella.process.run import run
from stella.tools import schema_worker
from stella.tools.schema_worker import Answer
from stella.tools.schema_worker import Question
from stella.tools.tool import ToolContext


@dataclass(frozen=True, slots=True, kw_only=True)
class Promised:
    """The JSON value of an output; `why` says what is not as promised, None when all is."""

    value: Any = None
    why: str | None = None


async def promised(schema: Schema, output: bytes, context: ToolContext) -> Promised:
    """Return the value in `output`, blanks around it left out, held against `schema`.

    No more than `limits.SCHEMA_SECS` are spent on it; what takes longer is not as promised.
    """
    try:
        value = codec.parse(output.strip())
    except codec.Refused as refused:
        return Promised(why=f"it is not JSON: {refused}")
    done = await run(
        # Isolated: nothing that the workspace or the environment holds is imported.
        (sys.executable, "-I", schema_worker.__file__),
        env=context.child_environment,
        cwd="/",
        timeout=limits.SCHEMA_SECS,
        stdin=codec.encode(Question(schema=schema, value=value)),
    )
    match done.ending:
        case Ending.EXITED if done.code == 0:
            answer = codec.decode(Answer, codec.parse(done.stdout))
            return Promised(value=value, why=answer.why)
        case Ending.TIMED_OUT:
            return Promised(why=f"it could not be checked in {limits.SCHEMA_SECS} seconds")
        case _:
            return Promised(why="it could not be checked within the bounds of a check")
