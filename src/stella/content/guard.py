"""An armed guard and the calls it denies [P-65].

A guard on the text of a command is one against accidents and no fence: a command can always be
spelled differently [A-13].
"""

import re
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from stella.authority.glob import matches
from stella.content.record import Enforcement
from stella.escape import brief

_COMMAND: Final = "command"
_PATHS: Final = ("path", "paths", "files", "edits")
_CONTINUED: Final = re.compile(r"\\\r?\n")
_PARTS: Final = re.compile(r"[;&|\n(){}`]")
_BEFORE: Final = frozenset(("!", "do", "elif", "else", "if", "then", "time", "until", "while"))
_WORDS: Final = re.compile(r"[\s'\"=;&|<>(){},`]+")
_ASSIGNED: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=\S*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """A record that denies calls: those of `tool`, by `command` or at `path` where it names them.

    `whose` says in words whose record it is. `tool` and `path` are globs [A-10]; a guard that
    names neither command nor path denies every call of its tool.
    """

    lineage: str
    whose: str
    statement: str
    tool: str | None = None
    command: str | None = None
    path: str | None = None

    @classmethod
    def of(cls, enforcement: Enforcement, *, lineage: str, whose: str, statement: str) -> "Guard":
        """Return the guard that a record's enforcement names."""
        return cls(
            lineage=lineage,
            whose=whose,
            statement=statement,
            tool=enforcement.guard_tool,
            command=enforcement.guard_deny_command,
            path=enforcement.guard_deny_path,
        )

    def denies(self, tool: str, given: object, resolved: Iterable[str] = ()) -> bool:
        """Return whether a call of `tool` with this input is one it denies.

        `resolved` are the paths of the call as the disk resolves them, beneath the workspace.
        """
        if self.tool is not None and not matches(self.tool, tool):
            return False
        if self.command is None and self.path is None:
            return self.tool is not None
        words = self.command.split() if self.command is not None else []
        if words and any(_begins(part, words) for part in _commands(given)):
            return True
        if self.path is None:
            return False
        pattern = _plain(self.path)
        return any(matches(pattern, path) for path in (*_paths(given), *map(_plain, resolved)))


def denial(
    guards: Iterable[Guard], tool: str, given: object, resolved: Iterable[str] = ()
) -> tuple[Guard, str] | None:
    """Return the first guard that denies a call, with the sentence for it, or None [P-65]."""
    paths = tuple(resolved)
    for guard in guards:
        if guard.denies(tool, given, paths):
            return guard, (
                f"A rule denies this ({guard.whose} record {brief(guard.lineage)}): "
                f"{brief(guard.statement)}"
            )
    return None


def _commands(given: object) -> Iterator[list[str]]:
    """Yield the simple commands of a shell text as words, with and without what stands before.

    Before one may stand assignments and the words of the shell's own grammar.
    """
    text = given.get(_COMMAND) if isinstance(given, Mapping) else None
    for part in _PARTS.split(_CONTINUED.sub("", text)) if isinstance(text, str) else ():
        words = re.sub(r"['\"\\]", "", part).split()
        yield words
        while words and (words[0] in _BEFORE or _ASSIGNED.fullmatch(words[0])):
            words = words[1:]
            yield words


def _begins(words: list[str], with_: list[str]) -> bool:
    return words[: len(with_)] == with_


def _paths(given: object) -> Iterator[str]:
    """Yield every path that an input names, and every word of a command, each in plain spelling."""
    if not isinstance(given, Mapping):
        return
    command = given.get(_COMMAND)
    if isinstance(command, str):
        yield from map(_plain, filter(None, _WORDS.split(command)))
    for key in _PATHS:
        value = given.get(key)
        for item in value if isinstance(value, list) else [value]:
            path = item.get("path") if isinstance(item, Mapping) else item
            if isinstance(path, str):
                yield _plain(path)


def _plain(path: str) -> str:
    """Return a path without empty and `.` parts, and with `..` taken back where it can be."""
    parts: list[str] = []
    for part in path.strip().split("/"):
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    start = "/" if path.strip().startswith("/") else ""
    return start + "/".join(parts)
