"""What a person answered, and to which text [I-9, I-26]."""

import hashlib
from typing import Final

_YES: Final = frozenset({"y", "yes"})


def accepts(answer: str) -> bool:
    """Return whether an answer is a yes: `y` or `yes`, trimmed, in any case [I-9].

    Everything else is a no, letters that merely look like these included [C73].
    """
    return answer.isascii() and answer.strip().lower() in _YES


def digest_of(text: str) -> str:
    """Return the digest a consent text is recorded by [I-26]."""
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"
