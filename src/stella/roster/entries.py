"""The entries of a file in which a person's yes is kept: one faulty entry hides no other [I-27]."""

from collections.abc import Callable
from collections.abc import Iterable
from typing import Any
from typing import TypeVar

from stella import codec
from stella.codec import Refused
from stella.escape import visible

T = TypeVar("T")


def by_key(
    tables: Iterable[dict[str, Any]],
    kind: type[T],
    key: Callable[[T], str],
    *,
    called: str,
    wrong: Callable[[T], str | None] = lambda _: None,
) -> tuple[dict[str, T], tuple[str, ...]]:
    """Return the entries by their key, and a line for each that counts as none.

    `called` is the name of their tables. `wrong` says why a well-formed one does not belong here.
    Of two with one key neither counts: nobody knows which of them was meant.
    """
    found: dict[str, T] = {}
    said: list[str] = []
    twice: set[str] = set()
    for number, table in enumerate(tables, 1):
        place = f"[[{called}]] entry {number}"
        try:
            entry = codec.decode(kind, table)
        except Refused as error:
            said.append(f"{place}: {error}")
            continue
        if (why := wrong(entry)) is not None:
            said.append(f"{place}: {why}")
            continue
        name = key(entry)
        if name in found:
            twice.add(name)
        found[name] = entry
    for name in sorted(twice):
        del found[name]
        said.append(f'"{visible(name)}" has two records, so it has none')
    return found, tuple(said)
