"""Paths that are shown to nobody unasked: their names say that they hold a secret [H-42]."""

import re
from typing import Final

_SHAPES: Final = re.compile(
    r"(?:^|/)(?:"
    r"\.env[^/]*|[^/]*(?:credential|secret)[^/]*|id_(?:rsa|ed25519)"
    r"|\.netrc|\.npmrc|\.pypirc|[^/]*\.(?:pem|key)"
    r")(?:/|\Z)"
)


def sensitive(path: str) -> bool:
    """Return whether a component of `path` has a shape of H-42, in any case of its letters."""
    return _SHAPES.search(path.casefold()) is not None
