"""A model whose replies stand in a file, for tests, demos and dry runs [M2-20, M2-21].

The file is read and checked as a whole when the session opens; after that nothing is read.
"""

import os
import stat
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Annotated
from typing import Final

import msgspec

from stella import codec
from stella import limits
from stella.clock import Clock
from stella.codec import U64
from stella.codec import Refused
from stella.errors import UsageError
from stella.escape import visible
from stella.message import FinishReason
from stella.message import ModelFault
from stella.message import NoReply
from stella.message import Reply
from stella.message import ToolCall
from stella.message import Usage
from stella.providers.provider import ModelRequest
from stella.providers.provider import oversized

_EXCLUDED_BY_ERROR: Final = ("text", "tool_calls", "finish_reason")


class _Usage(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    input_tokens: U64 = 0
    output_tokens: U64 = 0
    cached_input_tokens: U64 | None = None
    cache_write_tokens: U64 | None = None
    reasoning_tokens: U64 | None = None
    cost_usd: float = 0.0


class _Error(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    kind: ModelFault
    message: str | None = None
    retry_after_ms: U64 | None = None
    affordable_output_tokens: U64 | None = None


class _Line(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    usage: _Usage = _Usage()
    delay_ms: Annotated[int, msgspec.Meta(ge=0, le=limits.SCRIPT_DELAY_MS)] = 0
    finish_reason: FinishReason | None = None
    error: _Error | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One line of a script: what is answered, and after how many milliseconds.

    A line that would be too large a reply is answered as `malformed` [M2-43].
    """

    answer: Reply | NoReply
    delay_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A checked script: its path as it was written, and its steps in order."""

    path: str
    steps: tuple[Step, ...]

    @property
    def name(self) -> str:
        """The model this script is, `script:PATH` [M2-10]."""
        return f"script:{self.path}"


class ScriptedModel:
    """Answers with the steps of a script, one per call whoever calls [M2-21]."""

    def __init__(self, script: Script, clock: Clock) -> None:
        self._script = script
        self._clock = clock
        self._asked = 0

    @property
    def name(self) -> str:
        """`script:PATH` as it was written [M2-10]."""
        return self._script.name

    @property
    def in_turn(self) -> bool:
        """Always: who asks first gets the first step [E-96]."""
        return True

    async def reply(self, request: ModelRequest) -> Reply | NoReply:
        """Return the next answer after its delay, or `script_exhausted` [M2-21].

        The step is taken when the call begins, so calls made at once are answered in the order
        they were made whatever their delays are.
        """
        del request
        self._asked += 1
        held = len(self._script.steps)
        if self._asked > held:
            replies = "1 reply" if held == 1 else f"{held} replies"
            return NoReply(
                kind=ModelFault.SCRIPT_EXHAUSTED,
                message=f"script {visible(self._script.path)} holds {replies};"
                f" request {self._asked} has none",
            )
        step = self._script.steps[self._asked - 1]
        if step.delay_ms:
            await self._clock.sleep(step.delay_ms)
        return step.answer


def read_script(path: Path, written: str | None = None) -> Script:
    """Return the script in a file, or raise `UsageError` with every fault and its line [M2-21].

    `written` is the path as somebody wrote it, which is what messages and the model's name show.
    """
    name = str(path) if written is None else written
    place = f"script {visible(name)}"
    try:
        # Whoever opens a pipe waits for a writer who may never come.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise UsageError(f"{place}: expected a regular file, got something else")
            text = file.read(limits.SCRIPT_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{place}: {error.strerror or error}") from error
    if len(text) > limits.SCRIPT_BYTES:
        raise UsageError(f"{place}: expected at most {limits.SCRIPT_BYTES} bytes, got more")
    steps: list[Step] = []
    faults: list[str] = []
    for number, line in enumerate(BytesIO(text), 1):
        if not line.strip():
            continue
        read = _read(line, f"script:{name}")
        if isinstance(read, Step):
            steps.append(read)
        else:
            faults += (f"{place}, line {number}: {fault}" for fault in read)
    if faults:
        raise UsageError("\n".join(faults))
    return Script(path=name, steps=tuple(steps))


def _read(line: bytes, model: str) -> Step | tuple[str, ...]:
    """Return the step of one line, or every fault in it."""
    faults: list[str] = []
    tree: object = None
    try:
        tree = codec.parse(line)
        found = codec.decode(_Line, tree)
    except Refused as refused:
        found = _Line()
        faults += map(str, refused.reasons)
    if isinstance(tree, Mapping):
        faults += _contradictions(tree)
    return tuple(faults) or _step(found, model, len(line.strip()))


def _contradictions(tree: Mapping[str, object]) -> Iterator[str]:
    """Yield what types cannot say: keys that exclude each other, and a cost below zero."""
    if tree.get("error") is not None:
        for key in _EXCLUDED_BY_ERROR:
            if tree.get(key) is not None:
                yield f'{key}: a line with "error" is no reply; leave "{key}" out'
    usage = tree.get("usage")
    cost = usage.get("cost_usd") if isinstance(usage, Mapping) else None
    if isinstance(cost, int | float) and cost < 0:
        yield f"usage.cost_usd: expected 0 or more, got {cost}"


def _step(line: _Line, model: str, size: int) -> Step:
    if line.error is None:
        answer = oversized(size, len(line.tool_calls)) or _reply(line, model)
    else:
        answer = _no_reply(line.error)
    return Step(answer=answer, delay_ms=line.delay_ms)


def _reply(line: _Line, model: str) -> Reply:
    default = FinishReason.TOOL_CALLS if line.tool_calls else FinishReason.STOP
    used = line.usage
    return Reply(
        text=line.text,
        tool_calls=line.tool_calls,
        usage=Usage(
            reported=True,
            input_tokens=used.input_tokens,
            output_tokens=used.output_tokens,
            cached_input_tokens=used.cached_input_tokens,
            cache_write_tokens=used.cache_write_tokens,
            reasoning_tokens=used.reasoning_tokens,
        ),
        model=model,
        cost_usd=float(used.cost_usd),
        finish_reason=line.finish_reason or default,
    )


def _no_reply(error: _Error) -> NoReply:
    message = error.message or f"scripted {error.kind.value}"
    return NoReply(
        kind=error.kind,
        message=message[: limits.MODEL_ERROR_CHARS],
        retry_after_ms=error.retry_after_ms,
        affordable_output_tokens=error.affordable_output_tokens,
    )
