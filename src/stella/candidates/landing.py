"""What a candidate holds now, and its way into the real tree [D-55, D-57].

Opened anew each time, through real directories of the host's own place only: a candidate whose
root is gone, or is a link by now, is not looked at.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from contextlib import contextmanager
from contextlib import suppress
from pathlib import Path
from typing import Final

from stella.candidates import plan
from stella.candidates.adopt import Places
from stella.candidates.adopt import adopt
from stella.candidates.candidate import Adopted
from stella.candidates.candidate import Bounds
from stella.candidates.candidate import Candidate
from stella.candidates.candidate import Denial
from stella.candidates.candidate import Failed
from stella.candidates.look import kind_at
from stella.candidates.patch import Change
from stella.candidates.patch import compare
from stella.candidates.patch import digest
from stella.candidates.place import NOTES
from stella.candidates.place import WORK
from stella.candidates.place import entered
from stella.candidates.removal import adopting
from stella.candidates.removal import drop_stage
from stella.candidates.removal import stage_of
from stella.candidates.tree import Terms
from stella.candidates.tree import read
from stella.escape import visible
from stella.files.tree import DIRECTORY
from stella.files.tree import held
from stella.files.way import Way

_PRIVATE_MODE: Final = 0o700


def changes_of(
    root: Path, candidate: Candidate, names: tuple[bytes, ...] | None, terms: Terms
) -> tuple[Change, ...] | Failed:
    """Return what differs from the copy's start, in path order.

    `names` is what git names in the candidate, None when it does not answer.
    """
    try:
        with _opened(root, candidate) as (top, _):
            if names is None:
                return Failed(reason="git does not say what the candidate holds")
            now = read(names, candidate.start, top, terms)
    except OSError as error:
        shown = visible(str(candidate.root))
        reason = f"{shown}: {error.strerror or error}"
        return Failed(reason=reason, denial=Denial.ROOT_UNAVAILABLE)
    return now if isinstance(now, Failed) else compare(candidate.start, now)


def landed(
    root: Path,
    candidate: Candidate,
    changes: tuple[Change, ...],
    *,
    bounds: Bounds,
    stop: threading.Event,
) -> Adopted | Failed:
    """Put the changes into the real tree; a failure leaves it as it was and says why."""
    try:
        with ExitStack() as opened:
            notes = opened.enter_context(entered(root, NOTES, make=True))
            if not opened.enter_context(adopting(notes)):
                return Failed(reason="another adoption is under way; nothing was changed")
            _, source = opened.enter_context(_opened(root, candidate))
            real = opened.enter_context(held(os.open(root, DIRECTORY)))
            os.mkdir(stage_of(candidate.name), _PRIVATE_MODE, dir_fd=notes)
            stage = os.open(stage_of(candidate.name), DIRECTORY, dir_fd=notes)
            opened.callback(os.close, stage)
            failed = adopt(
                changes,
                Places(root=real, source=source, stage=stage),
                most=bounds.adopted_bytes,
                token=candidate.name,
                stop=stop,
            )
            # What cannot be dropped now goes with the candidate.
            with suppress(OSError):
                if kind_at(stage, plan.PLAN) is None:
                    drop_stage(notes, candidate.name)
    except OSError as error:
        why = f"{visible(str(error.filename or candidate.root))}: {error.strerror or error}"
        return Failed(reason=f"{why}; nothing was changed")
    return failed or Adopted(
        handle=candidate.handle,
        plugin=candidate.plugin,
        changes=tuple(change.told for change in changes),
        digest=digest(changes),
    )


@contextmanager
def _opened(root: Path, candidate: Candidate) -> Iterator[tuple[int, int]]:
    """Hold a candidate's top and root open. Raises `OSError` when they are no directories."""
    with ExitStack() as opened:
        work = opened.enter_context(entered(root, WORK, make=True))
        top = opened.enter_context(held(os.open(candidate.name, DIRECTORY, dir_fd=work)))
        way = Way(top)
        opened.callback(way.close)
        yield top, way.enter(candidate.root.relative_to(candidate.repository.top).parts)
