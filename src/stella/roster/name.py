"""What a plugin may be called: one plain word that names a directory everywhere [I-3].

The rule is asked before any path is made from a name.
"""

import string
from typing import Final

from stella import limits
from stella.errors import PackageRefused
from stella.escape import cut
from stella.escape import visible

_FIRST: Final = frozenset(string.ascii_lowercase)
_REST: Final = frozenset(string.ascii_lowercase + string.digits + "-")
_RULE: Final = (
    f"a plugin's name is a letter from a to z, then at most {limits.PLUGIN_NAME_CHARS - 1} "
    "letters from a to z, digits or dashes"
)
_DEVICES: Final = frozenset(
    ("con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10)))
)
# A record or a rule that names one of these must not be read as naming a plugin [A-1, A5].
_PRINCIPALS: Final = frozenset(("stella", "host", "user", "role", "subagent", "plugin"))
_TOOLS: Final = frozenset(("bash", "search", "delegate", "glob", "grep", "task"))


def refuse_name(name: str) -> None:
    """Raise `PackageRefused` for a name that breaks I-3; it quotes name, rule and character."""
    if fault := name_fault(name):
        raise PackageRefused(fault, "I-3", "NameRefused")


def name_fault(name: str) -> str | None:
    """Return why no plugin may be called `name`, or None [I-3]."""
    shown = f'name "{visible(cut(name, limits.PLUGIN_NAME_CHARS))}"'
    if not name:
        return f"{shown}: it is empty; {_RULE}"
    for place, char in enumerate(name, 1):
        if char not in (_FIRST if place == 1 else _REST):
            return f'{shown}: character {place} is "{_spelled(char)}"; {_RULE}'
    if len(name) > limits.PLUGIN_NAME_CHARS:
        return f"{shown}: it has {len(name)} characters; {_RULE}"
    if name in _DEVICES:
        return f"{shown}: some systems keep this word for a device; choose another"
    if name in _PRINCIPALS:
        return f"{shown}: this word stands for who makes a call; choose another"
    if name in _TOOLS:
        return f"{shown}: a tool of the host bears this word; choose another"
    return None


def folded(name: str) -> str:
    """Return what two names share that some file system would take for one [A4]."""
    return name.casefold()


def _spelled(char: str) -> str:
    # White space alone shows as nothing.
    return visible(char) or f"\\u{{{ord(char):X}}}"
