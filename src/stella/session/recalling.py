"""The plane behind `recall`: a local search, told in the words of the wire [D-51]."""

from dataclasses import dataclass

from stella.context.recall import Recall
from stella.context.recall import Unbuilt
from stella.session.asker import unavailable
from stella.wire.host_call import RecallArgs
from stella.wire.host_result import RecallOk
from stella.wire.host_result import RefusedCall


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalling:
    """Searches the workspace and the notes of one session."""

    recall: Recall

    async def search(self, args: RecallArgs) -> RecallOk | RefusedCall:
        """Return what fits the goal, nothing included, or why nothing can be searched."""
        found = await self.recall.search(args.goal, args.limit)
        if isinstance(found, Unbuilt):
            return unavailable(found.reason)
        return RecallOk(frames=found)
