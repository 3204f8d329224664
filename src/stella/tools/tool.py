"""What a tool is: a contract for the model and the gate, a typed input, and what it does.

A tool is a frozen value. It runs only through the toolbox, which asks for a permit [A-30].
"""

from collections.abc import Awaitable
from collections.abc import Callable
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from typing import Generic
from typing import Protocol
from typing import TypeVar

import msgspec

from stella import limits
from stella.authority.contract import ToolContract
from stella.authority.risk import Risk
from stella.clock import Clock
from stella.message import Output
from stella.process.environment import SESSION
from stella.tools.paths import Root
from stella.tools.schema import accept
from stella.tools.schema import schema_of
from stella.tools.seen import Seen

S = TypeVar("S", bound=msgspec.Struct)

_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz234567"
_LETTERS_TAKEN: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """What every tool of one agent works with.

    `environment` is the children's, already without what they must not see [T2-45]. `seen`
    is this agent's own and no other's [T2-33]; `umask` is the person's own, under which a
    shell makes files as they would.
    """

    root: Root
    environment: Mapping[str, str]
    clock: Clock
    seen: Seen
    session_id: str
    umask: int = limits.UMASK

    @property
    def told(self) -> dict[str, str]:
        """What every child is told [T2-47]."""
        return {SESSION: self.session_id, "STELLA_WORKSPACE": self.root.path}

    @property
    def child_environment(self) -> dict[str, str]:
        """The environment of a child, with what every child is told [T2-47]."""
        return dict(self.environment) | self.told

    def token(self) -> str:
        """Return the part of a temporary name that no two files and no two sessions share."""
        return f"{self.session_id}-{self.clock.letters(_LETTERS, _LETTERS_TAKEN)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A tool with the input of one call: what it touches, how bad it is, and how to run it."""

    paths: tuple[str, ...]
    risk: Risk
    run: Callable[[], Awaitable[Output]]


class Offered(Protocol):
    """A tool of any origin and any input, as the toolbox sees it."""

    @property
    def contract(self) -> ToolContract:
        """Return name, words, schema and grade [A-4]."""
        ...

    @property
    def result_bytes(self) -> int:
        """Return how many bytes of text a result may have [T2-3]."""
        ...

    def bind(self, tree: object, context: ToolContext) -> Bound:
        """Return the call with this input; raise `codec.Refused` with all its faults [E-25]."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool(Generic[S]):
    """A built-in tool over inputs of type `S`.

    `paths` are the paths an input names, as written [A-14]; `risk` is the grade of this very
    input, `run` does it.
    """

    contract: ToolContract
    shape: type[S]
    result_bytes: int
    paths: Callable[[S], tuple[str, ...]]
    risk: Callable[[S, ToolContext], Risk]
    run: Callable[[S, ToolContext], Awaitable[Output]]

    def bind(self, tree: object, context: ToolContext) -> Bound:
        """Return the call with this input; raise `codec.Refused` with all its faults [E-25]."""
        given = accept(self.shape, self.contract.input_schema, tree)
        return Bound(
            paths=self.paths(given),
            risk=self.risk(given, context),
            run=lambda: self.run(given, context),
        )


def contract(
    name: str, description: str, shape: type[msgspec.Struct], risk: Risk, *, read_only: bool
) -> ToolContract:
    """Return the contract of a built-in tool, its schema made from the input's type [T2-10]."""
    return ToolContract(
        name=name,
        description=description,
        input_schema=schema_of(shape),
        read_only=read_only,
        risk=risk,
    )
