"""Facts become records, and what is absent in one is absent in the other [J2-10, J2-40]."""

import base64
import inspect
from pathlib import Path

import pytest

from stella.clock import SystemClock
from stella.errors import JournalError
from stella.journal.entry import Record
from stella.journal.journal import Journal
from stella.journal.journal import new_session_id
from stella.journal.kinds import KINDS
from stella.redact import Redactor
from stella.session import facts as session_facts
from stella.session.telling import Listener
from stella.session.telling import Telling
from stella.turn import facts as turn_facts
from stella.turn.facts import CallRequested
from stella.turn.facts import Emitted
from stella.turn.facts import Fact
from stella.turn.plugin_facts import PluginFaulted
from stella.wire.points import Point

NESTED = {"usage", "trace", "member", "pin", "served_call", "artifact", "part", "tool", "emitted"}
"""Facts that are parts of others and no records of their own; an emitted one has its own name."""


def records() -> list[type[Fact]]:
    found = []
    for module in (turn_facts, session_facts):
        for _, kind in inspect.getmembers(module, inspect.isclass):
            if issubclass(kind, Fact) and kind is not Fact and kind.type not in NESTED:
                found.append(kind)
    return sorted(set(found), key=lambda kind: kind.type)


@pytest.mark.parametrize("kind", records(), ids=lambda kind: kind.type)
def test_every_fact_has_the_keys_of_its_record_in_order(kind: type[Fact]) -> None:
    """[J2-40] One table names the keys; the facts are written from the same words."""
    assert kind.type in KINDS
    declared = [key.removesuffix("?") for key in KINDS[kind.type].split()]
    optional = {key.removesuffix("?") for key in KINDS[kind.type].split() if key.endswith("?")}
    fields = [key for key in kind.__struct_encode_fields__ if key not in kind.unwritten]
    assert [key for key in declared if key in fields] == fields
    assert set(declared) - set(fields) <= optional


def telling(root: Path, *listeners: Listener) -> Telling:
    root.mkdir()
    clock = SystemClock()
    return Telling(Journal.create(root, new_session_id(clock), clock, Redactor()), listeners)


def test_a_fact_becomes_one_record(tmp_path: Path) -> None:
    heard: list[tuple[Record, Fact]] = []
    written = telling(tmp_path / "w", lambda record, fact: heard.append((record, fact)))
    fact = CallRequested(call_id="t1.c1", tool="bash", input={"command": "ls"})
    written.tell("t1", fact, durable=True)
    written.notice("code", "text")
    record = heard[0][0]
    assert (record.seq, record.type, record.turn) == (1, "call_requested", "t1")
    assert record.data == {"call_id": "t1.c1", "tool": "bash", "input": {"command": "ls"}}
    assert [fact.type for fact in written.told] == ["call_requested", "notice"]
    written.journal.close()


def test_raw_output_of_a_plugin_is_kept_as_base64(tmp_path: Path) -> None:
    """[J2-13]"""
    heard: list[Record] = []
    written = telling(tmp_path / "w", lambda record, _fact: heard.append(record))
    fault = PluginFaulted(
        plugin="p",
        point=Point.AFTER_TURN,
        round=0,
        fault="Decode",
        message="x",
        stdout_b64=b"\xff\x00",
    )
    written.tell("t1", fault)
    assert base64.b64decode(heard[0].data["stdout_b64"]) == b"\xff\x00"
    written.journal.close()


def test_a_closed_journal_takes_no_fact(tmp_path: Path) -> None:
    written = telling(tmp_path / "w")
    written.journal.close()
    with pytest.raises(JournalError):
        written.notice("code", "text")
    assert written.told == []


def test_what_a_plugin_emits_is_a_record_of_its_name(tmp_path: Path) -> None:
    """[W-32, J2-40]"""
    heard: list[Record] = []
    written = telling(tmp_path / "w", lambda record, _fact: heard.append(record))
    written.tell("t1", Emitted(name="plugin.p.seen", payload={"n": None, "name": "x"}))
    assert (heard[0].type, heard[0].turn) == ("plugin.p.seen", "t1")
    assert heard[0].data == {"payload": {"n": None, "name": "x"}}
    written.journal.close()


def test_a_listener_that_comes_later_hears_what_follows_and_hears_it_last(tmp_path: Path) -> None:
    heard: list[tuple[str, int]] = []
    written = telling(tmp_path / "w", lambda record, _fact: heard.append(("first", record.seq)))
    written.notice("code", "one")
    written.listen(lambda record, _fact: heard.append(("later", record.seq)))
    written.notice("code", "two")
    assert heard == [("first", 1), ("first", 2), ("later", 2)]
    written.journal.close()
