"""A value of a manifest as the text its author could have written [M-7, M-57].

Both the faults and the consent text show values so. The text is for reading; nothing parses
it again.
"""

from collections.abc import Callable
from collections.abc import Mapping
from datetime import date
from datetime import time
from typing import Final

from stella.escape import brief

_ESCAPES: Final = str.maketrans({'"': r"\"", "\\": r"\\", "\n": r"\n", "\t": r"\t", "\r": r"\r"})


def quoted(text: str) -> str:
    """Return a text as a TOML basic string; hidden characters are left for the escaper."""
    return f'"{text.translate(_ESCAPES)}"'


def toml_text(value: object, string: Callable[[str], str] = quoted) -> str:
    """Return a value as TOML on one line, its strings rendered by `string`."""
    match value:
        case str():
            return string(value)
        case bool():
            return "true" if value else "false"
        case date() | time():
            return value.isoformat()
        case list() | tuple():
            return f"[{', '.join(toml_text(item, string) for item in value)}]"
        case Mapping():
            rows = (f"{string(key)} = {toml_text(row, string)}" for key, row in value.items())
            return f"{{{', '.join(rows)}}}"
        case _:
            return str(value)


def written(value: object) -> str:
    """Return a value for a fault: on one line, hidden characters shown, not too long [M-7]."""
    return brief(toml_text(value))
