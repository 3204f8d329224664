"""The guards that a person approved and a repository promoted, read from their two files [P-65].

What is missing, no plain file, or wrong grants nothing; what is wrong is a notice.
"""

import hashlib
import os
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from stella import limits
from stella.content.approvals import APPROVED
from stella.content.approvals import NO_APPROVALS
from stella.content.approvals import NO_PROMOTIONS
from stella.content.approvals import PROMOTED
from stella.content.approvals import Approvals
from stella.content.approvals import Schema
from stella.content.approvals import read_approvals
from stella.errors import PackageRefused
from stella.escape import visible
from stella.files.tree import DIRECTORY
from stella.files.tree import read
from stella.roster.carried import STELLA
from stella.roster.carried import digests
from stella.roster.content import RULES
from stella.roster.scope import Places


@dataclass(frozen=True, slots=True, kw_only=True)
class Grants:
    """Both files; `notices` are whole lines about one that grants nothing though it is there."""

    approved: Approvals = NO_APPROVALS
    promoted: Approvals = NO_PROMOTIONS
    notices: tuple[str, ...] = ()


def read_grants(
    places: Places, *, trusted: bool, vouched: Mapping[str, str] | None = None
) -> Grants:
    """Return what may guard here; raises nothing. Without trust no promotion is read [P-67].

    `vouched` are the files that the trust is about: promotions that are others by now grant
    nothing [I-53].
    """
    notices: list[str] = []
    home = (places.home, places.home / RULES)
    approved = _grants(home, APPROVED, Schema.APPROVALS, notices)
    promoted = None
    if trusted:
        there = places.workspace / STELLA
        way = (places.workspace, there, there / RULES)
        expected = None if vouched is None else digests(vouched).get(f"{RULES}/{PROMOTED}", "")
        promoted = _grants(way, PROMOTED, Schema.PROMOTIONS, notices, expected)
    return Grants(
        approved=approved or NO_APPROVALS,
        promoted=promoted or NO_PROMOTIONS,
        notices=tuple(notices),
    )


def _grants(
    way: tuple[Path, ...],
    name: str,
    schema: Schema,
    notices: list[str],
    expected: str | None = None,
) -> Approvals | None:
    data = _bytes(way, name, notices)
    if data is None:
        return None
    place = visible(str(way[-1] / name))
    if expected not in {None, f"sha256:{hashlib.sha256(data).hexdigest()}"}:
        notices.append(f"{place}: changed while it was read; it grants nothing")
        return None
    reading = read_approvals(data, schema)
    notices += (f"{place}: {fault}; it grants nothing" for fault in reading.faults)
    return reading.value


def _bytes(way: tuple[Path, ...], name: str, notices: list[str]) -> bytes | None:
    """Return the bytes of a file at the end of real directories, None when there is none."""
    with ExitStack() as held:
        here: int | None = None
        try:
            for path in way:
                here = os.open(path if here is None else path.name, DIRECTORY, dir_fd=here)
                held.callback(os.close, here)
            assert here is not None  # noqa: S101  # a way has a first directory
            return read(here, name, limits.CONTENT_BYTES + 1)
        except FileNotFoundError:
            return None
        except (OSError, PackageRefused) as error:
            said = error.strerror if isinstance(error, OSError) else str(error)
            notices.append(f"{visible(str(way[-1] / name))}: {said}; it grants nothing")
            return None
