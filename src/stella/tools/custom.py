"""A tool that somebody described in a file: one program, started directly [P-15 to P-20].

It passes the same gate as every other tool and ends like every other child. What it promises of
itself changes nothing here: it is a barrier, never trusted, and what it says is data.
"""

import errno
import hashlib
from collections.abc import Callable
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any
from typing import Final
from typing import assert_never

from stella import codec
from stella import limits
from stella.authority.contract import Provenance
from stella.authority.contract import ToolContract
from stella.authority.risk import Risk
from stella.content.schema import misfits
from stella.content.tool import ToolFile
from stella.escape import visible
from stella.message import ErrorClass
from stella.message import Output
from stella.message import failed
from stella.message import succeeded
from stella.process.ending import Completed
from stella.process.ending import Ending
from stella.process.program import find_program
from stella.process.program import searched
from stella.process.run import run
from stella.tools.promise import promised
from stella.tools.shell import OUTPUT_CAP
from stella.tools.text import decoded
from stella.tools.tool import Bound
from stella.tools.tool import ToolContext

PLUGIN: Final = "plugin"
"""The cause of a refusal because the package of a plugin is not the accepted one [A-51]."""

_INPUT: Final = "STELLA_INPUT_"
_PLUGIN_DIR: Final = "${plugin_dir}"
_HASH_CHARS: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """Whose tool it is, as `origin` says it: `user`, `workspace` or `plugin:<name>`.

    For a plugin's `directory` is the installed package [P-12], `ceiling` the worst grade that
    its declaration covers [A-41], and `cleared` is asked before every start why nothing of the
    package may start now [I-30].
    """

    origin: str
    plugin: str | None = None
    directory: str = ""
    ceiling: Risk = Risk.DESTRUCTIVE
    cleared: Callable[[], str | None] = lambda: None


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomTool:
    """A tool file that is offered; `filtered` takes out of an environment what no tool gets.

    The program of a plugin's tool is never found by name in `fence`, the workspace, where whoever
    may write would choose what runs [Q-30]; the person's own tools have the person's `PATH`.
    """

    file: ToolFile
    owner: Owner
    fence: Path
    filtered: Callable[[Mapping[str, str]], Mapping[str, str]]
    result_bytes: int = field(default=limits.RESULT_BYTES_SHELL, init=False)

    @property
    def contract(self) -> ToolContract:
        """Name, words, schema, and a grade that only its claim to destroy can raise [A-6]."""
        return ToolContract(
            name=self.file.name,
            description=self.file.description,
            input_schema=self.file.input_schema,
            read_only=False,
            risk=self.file.risk,
            provenance=Provenance.DECLARED,
            origin=self.owner.origin,
            plugin=self.owner.plugin,
            ceiling=self.owner.ceiling,
        )

    def bind(self, tree: object, context: ToolContext) -> Bound:
        """Return the call with this input; raise `codec.Refused` with all its faults [E-25]."""
        found = misfits(self.file.input_schema, tree)
        if faults := tuple(islice(found, limits.FAULTS_TOLD)):
            raise codec.Refused(*faults)
        return Bound(paths=(), risk=self.file.risk, run=partial(self._run, tree, context))

    async def _run(self, tree: object, context: ToolContext) -> Output:
        given = codec.encode(tree)
        env = self._environment(tree, context)
        program = self._program(env, context.root.path)
        if isinstance(program, Output):
            return program
        done = await self._started(program, given, env, context)
        if isinstance(done, Output):
            return done
        if done.ending is Ending.EXITED and done.code == 0:
            return await _succeeded(self.file, done, given, context)
        return _told(self.file, done)

    async def _started(
        self, program: str, given: bytes, env: Mapping[str, str], context: ToolContext
    ) -> Completed | Output:
        """Start it once, or again while its file is held open for writing elsewhere [P-18]."""
        argv = (program, *map(self._placed, self.file.command[1:]))
        done: Completed | None = None
        for wait in (0, *(limits.BUSY_MS << number for number in range(limits.BUSY_TRIES))):
            if wait:
                await context.clock.sleep(wait)
            if (why := self.owner.cleared()) is not None:
                return failed(ErrorClass.REFUSED_BY_POLICY, why, PLUGIN)
            done = await run(
                argv,
                env=env,
                cwd=context.root.path,
                timeout=self.file.timeout_ms / 1000,
                stdin=given,
                cap=limits.CONVERSATION_BYTES,
                polite=True,
                umask=context.umask,
            )
            if done.ending is not Ending.NOT_STARTED:
                return done
            if done.errno != errno.ETXTBSY:
                break
        assert done is not None  # noqa: S101  # the loop is entered
        return _unstarted(done.reason, context.root.path)

    def _program(self, env: Mapping[str, str], root: str) -> str | Output:
        """Return the absolute path of its program, or the result of a call without one [T-3]."""
        name = self._placed(self.file.command[0])
        fence = self.fence if self.owner.plugin else None
        path = find_program(name, env.get("PATH"), cwd=root, skip_under=fence)
        if path is None:
            return _unstarted(searched(name, env.get("PATH"), skip_under=fence), root)
        return str(path)

    def _placed(self, text: str) -> str:
        """Return the text with a package's directory in it; other tools' stays as it is [P-12]."""
        return text.replace(_PLUGIN_DIR, self.owner.directory) if self.owner.plugin else text

    def _environment(self, tree: object, context: ToolContext) -> dict[str, str]:
        """Return the whole environment: inherited, the file's own, filtered, the input [P-16]."""
        own = {name: self._placed(value) for name, value in self.file.env.items()}
        filtered = self.filtered({**context.environment, **own})
        return {**filtered, **_variables(tree), **context.told}


