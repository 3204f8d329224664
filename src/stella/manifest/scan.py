"""Where TOML text of a manifest exceeds a bound, and what its reader says [M-1, B46, B47]."""

import re
from typing import Final
from typing import assert_never

from stella import limits
from stella.escape import visible
from stella.manifest.fault import ManifestFault
from stella.manifest.fault import Reason
from stella.toml_bounds import Bound
from stella.toml_bounds import beyond

_HALTED: Final = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)\Z")


def overreach(text: str) -> ManifestFault | None:
    """Return the first place where TOML text exceeds a bound, or None.

    The bounds are `limits.TOML_DEPTH` parts of a dotted key and nested lists or tables, and
    `limits.TOML_INTEGER_CHARS` characters of an integer.
    """
    found = beyond(text, limits.TOML_DEPTH)
    if found is None:
        return None
    match found.bound:
        case Bound.NESTED:
            reason = Reason.WRONG_TYPE
            message = (
                f"more than {limits.TOML_DEPTH} lists and tables are nested here; "
                "no value of a manifest is that deep."
            )
        case Bound.PARTS:
            reason = Reason.UNKNOWN_KEY
            message = (
                f"a dotted key of {found.number} parts; no key of a manifest has more than "
                f"{limits.TOML_DEPTH}."
            )
        case Bound.DIGITS:
            reason = Reason.OUT_OF_RANGE
            message = (
                f"an integer of {found.number} characters; none of a manifest is above "
                f"{limits.U64_MAX}."
            )
        case _:
            assert_never(found.bound)
    line, column = position(text, found.at)
    return ManifestFault(
        rule="R-1", path=(), message=message, reason=reason, line=line, column=column
    )


def halted(detail: str) -> tuple[str, tuple[int, int] | None]:
    """Return what the TOML reader says without its place, made visible, and the place [K-81].

    The place is a line and a column; None when the reader came to the end of the text.
    """
    found = _HALTED.search(detail)
    if found is None:
        return visible(detail), None
    place = (int(found[1]), int(found[2])) if found[1] else None
    return visible(detail[: found.start()]), place


def position(text: str, offset: int) -> tuple[int, int]:
    """Return the line and the column of an offset, both from 1 [M-6]."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)
