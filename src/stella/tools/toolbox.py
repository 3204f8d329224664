"""The one way to run a tool: look the call up, then run it with the gate's permit [A-30, A-36].

Looking up has no effect outside and judges nothing; running without the matching permit is a
fault of the caller and raises. What a tool does wrong becomes a value here [T2-4].
"""

import asyncio
import traceback
from collections.abc import Awaitable
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from weakref import WeakKeyDictionary

from stella import codec
from stella import limits
from stella.authority.contract import ToolContract
from stella.authority.gate import Permit
from stella.authority.risk import Risk
from stella.escape import cut
from stella.escape import visible
from stella.message import Asked
from stella.message import ErrorClass
from stella.message import Output
from stella.message import failed
from stella.near import suggestion
from stella.tools.text import within
from stella.tools.tool import Offered
from stella.tools.tool import ToolContext

_NAME_CHARS: Final = 128


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, weakref_slot=True)
class Prepared:
    """A call that is known and well formed, ready to be judged and then run.

    `paths` are the paths it names, as written [A-14]; `risk` is the grade of this very call.
    It does not hold what runs the call: only the toolbox that made it can [A-30].
    """

    call_id: str
    contract: ToolContract
    paths: tuple[str, ...]
    risk: Risk


class Toolbox:
    """The tools one agent is offered.

    `ceiling` is how many seconds one run may take [E-27].
    """

    def __init__(
        self,
        tools: Sequence[Offered],
        context: ToolContext,
        *,
        ceiling: float = limits.TOOL_SECS,
    ) -> None:
        self._tools: Mapping[str, Offered] = {tool.contract.name: tool for tool in tools}
        if len(self._tools) != len(tools):
            message = "two tools bear one name"
            raise ValueError(message)
        self._context = context
        self._ceiling = ceiling
        self._runs: WeakKeyDictionary[Prepared, Callable[[], Awaitable[Output]]] = (
            WeakKeyDictionary()
        )
        self._ran: set[str] = set()

    @property
    def contracts(self) -> tuple[ToolContract, ...]:
        """The contracts of all tools, in the order they were listed."""
        return tuple(tool.contract for tool in self._tools.values())

    def prepare(self, call: Asked) -> Prepared | Output:
        """Return the call ready to be judged, or the error it ends with [E-23 items 1 to 3].

        Nothing is opened for writing, started or sent.
        """
        tree = _arguments(call)
        if isinstance(tree, Output):
            return tree
        tool = self._tools.get(call.name)
        if tool is None:
            return self._unknown(call.name)
        try:
            bound = tool.bind(tree, self._context)
        except codec.Refused as refused:
            faults = "\n".join(cut(str(fault), limits.EXCERPT_CHARS) for fault in refused.reasons)
            return failed(ErrorClass.INVALID_INPUT, f"the arguments do not fit:\n{faults}")
        prepared = Prepared(
            call_id=call.call_id,
            contract=tool.contract,
            paths=bound.paths,
            risk=bound.risk,
        )
        self._runs[prepared] = bound.run
        return prepared

    async def run(self, prepared: Prepared, permit: Permit) -> Output:
        """Run a call once, under the ceiling, and return its result [T2-1, T2-4, E-27].

        Raises TypeError without a permit, ValueError when it is for another call, for less
        than this call's risk, or was used before [A-34]. A cancel goes through.
        """
        run = self._permitted(prepared, permit)
        name = prepared.contract.name
        ceiling = asyncio.timeout(self._ceiling)
        try:
            async with ceiling:
                output: object = await run()
        except TimeoutError as error:
            if not ceiling.expired():
                return _broken(name, error)
            return _abandoned(name, self._ceiling)
        # By rule a tool that raises anything gives `internal` and the turn goes on; an embedder's
        # tools may raise what they like, and the traceback goes to the journal [T2-4].
        except Exception as error:  # noqa: BLE001  # the rule is for every error there is
            return _broken(name, error)
        if not isinstance(output, Output):
            return _broken(name, TypeError(f"expected an Output, got {type(output).__name__}"))
        return within(output, self._tools[name].result_bytes)

    def _permitted(self, prepared: Prepared, permit: Permit) -> Callable[[], Awaitable[Output]]:
        """Return what runs the call; it is taken out, so that it runs once [E-26]."""
        if type(permit) is not Permit:
            message = "a tool runs with a permit of the gate only"
            raise TypeError(message)
        if (permit.call_id, permit.tool) != (prepared.call_id, prepared.contract.name):
            message = f"the permit is for {permit.tool} in call {permit.call_id}"
            raise ValueError(message)
        if permit.risk.rank < prepared.risk.rank:
            message = f"the permit is for risk {permit.risk.value}, not {prepared.risk.value}"
            raise ValueError(message)
        if prepared not in self._runs or prepared.call_id in self._ran:
            message = f"call {prepared.call_id} has run already, or is another toolbox's"
            raise ValueError(message)
        self._ran.add(prepared.call_id)
        return self._runs.pop(prepared)

    def _unknown(self, name: str) -> Output:
        shown = cut(visible(name), _NAME_CHARS)
        hint = suggestion(name[:_NAME_CHARS], self._tools)
        message = f'no tool is named "{shown}"'
        return failed(ErrorClass.NOT_FOUND, f"{message}; {hint}" if hint else message)


def _arguments(call: Asked) -> object:
    """Return the arguments as a table, or the error when they are none [E-23 item 1]."""
    tree: object = call.input
    if isinstance(tree, str):
        try:
            tree = codec.parse(tree.encode("utf-8", "surrogatepass"))
        except codec.Refused as refused:
            return failed(ErrorClass.INVALID_INPUT, f"the arguments are not JSON: {refused}")
    if isinstance(tree, dict):
        return tree
    return failed(ErrorClass.INVALID_INPUT, "the arguments are not a JSON object")


def _broken(name: str, error: Exception) -> Output:
    """Return the result of a tool that raised; the detail is for the journal, not the model."""
    detail = "".join(traceback.format_exception(error))
    message = f"{name} failed inside the host; whether it had an effect is unknown"
    return failed(ErrorClass.INTERNAL, message, data={"detail": detail[-limits.EXCERPT_CHARS :]})


def _abandoned(name: str, seconds: float) -> Output:
    message = f"{name} was abandoned after {seconds:g} seconds; its effect is unknown"
    return failed(ErrorClass.TIMEOUT, message, data={"effect": "unknown"})
