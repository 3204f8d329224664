import pytest

from stella import codec
from stella import limits
from stella.errors import UsageError
from stella.journal.entry import GENESIS
from stella.journal.entry import Record
from stella.journal.show import kinds
from stella.journal.show import show


def record(kind: str, turn: str | None = None, **data: object) -> Record:
    return Record(
        seq=7, ts="2026-08-11T12:00:00.000Z", type=kind, turn=turn, data=data, prev=GENESIS
    )


RECORDS = (
    record("notice", code="a", text="x"),
    record("tool_started", "t1", call_id="t1.c1", tool="bash", read_only=False),
    record("notice", "t1.a1", code="b", text="y"),
    record("notice", "t10", code="c", text="z"),
)


def test_a_record_is_one_line_for_a_person() -> None:
    """[J2-50]"""
    assert list(show(RECORDS))[1] == (
        "    7  2026-08-11T12:00:00.000Z  t1        tool_started        "
        "call_id=t1.c1  tool=bash  read_only=false"
    )
    assert list(show([record("notice")])) == ["    7  2026-08-11T12:00:00.000Z  -         notice"]


def test_nothing_a_record_holds_forges_a_line() -> None:
    """[J2-50, C-3]"""
    data = {"text": "a\n\x1b[2Jb\u2028\u202e", "k\ney": {"\x07": ["\n"]}}
    (line,) = show([record("noti\nce", "t\r1", **data)])
    assert line.isprintable()
    assert "text=a \\u{1B}[2Jb\\u{2028}\\u{202E}" in line


def test_long_values_are_cut_unless_types_were_chosen() -> None:
    """limits.SHOWN_VALUE_CHARS, at the limit and one past it."""
    most = "x" * limits.SHOWN_VALUE_CHARS
    assert next(show([record("notice", text=most)])).endswith(f"text={most}")
    longer = record("notice", text=f"{most}yz")
    assert next(show([longer])).endswith(f"text={most} [2 more characters]")
    assert next(show([longer], types=kinds("notice"))).endswith(f"text={most}yz")


def test_a_program_gets_the_lines_as_they_stand() -> None:
    """[J2-50]"""
    assert list(show(RECORDS, as_json=True)) == [codec.encode(row).decode() for row in RECORDS]


def test_a_turn_is_shown_with_its_agents_and_an_agent_alone() -> None:
    """[J2-50]"""
    assert list(show(RECORDS, turn="t1")) == list(show(RECORDS[1:3]))
    assert list(show(RECORDS, turn="t1.a1")) == list(show(RECORDS[2:3]))
    assert list(show(RECORDS, turn="t")) == []


def test_types_are_chosen_by_name() -> None:
    """[J2-50, A-9]"""
    chosen = kinds(" notice, plugin.verify.x ,")
    assert chosen == {"notice", "plugin.verify.x"}
    assert len(list(show(RECORDS, types=chosen))) == 3
    assert len(list(show(RECORDS, turn="t1", types=chosen))) == 1


def test_a_type_there_is_not_is_refused() -> None:
    with pytest.raises(UsageError, match='no record type "verdikt"; did you mean verdict'):
        kinds("authz,verdikt")
    with pytest.raises(UsageError, match='no record type "xyzzy"; leave it out'):
        kinds("xyzzy")
    with pytest.raises(UsageError, match="expected record types with commas"):
        kinds(" , ")
