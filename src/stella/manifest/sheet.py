"""What could be established of a manifest, value by value [M-5].

A load rule asks a sheet for the values it reads. A value that did not decode ends the rule
that asked, and no other: nothing is guessed in its place, so one mistake can neither hide
nor invent another.
"""

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from typing import Generic
from typing import TypeVar
from typing import cast

from stella import codec
from stella import limits
from stella.codec import Refused
from stella.manifest.fault import Path
from stella.near import near

T = TypeVar("T")

_ABSENT: Final = object()


class Unestablished(Exception):
    """A rule asked for a value that did not decode, so the rule does not apply [M-5]."""


@dataclass(frozen=True, slots=True)
class Place(Generic[T]):
    """A value of a table: its keys from that table on, its type, its value when absent.

    A required key that is absent is a decoding fault, so its `absent` is seen only when the
    whole table is absent.
    """

    path: tuple[str, ...]
    kind: type[T]
    absent: T


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry(Generic[T]):
    """One entry of a list that decoded, at its place in the file.

    `name` is what tells it from others: the value itself, or for a table the trimmed name of
    it; empty when it is blank or did not decode. `repeated` says that an earlier entry has
    the same one; a blank name repeats nothing [Q-7].
    """

    sheet: "Sheet"
    path: Path
    value: T
    name: str
    repeated: bool

    @property
    def number(self) -> int:
        """The position in the list, counted from 1."""
        return int(self.path[-1]) + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed(Generic[T]):
    """The entries of a list that decoded, and whether these are all [Q-7]."""

    entries: tuple[Entry[T], ...]
    names: frozenset[str]
    whole: bool

    def __iter__(self) -> Iterator[Entry[T]]:
        return iter(self.entries)

    @property
    def empty(self) -> bool:
        """Whether nothing is listed; an entry that did not decode is something."""
        return self.whole and not self.entries

    def has(self, name: str) -> bool:
        """Return whether an entry has that name.

        Raises `Unestablished` when none that decoded has it and another one might.
        """
        if name not in self.names and not self.whole:
            raise Unestablished
        return name in self.names


class Sheet:
    """A table of the manifest beside the paths in it that did not decode.

    `path` is where the table stands, empty for the root. Every method that reads raises
    `Unestablished` for a value that did not decode.
    """

    def __init__(
        self, tree: Mapping[str, object], broken: frozenset[Path], path: Path = ()
    ) -> None:
        self.path = path
        self._tree = tree
        self._broken = broken
        # Read once: rules that run entry by entry ask for them again and again.
        self._keys: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._words: dict[tuple[str, ...], Listed[str]] = {}
        self._read: dict[tuple[tuple[str, ...], object], object] = {}
        self._lookups = 0

    def get(self, place: Place[T]) -> T:
        """Return the value of a place, or what it is when absent."""
        found = self._find(place.path)
        if found is _ABSENT:
            return place.absent
        key = (place.path, place.kind)
        if key not in self._read:
            try:
                self._read[key] = codec.decode(place.kind, found)
            except Refused as refused:  # more was wrong than the codec tells of
                raise Unestablished from refused
        return cast("T", self._read[key])

    def has(self, *path: str) -> bool:
        """Return whether the table or key is there."""
        return self._find(path) is not _ABSENT

    def raw(self, *path: str) -> object:
        """Return the value as it was read, None when absent: what a message quotes."""
        found = self._find(path)
        return None if found is _ABSENT else found

    def keys(self, *path: str) -> tuple[str, ...]:
        """Return the keys of a table, in byte order; none when it is absent."""
        if path not in self._keys:
            found = self._find(path)
            self._keys[path] = tuple(sorted(found)) if isinstance(found, dict) else ()
        return self._keys[path]

    def words(self, *path: str) -> Listed[str]:
        """Return a list of strings, each its own name; no entry when it is absent."""
        if path not in self._words:
            items, whole = self._items(path)
            words = [(p, word, word) for p, word in items if isinstance(word, str)]
            self._words[path] = self._listed(words, whole=whole and len(words) == len(items))
        return self._words[path]

    def tables(self, *path: str, name: Place[str]) -> "Listed[Sheet]":
        """Return a list of tables, told apart by the trimmed value of `name`."""
        items, whole = self._items(path)
        sheets = [
            (p, Sheet(table, self._broken, p)) for p, table in items if isinstance(table, dict)
        ]
        named = [(p, sheet, (sheet.peek(name) or "").strip()) for p, sheet in sheets]
        return self._listed(named, whole=whole and len(named) == len(items))

    def peek(self, place: Place[T]) -> T | None:
        """Return the value of a place, or None when it did not decode."""
        try:
            return self.get(place)
        except Unestablished:
            return None

    def near(self, word: str, candidates: Collection[str]) -> tuple[str, ...]:
        """Return near words among names the author chose [M-8].

        Comparing two texts costs the product of their lengths, so long words, long lists
        and the later ones of very many faults get none.
        """
        return () if len(candidates) > limits.NEAR_CANDIDATES else self.meant(word, candidates)

    def meant(self, word: str, legal: Iterable[str]) -> tuple[str, ...]:
        """Return near words of the host's own vocabulary, for the first few words asked [M-8]."""
        self._lookups += 1
        if self._lookups > limits.NEAR_LOOKUPS or len(word) > limits.NEAR_CHARS:
            return ()
        return near(word, legal)

    def _find(self, path: tuple[str, ...]) -> object:
        found: object = self._tree
        for depth, key in enumerate(path, 1):
            if (*self.path, *path[:depth]) in self._broken:
                raise Unestablished
            found = found.get(key, _ABSENT) if isinstance(found, dict) else _ABSENT
        return found

    def _items(self, path: tuple[str, ...]) -> tuple[list[tuple[Path, object]], bool]:
        """Return the entries of a list that decoded, each with its path, and whether all did."""
        found = self._find(path)
        items = found if isinstance(found, list) else []
        placed = [((*self.path, *path, number), item) for number, item in enumerate(items)]
        decoded = [(p, item) for p, item in placed if p not in self._broken]
        return decoded, len(decoded) == len(placed)

    def _listed(self, items: Iterable[tuple[Path, T, str]], *, whole: bool) -> Listed[T]:
        entries: list[Entry[T]] = []
        names: set[str] = set()
        for path, value, written in items:
            name = written if written.strip() else ""
            entries.append(
                Entry(sheet=self, path=path, value=value, name=name, repeated=name in names)
            )
            if name:
                names.add(name)
        return Listed(entries=tuple(entries), names=frozenset(names), whole=whole)
