"""TOML documents in every shape the language has, each with where its writer put things.

A tree is drawn first and then written: tables as headers, dotted keys or on one line, keys bare or
quoted, strings of all four kinds that hold what looks like TOML, comments that do as well.
"""

from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import field
from typing import Any
from typing import Final

from hypothesis import strategies as st

Path = tuple[str | int, ...]
Draw = Callable[[st.SearchStrategy[Any]], Any]

_TRAPS: Final = (
    "[x]",
    "[[x]]",
    "k = 1",
    "#",
    '"',
    "'",
    "=",
    "]",
    "}",
    ",",
    "\\",
    ".",
    "é",
    "😀",
    " ",
)
_TEXTS: Final = st.lists(st.sampled_from((*_TRAPS, "\n", "\t", "a")), max_size=6).map("".join)
_NAMES: Final = st.sampled_from(["a", "b", "c-d", "_1", "2"]) | st.lists(
    st.sampled_from((*_TRAPS, "\t", "a")), max_size=4
).map("".join)
_LEAVES: Final = _TEXTS | st.integers(-9, 9) | st.booleans() | st.sampled_from([1.5, -0.25])
_TREES: Final = st.recursive(
    _LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(_NAMES, inner, max_size=3)
        | st.lists(st.dictionaries(_NAMES, inner, max_size=3), min_size=1, max_size=3)
    ),
    max_leaves=14,
)
TREES: Final = st.dictionaries(_NAMES, _TREES, max_size=5)

