"""The entries of a file in which a person's yes is kept."""

from typing import Any

import msgspec

from stella.roster.entries import by_key


class _Entry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str
    good: bool = True


def test_what_is_wrong_with_one_entry_hides_no_other() -> None:
    """[I-27] Each that counts as none is told with its place; of two alike neither counts."""
    tables: list[dict[str, Any]] = [
        {"name": "a"},
        {"name": 1},
        {"name": "b", "good": False},
        {"name": "c"},
        {"name": "c"},
    ]
    found, said = by_key(
        tables,
        _Entry,
        lambda each: each.name,
        called="plugin",
        wrong=lambda each: None if each.good else "it is bad",
    )
    assert found == {"a": _Entry(name="a")}
    assert [line.partition(": ")[0] for line in said[:2]] == [
        "[[plugin]] entry 2",
        "[[plugin]] entry 3",
    ]
    assert said[1:] == ("[[plugin]] entry 3: it is bad", '"c" has two records, so it has none')
    assert by_key([{"name": "a"}], _Entry, lambda each: each.name, called="x")[1] == ()
