"""A table without its unknown keys: they are told, at any depth, and nothing else is changed."""

import datetime as dt
from typing import Any

from msgspec import Struct
from msgspec import field

from stella import codec
from stella import limits
from stella.content.known import Moment
from stella.content.known import known


class Inner(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    when: Moment | None = None
    word: str = ""


class Outer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    inner: Inner | None = None
    rows: tuple[Inner, ...] = field(default=())
    either: str | int | None = None


def left(tree: Any) -> tuple[object, list[str]]:
    kept, foreign = known(Outer, tree)
    return kept, [str(fault) for fault in foreign]


def test_unknown_keys_are_left_out_at_every_depth_and_told() -> None:
    """[P-45] The near word is told too."""
    tree = {"iner": 1, "inner": {"word": "a", "wrd": 1}, "rows": [{"x": 1}, {"word": "b"}]}
    kept, told = left(tree)
    assert kept == {"inner": {"word": "a"}, "rows": [{}, {"word": "b"}]}
    assert told == [
        'the key "iner" is not known and passed over; did you mean inner?',
        'inner: the key "wrd" is not known and passed over; did you mean word?',
        'rows[0]: the key "x" is not known and passed over',
    ]
    assert codec.decode(Outer, kept) == Outer(
        inner=Inner(word="a"), rows=(Inner(), Inner(word="b"))
    )


def test_what_has_the_wrong_type_is_left_to_the_codec() -> None:
    for tree in (3, {"inner": 3}, {"rows": {"a": 1}}, {"rows": [1]}, {"inner": {"word": 1}}):
        assert left(tree) == (tree, [])


def test_a_moment_becomes_text_where_one_is_declared_and_nowhere_else() -> None:
    """[P-45] TOML writes a date bare."""
    moments = (dt.date(2026, 1, 2), dt.time(1, 2), dt.datetime(2026, 1, 2, 3, tzinfo=dt.UTC))
    for moment in moments:
        kept, _ = left({"inner": {"when": moment, "word": moment}})
        assert kept == {"inner": {"when": moment.isoformat(), "word": moment}}


def test_near_words_are_looked_up_for_the_first_few_keys_only() -> None:
    """[M-8] Looking is not free, and nobody reads a thousand of them."""
    tree = {"row": 1} | {f"r{number}ws": 1 for number in range(limits.IGNORED_SHOWN)}
    told = left(tree)[1]
    assert all("did you mean" in line for line in told[: limits.IGNORED_SHOWN])
    assert "did you mean" not in told[limits.IGNORED_SHOWN]