_BARE: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_")
_HEX: Final = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A text, the tree in it, and the line and column of every path, both from 1."""

    text: str
    tree: dict[str, Any]
    places: dict[Path, tuple[int, int]]


@dataclass
class _Writer:
    draw: Draw
    text: str = ""
    places: dict[Path, tuple[int, int]] = field(default_factory=dict)

    def chance(self) -> bool:
        return bool(self.draw(st.booleans()))

    def put(self, *pieces: str) -> None:
        self.text += "".join(pieces)

    def mark(self, path: Path) -> None:
        """Remember that a path stands where the text ends now."""
        line = self.text.count("\n") + 1
        self.places[path] = (line, len(self.text) - self.text.rfind("\n"))

    def gap(self) -> None:
        """Write what may stand anywhere on a line."""
        self.put(self.draw(st.sampled_from(["", "", " ", "\t "])))

    def end(self) -> None:
        """Write the end of a line, perhaps behind a comment, perhaps more empty lines."""
        comment = self.draw(st.sampled_from(["", "", '# [x] = """', "# '''", " # ]} k = 1 "]))
        self.put(comment, "\n" * self.draw(st.integers(1, 2)))
        self.gap()

    def key(self, name: str) -> None:
        """Write one part of a key."""
        forms = [_basic(name, self.chance())]
        if name and set(name) <= _BARE:
            forms += [name, name]
        if "'" not in name and "\t" not in name:
            forms.append(f"'{name}'")
        self.put(self.draw(st.sampled_from(forms)))

    def dotted(self, names: list[str]) -> None:
        for number, name in enumerate(names):
            if number:
                self.gap()
                self.put(".")
                self.gap()
            self.key(name)

    def string(self, text: str) -> None:
        forms = [_basic(text, self.chance()), f'"""\n{_many(text)}"""']
        if text[:1] not in {"", " ", "\t", "\n"}:
            forms += [f'"""{_many(text)}"""', f'"""\\\n \n {_many(text)}"""']
        if "'" not in text:
            forms += [f"'''\n{text}'''"]
            forms += [f"'{text}'"] if "\n" not in text else []
        self.put(self.draw(st.sampled_from(forms)))

    def value(self, path: Path, value: Any, *, one_line: bool) -> None:
        match value:
            case str():
                self.string(value)
            case bool():
                self.put("true" if value else "false")
            case dict():
                self.inline(path, value)
            case list():
                self.listed(path, value, one_line=one_line)
            case _:
                self.put(str(value))

    def inline(self, path: Path, table: dict[str, Any]) -> None:
        self.put("{")
        for number, (name, value) in enumerate(table.items()):
            self.put("," if number else "")
            self.gap()
            self.assigned(path, name, value, one_line=True)
            self.gap()
        self.put("}")

    def listed(self, path: Path, items: list[Any], *, one_line: bool) -> None:
        self.put("[")
        for number, item in enumerate(items):
            self.between(one_line=one_line)
            self.mark((*path, number))
            self.value((*path, number), item, one_line=one_line)
            self.between(one_line=one_line)
            self.put("," if number < len(items) - 1 or self.chance() else "")
        self.between(one_line=one_line)
        self.put("]")

    def between(self, *, one_line: bool) -> None:
        self.gap()
        if not one_line and self.chance():
            self.end()

    def assigned(self, path: Path, name: str, value: Any, *, one_line: bool = False) -> None:
        """Write `name = value`, or `name.inner = value` for a table of one key."""
        self.mark((*path, name))
        self.key(name)
        while isinstance(value, dict) and len(value) == 1 and self.chance():
            path = (*path, name)
            ((name, value),) = value.items()
            self.put(self.draw(st.sampled_from([".", " . ", "\t."])))
            self.mark((*path, name))
            self.key(name)
        self.gap()
        self.put("=")
        self.gap()
        self.value((*path, name), value, one_line=one_line)

    def header(self, path: Path, *, is_list: bool) -> None:
        names = [step for step in path if isinstance(step, str)]
        # A table above that has no header yet is named here for the first time.
        for size in range(1, len(path)):
            if path[:size] not in self.places:
                self.mark(path[:size])
        self.mark(path)
        self.put("[[" if is_list else "[")
        self.gap()
        self.dotted(names)
        self.gap()
        self.put("]]" if is_list else "]")
        self.end()

    def body(self, path: Path, table: dict[str, Any]) -> None:
        """Write the keys of a table that has its header, then the tables in it."""
        below: list[tuple[str, Any]] = []
        for name, value in table.items():
            tables = isinstance(value, dict) or (
                isinstance(value, list) and value and all(isinstance(v, dict) for v in value)
            )
            if tables and self.chance():
                below.append((name, value))
                continue
            self.assigned(path, name, value)
            self.end()
        for name, value in below:
            inner = (*path, name)
            if isinstance(value, dict):
                self.table(inner, value)
                continue
            for number, entry in enumerate(value):
                if number == 0:
                    self.mark(inner)
                self.header((*inner, number), is_list=True)
                self.body((*inner, number), entry)

    def table(self, path: Path, table: dict[str, Any]) -> None:
        """Write a table under its header, which may be missing or come after an inner one's."""
        inner = {n: v for n, v in table.items() if isinstance(v, dict)}
        first = next(iter(inner), None)
        if first is None or not self.chance():
            self.header(path, is_list=False)
            self.body(path, table)
            return
        self.table((*path, first), table[first])
        rest = {name: value for name, value in table.items() if name != first}
        if rest or self.chance():
            self.header(path, is_list=False)
            self.body(path, rest)


def _basic(text: str, wide: bool) -> str:
    """Return a basic string; `wide` has escapes where there need not be any."""
    return '"' + "".join(_wide(c) if wide else _HEX.get(c, c) for c in text) + '"'


def _wide(char: str) -> str:
    code = ord(char)
    return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"


def _many(text: str) -> str:
    """Return what stands between three quotation marks; up to two may stand bare."""
    return text.replace("\\", "\\\\").replace('""', '"\\"')


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """Return a document with line ends of one kind."""
    tree = draw(TREES)
    writer = _Writer(draw=draw)
    if writer.chance():
        writer.end()
    writer.body((), tree)
    text = writer.text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
    return Document(text=text, tree=tree, places=writer.places)
