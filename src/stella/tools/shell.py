"""The tool `bash`: one command line in the workspace root, with an end [T2-18, T2-40 to T2-47].

What the command does is its own; here stands how it starts, what is told of it, and that
nothing of it goes on running.
"""

from pathlib import Path
from typing import Annotated
from typing import Any
from typing import Final
from typing import assert_never

import msgspec

from stella import limits
from stella.authority.risk import Risk
from stella.escape import counted
from stella.message import ErrorClass
from stella.message import Output
from stella.message import failed
from stella.message import succeeded
from stella.process.ending import Completed
from stella.process.ending import Ending
from stella.process.program import find_program
from stella.process.program import searched
from stella.process.run import run
from stella.tools.text import decoded
from stella.tools.tool import Tool
from stella.tools.tool import ToolContext
from stella.tools.tool import contract

OUTPUT_CAP: Final = "output_cap"


class Bash(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """The input: a command, and how long it may take."""

    command: str
    timeout_secs: Annotated[
        int,
        msgspec.Meta(ge=1, le=limits.BASH_SECS_MAX, description="the end of it; 120 when left out"),
    ] = limits.BASH_SECS_DEFAULT

    def __post_init__(self) -> None:
        """Refuse text that is no argument of a program [E-25]."""
        if "\0" in self.command:
            message = "a command cannot hold a NUL character"
            raise ValueError(message)
        if any("\ud800" <= char <= "\udfff" for char in self.command):
            message = "the command is not valid UTF-8"
            raise ValueError(message)


async def _run(given: Bash, context: ToolContext) -> Output:
    env = context.child_environment
    root = context.root.path
    bash = find_program("bash", env.get("PATH"), cwd=root, skip_under=Path(root))
    if bash is None:
        message = searched("bash", env.get("PATH"), skip_under=Path(root))
        return failed(ErrorClass.ENVIRONMENT, message)
    done = await run(
        (str(bash), "--noprofile", "--norc", "-c", given.command),
        env=env,
        cwd=root,
        timeout=given.timeout_secs,
        cap=limits.CONVERSATION_BYTES,
        polite=True,
        umask=context.umask,
    )
    return _told(given, done)


def _told(given: Bash, done: Completed) -> Output:
    """Return how the command ended and what it had said by then [T2-18]."""
    said, strange = _said(done)
    data: dict[str, Any] = {
        "exit_code": done.code,
        "signal": done.signal,
        "duration_ms": done.duration_ms,
        "bytes_out": done.stdout_bytes + done.stderr_bytes,
    }
    if strange:
        data["invalid_bytes"] = strange
    if done.survivors:
        data["survivors"] = done.survivors
    match done.ending:
        case Ending.EXITED | Ending.SIGNALLED:
            return succeeded(said, data)
        case Ending.TIMED_OUT:
            ended = f"the command was ended after {counted(given.timeout_secs, 'second')}"
            return _ended(ErrorClass.TIMEOUT, ended, said, data)
        case Ending.OVERFLOWED:
            ended = f"the command was ended at {limits.CONVERSATION_BYTES} bytes of output"
            return _ended(ErrorClass.OTHER, ended, said, data, OUTPUT_CAP)
        case Ending.NOT_STARTED:
            return failed(ErrorClass.ENVIRONMENT, done.reason)
        case Ending.STOPPED | Ending.LOST:
            ended = f"the command was lost sight of: {done.reason or done.ending.value}"
            return _ended(ErrorClass.INTERNAL, ended, said, data)
        case _:
            assert_never(done.ending)


def _ended(
    kind: ErrorClass, ended: str, said: str, data: dict[str, Any], cause: str | None = None
) -> Output:
    """Return that the host ended the command, and what it had said: its effect is not known."""
    message = f"{ended}; its effect is unknown"
    data["effect"] = "unknown"
    return failed(kind, f"{message}\n{said}" if said else message, cause, data)


def _said(done: Completed) -> tuple[str, int]:
    """Return standard output, standard error and the end, as the model reads them [T2-18]."""
    out, strange_out = decoded(done.stdout)
    err, strange_err = decoded(done.stderr)
    parts = [out.removesuffix("\n")] if out else []
    if err:
        parts += ["[stderr]", err.removesuffix("\n")]
    if done.ending is Ending.SIGNALLED:
        parts.append(f"[killed by signal {done.signal}]")
    elif done.ending is Ending.EXITED and done.code:
        parts.append(f"[exit code: {done.code}]")
    if done.survivors:
        parts.append(f"[processes left running and ended: {done.survivors}]")
    return "\n".join(parts), strange_out + strange_err


TOOL: Final = Tool(
    contract=contract(
        "bash",
        "Run a command line with bash in the workspace root. The result is its output, then its"
        " errors, then its exit code when that is not 0. Nothing it leaves in the background goes"
        " on running. There is nobody to type answers.",
        Bash,
        Risk.HIGH,
        read_only=False,
    ),
    shape=Bash,
    result_bytes=limits.RESULT_BYTES_SHELL,
    paths=lambda _given: (),
    risk=lambda _given, _context: Risk.HIGH,
    run=_run,
)
