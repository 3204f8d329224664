"""The built-in tools over a real directory, called as the drive calls them."""

import asyncio
import itertools
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path
from typing import Any

from stella.authority.gate import Mode
from stella.authority.gate import Permit
from stella.authority.gate import judge
from stella.clock import Clock
from stella.message import Asked
from stella.message import ErrorClass
from stella.message import Failure
from stella.message import Output
from stella.tools.all import TOOLS
from stella.tools.paths import held_root
from stella.tools.seen import Seen
from stella.tools.tool import Offered
from stella.tools.tool import ToolContext
from stella.tools.toolbox import Prepared
from stella.tools.toolbox import Toolbox
from tests.making.clocks import HandClock
from tests.making.processes import PATH

SESSION = "ses-20260811T120000Z-abcdefgh"


@dataclass(kw_only=True)
class Hands:
    """A toolbox and its context; `do` makes one call to its end, allowed whatever its risk."""

    context: ToolContext
    toolbox: Toolbox
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def asked(self, name: str, arguments: dict[str, Any] | str) -> Asked:
        return Asked(call_id=f"t1.c{next(self.numbers)}", name=name, input=arguments)

    def prepare(self, name: str, **arguments: Any) -> Prepared | Output:
        return self.toolbox.prepare(self.asked(name, arguments))

    def do(self, name: str, **arguments: Any) -> Output:
        prepared = self.prepare(name, **arguments)
        if isinstance(prepared, Output):
            return prepared
        return asyncio.run(self.toolbox.run(prepared, permit_for(prepared)))

    def data(self, name: str, **arguments: Any) -> dict[str, Any]:
        """The data of a call that succeeds."""
        output = self.do(name, **arguments)
        assert output.ok is not None, output
        assert output.ok.data is not None
        return output.ok.data

    def text(self, name: str, **arguments: Any) -> str:
        """The text of a call that succeeds."""
        output = self.do(name, **arguments)
        assert output.ok is not None, output
        return output.ok.content

    def fault(self, name: str, **arguments: Any) -> Failure:
        """The failure of a call that fails."""
        output = self.do(name, **arguments)
        assert output.error is not None, output
        return output.error

    def refused(self, name: str, **arguments: Any) -> str | None:
        """The cause of a call that policy refuses."""
        error = self.fault(name, **arguments)
        assert error.kind is ErrorClass.REFUSED_BY_POLICY, error
        return error.cause

    def read(self, *paths: str) -> None:
        for path in paths:
            self.text("read_file", path=path)


def permit_for(prepared: Prepared, mode: Mode = Mode.ALL) -> Permit:
    """What the gate says to a call in a mode that allows it."""
    permit = judge(
        call_id=prepared.call_id, contract=prepared.contract, risk=prepared.risk, mode=mode
    )
    assert isinstance(permit, Permit)
    return permit


@contextmanager
def hands(
    root: Path,
    *,
    tools: Sequence[Offered] = TOOLS,
    environment: Mapping[str, str] | None = None,
    clock: Clock | None = None,
    ceiling: float = 60,
) -> Iterator[Hands]:
    """Hold `root` open and offer the tools over it."""
    with held_root(str(root)) as held:
        context = ToolContext(
            root=held,
            environment={"PATH": PATH} if environment is None else environment,
            clock=clock or HandClock(),
            seen=Seen(),
            session_id=SESSION,
        )
        yield Hands(context=context, toolbox=Toolbox(tools, context, ceiling=ceiling))


def picture(root: Path) -> dict[str, tuple[str, int, bytes]]:
    """Everything below a directory: kind, mode and contents of each entry, links not followed."""
    found: dict[str, tuple[str, int, bytes]] = {}
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        status = path.lstat()
        if path.is_symlink():
            found[name] = ("link", 0, bytes(path.readlink()))
        elif path.is_file():
            found[name] = ("file", status.st_mode, path.read_bytes())
        else:
            found[name] = ("other", status.st_mode, b"")
    return found