def _variables(tree: object) -> dict[str, str]:
    """Return the scalars at the top of an input as variables [P-16].

    What no environment can hold is left out: standard input has all of it.
    """
    assert isinstance(tree, dict)  # noqa: S101  # the toolbox lets nothing else through
    found: dict[str, str] = {}
    for key, value in tree.items():
        if isinstance(value, bool | int | float | str):
            text = value if isinstance(value, str) else codec.encode(value).decode()
            if "\0" not in text and len(text.encode()) <= limits.INPUT_VARIABLE_BYTES:
                found[_INPUT + "".join(map(_upper, key))] = text
    return found


def _upper(char: str) -> str:
    return char.upper() if char.isascii() and char.isalnum() else "_"


def _unstarted(why: str, root: str) -> Output:
    message = f"{why}; nothing was started in {visible(root)}"
    return failed(ErrorClass.ENVIRONMENT, message)


def _told(file: ToolFile, done: Completed) -> Output:
    """Return how a program that did not succeed ended, as a result [P-19]."""
    data = _ended(done)
    match done.ending:
        case Ending.EXITED:
            return _failed(ErrorClass.OTHER, f"exit code {done.code}", done, data)
        case Ending.SIGNALLED:
            return _failed(ErrorClass.OTHER, f"ended by signal {done.signal}", done, data)
        case Ending.TIMED_OUT:
            said = f"{file.name} was ended at its limit of {file.timeout_ms} ms"
            return _failed(ErrorClass.TIMEOUT, said, done, _unknown(data))
        case Ending.OVERFLOWED:
            said = f"{file.name} was ended at {limits.CONVERSATION_BYTES} bytes of output"
            return _failed(ErrorClass.OTHER, said, done, _unknown(data), OUTPUT_CAP)
        case Ending.STOPPED | Ending.LOST | Ending.NOT_STARTED:
            said = f"{file.name} was lost sight of: {done.reason or done.ending.value}"
            return _failed(ErrorClass.INTERNAL, said, done, _unknown(data))
        case _:
            assert_never(done.ending)


async def _succeeded(file: ToolFile, done: Completed, given: bytes, context: ToolContext) -> Output:
    """Return the output of a program that succeeded, if it is what was promised [P-19]."""
    data = _ended(done)
    text, strange = decoded(done.stdout)
    if strange:
        data["invalid_bytes"] = strange
    if file.output_schema is not None:
        found = await promised(file.output_schema, done.stdout, context)
        if found.why is not None:
            said = f"the output of {file.name} is not what its output_schema promises: {found.why}"
            return failed(ErrorClass.INTERNAL, said)
        data["value"] = found.value
    if not done.stdout:
        digest = hashlib.sha256(given).hexdigest()[:_HASH_CHARS]
        text = f"{file.name} succeeded without output (input {digest})"
    left = _left(done)
    return succeeded("\n".join((text.removesuffix("\n"), *left)) if left else text, data)


def _ended(done: Completed) -> dict[str, Any]:
    data: dict[str, Any] = {
        "exit_code": done.code,
        "signal": done.signal,
        "duration_ms": done.duration_ms,
        "bytes_out": done.stdout_bytes + done.stderr_bytes,
    }
    if done.survivors:
        data["survivors"] = done.survivors
    return data


def _failed(
    kind: ErrorClass, said: str, done: Completed, data: dict[str, Any], cause: str | None = None
) -> Output:
    """Return an error with the end of standard error behind it."""
    tail = decoded(done.stderr)[0][-limits.STDERR_CHARS :].removesuffix("\n")
    told = (said, *(("[stderr]", tail) if tail else ()), *_left(done))
    return failed(kind, "\n".join(told), cause, data)


def _left(done: Completed) -> tuple[str, ...]:
    if not done.survivors:
        return ()
    return (f"[processes left running and ended: {done.survivors}]",)


def _unknown(data: dict[str, Any]) -> dict[str, Any]:
    return data | {"effect": "unknown"}
