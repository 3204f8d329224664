"""Plays the file calls of a script by hand, as strictly as the file tools are asked to [T2-33].

It stands in for the host where only the scripts themselves are looked at.
"""

import hashlib
import json
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path
from typing import Any

from stella import limits
from tests.real.workspace import Script


@dataclass(slots=True, kw_only=True)
class Hand:
    """One worker in `root`: which lines of which text of a file it has seen so far."""

    root: Path
    seen: dict[str, set[int]] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)

    def play(self, script: Script) -> tuple[str, ...]:
        """Carry out every call in order and return the texts that end the rounds."""
        texts: list[str] = []
        for line in script:
            reply: dict[str, Any] = json.loads(line)
            for call in reply.get("tool_calls", ()):
                getattr(self, call["name"])(**call["input"])
            texts += [reply["text"]] if "text" in reply else []
        return tuple(texts)

    def read_file(self, *, path: str, offset: int, limit: int) -> None:
        """See at most `limit` lines; a file that cannot be shown as it is fails the test."""
        data = (self.root / path).read_bytes()
        lines = data.decode("utf-8").removesuffix("\n").split("\n")
        shown = lines[offset - 1 : offset - 1 + limit]
        assert shown, f"{path} has no line {offset}"
        assert limit <= limits.READ_LINES
        assert b"\r" not in data
        assert b"\0" not in data
        assert max(map(len, shown)) <= limits.READ_LINE_CHARS
        assert sum(len(line.encode()) + 8 for line in shown) <= limits.RESULT_BYTES_FILE
        if self.digests.get(path) != _digest(data):
            self.seen[path] = set()
        self.digests[path] = _digest(data)
        self.seen[path] |= set(range(offset, offset + len(shown)))

    def write_file(self, *, path: str, content: str) -> None:
        """Replace a file of which every line was seen and that has not changed since."""
        data = (self.root / path).read_bytes()
        count = len(data.decode("utf-8").removesuffix("\n").split("\n"))
        assert self.digests.get(path) == _digest(data)
        assert self.seen[path] == set(range(1, count + 1))
        self._put(path, content)

    def edit_file(self, *, path: str, old_string: str, new_string: str) -> None:
        """Replace the one place of a text in a file that has not changed since it was read."""
        data = (self.root / path).read_bytes()
        text = data.decode("utf-8")
        assert self.digests.get(path) == _digest(data)
        assert text.count(old_string) == 1
        assert old_string != new_string
        self._put(path, text.replace(old_string, new_string))

    def _put(self, path: str, content: str) -> None:
        (self.root / path).write_bytes(content.encode("utf-8"))


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
