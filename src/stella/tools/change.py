"""What must hold before a file is changed, checked alike for writing, editing and deleting.

Nothing is changed here: a path is found, looked at and compared with what the agent has read.
"""

import os
import stat
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Final

from stella import limits
from stella.authority.risk import Risk
from stella.message import ErrorClass
from stella.message import Failure
from stella.tools.contents import digest_of
from stella.tools.contents import irregular
from stella.tools.contents import opened
from stella.tools.paths import Purpose
from stella.tools.paths import Spot
from stella.tools.paths import steers
from stella.tools.paths import walk
from stella.tools.seen import Seen
from stella.tools.seen import Unread
from stella.tools.text import path_shown
from stella.tools.tool import ToolContext
from stella.tools.trouble import failure_of
from stella.tools.trouble import invalid
from stella.tools.trouble import protected

_SENTENCES: Final = {
    Unread.NOT_READ: "read it with read_file first",
    Unread.CHANGED: "it changed since it was read; read it again",
}
_WHOLE: Final = "read all of it with read_file first, or change a part with edit_file"


def risk_of(paths: Sequence[str], context: ToolContext, least: Risk) -> Risk:
    """Return the grade of a change of `paths`: what steers later sessions is worst [T2-32]."""
    steering = any(steers(context.root, path) for path in paths)
    return Risk.DESTRUCTIVE if steering else least


async def to_change(
    path: str, context: ToolContext, held: ExitStack, *, whole: bool
) -> Spot | Failure:
    """Return the spot of a file that may be written: a new one, or one that was read [T2-33].

    `whole` asks that all of an existing file has been shown to the agent.
    """
    spot = walk(context.root, path, Purpose.WRITE, held)
    if isinstance(spot, Failure) or spot.status is None:
        return spot
    return writable(spot) or await known(spot, context.seen, whole=whole) or spot


def writable(spot: Spot) -> Failure | None:
    """Refuse what is no regular file, and a file that has another name as well [T2-31]."""
    if spot.status is None:
        return None
    if failure := irregular(spot, spot.status):
        return failure
    if spot.status.st_nlink > 1:
        return protected(spot.given, "the file has more than one hard link")
    return None


async def known(spot: Spot, seen: Seen, *, whole: bool) -> Failure | None:
    """Return why the file may not be changed by an agent that has seen `seen` [T2-33]."""
    try:
        with opened(spot) as file:
            if isinstance(file, Failure):
                return file
            digest = await digest_of(file)
    except OSError as error:
        return failure_of(error, spot.given)
    return unseen(spot, digest, seen, whole=whole)


def unseen(spot: Spot, digest: str, seen: Seen, *, whole: bool) -> Failure | None:
    """Return why a file with that digest may not be changed, None when it may [T2-33]."""
    unread = seen.fault(spot.path, digest, whole=whole)
    if unread is None:
        return None
    way_out = _WHOLE if whole and unread is Unread.NOT_READ else _SENTENCES[unread]
    return Failure(
        message=f"{path_shown(spot.given)[0]}: {way_out}",
        kind=ErrorClass.REFUSED_BY_POLICY,
        cause=unread.value,
    )


def twice(spots: Sequence[Spot | Failure]) -> list[Failure]:
    """Return a fault for each path that stands in a batch a second time [T2-34]."""
    met: set[tuple[str, ...]] = set()
    faults: list[Failure] = []
    for spot in spots:
        if isinstance(spot, Failure):
            continue
        if spot.parts in met:
            faults.append(invalid(spot.given, "the same path stands twice in this batch"))
        met.add(spot.parts)
    return faults


def too_large(spot: Spot, size: int) -> Failure | None:
    """Refuse contents of more than 4 MiB [T2-13]."""
    if size <= limits.WRITE_BYTES:
        return None
    return invalid(spot.given, f"expected at most {limits.WRITE_BYTES} bytes, got {size} or more")


def mode_of(status: os.stat_result | None) -> int:
    """Return the mode for new contents: that of the old file, 0644 for a new one [T2-13].

    The set-user-id and set-group-id bits fall, as they do whenever a file is written to.
    """
    return 0o644 if status is None else stat.S_IMODE(status.st_mode) & 0o777
