"""One process at the host's desk: its calls in order, and what came of each [D-48, D-49].

The grant and the counter come first; the plane behind the call is somebody else's.
"""

from collections.abc import Awaitable
from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace

from stella import codec
from stella import limits
from stella.escape import visible
from stella.session.asker import Asker
from stella.session.asker import Bill
from stella.session.asker import Outcome
from stella.session.asker import failed
from stella.turn.allowance import PointAllowance
from stella.turn.plugin_facts import ServedCall
from stella.turn.questions import AskPlugin
from stella.turn.questions import Change
from stella.turn.questions import Served
from stella.turn.tally import Tally
from stella.wire.host_call import HostCall
from stella.wire.host_result import RefusedCall

Plane = Callable[[Asker, HostCall, Bill], Awaitable[Outcome]]
"""Serves a call that may be made."""

OpenDesk = Callable[[AskPlugin], "Desk | None"]
"""Returns what answers the calls of one point, None where none is possible [D-47]."""


@dataclass(slots=True, kw_only=True)
class Desk:
    """Serves the calls of one process, in the order asked, and keeps what came of each [D-49]."""

    plane: Plane
    asker: Asker
    allowance: PointAllowance
    _calls: list[ServedCall] = field(default_factory=list)
    _spent: Tally = field(default_factory=Tally)
    _changes: list[Change] = field(default_factory=list)
    _measured: bool = True
    _refusals: int = 0
    _untold: int = 0

    @property
    def served(self) -> Served:
        """What was served so far, what it used and what it changed."""
        changes = tuple(self._changes) if self._measured else None
        return Served(
            calls=tuple(self._calls), untold=self._untold, spent=self._spent, changes=changes
        )

    async def serve(self, call: HostCall) -> Outcome:
        """Answer one call: the grant, the counter, the plane [D-48]."""
        refused = self.allowance.refused(call)
        if refused is not None:
            self._refused(call, refused)
            return refused
        bill = Bill()
        outcome: Outcome = failed("the point was over before it was done")
        try:
            asker = replace(self.asker, purse=self.asker.purse.after(self._spent))
            outcome = await self.plane(asker, call, bill)
        except OSError as error:
            # What the world refuses behind a plane is no fault of the plugin's process.
            outcome = failed(visible(str(error)))
        finally:
            self._keep(call, outcome, bill)
        return outcome

    def _refused(self, call: HostCall, refused: RefusedCall) -> None:
        """Keep a refusal, which costs nothing, so that a plugin may ask for it without end."""
        self._refusals += 1
        if self._refusals > limits.REFUSALS_TOLD_PER_POINT:
            self._untold += 1
        else:
            self._keep(call, refused, Bill())

    def _keep(self, call: HostCall, outcome: Outcome, bill: Bill) -> None:
        refused = outcome if isinstance(outcome, RefusedCall) else None
        turned = bill.steps is not None
        served = ServedCall(
            id=call.id,
            call=call.call,
            args=codec.plain(call.args),
            ok=codec.plain(outcome) if refused is None else None,
            refusal=refused,
            cost_usd=bill.spent.cost_usd if turned else None,
            steps=bill.steps,
        )
        self._calls.append(served)
        self._spent.add(bill.spent)
        if bill.changes is None:
            self._measured = False
        else:
            self._changes += bill.changes
