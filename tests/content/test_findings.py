"""What is found in a single record, and how much it weighs."""

from typing import Any

import pytest

from stella import limits
from stella.content.findings import TASKS
from stella.content.findings import Finding
from stella.content.findings import Level
from stella.content.findings import blocked
from stella.content.findings import findings
from stella.content.findings import several
from stella.content.identity import identity
from stella.content.record import ProbeKind
from tests.making.records import Table
from tests.making.records import guarded
from tests.making.records import one
from tests.making.records import record

SECRET = "ghp_" + "a1B2" * 9


def found(table: Table, *, plugin: bool = False) -> tuple[Finding, ...]:
    made = one(table)
    return findings(made, identity(made), plugin=plugin)


def texts(table: Table, level: Level, *, plugin: bool = False) -> list[str]:
    return [each.text for each in found(table, plugin=plugin) if each.level is level]


def test_an_ordinary_record_has_its_identity_filled_in() -> None:
    """[P-48] That is a note."""
    (note,) = found(record())
    assert note == Finding(
        level=Level.NOTE,
        text=f"its identity was filled in: {identity(one(record())).record_id}",
    )
    assert blocked((note,)) is None


@pytest.mark.behaviour("P-48")
@pytest.mark.parametrize(
    ("table", "level", "begins"),
    [
        (record(statement=f"Log in with {SECRET}."), Level.BLOCKING, "its text holds what looks"),
        (record(tags=[SECRET]), Level.BLOCKING, "its text holds what looks"),
        (record(statement="One.\nTwo."), Level.BLOCKING, "its statement has several lines"),
        (record(statement="One.\u2028Two."), Level.BLOCKING, "its statement has several lines"),
        (record(statement="Do: 1. lint 2. test"), Level.BLOCKING, "its statement is a list"),
        (guarded(enforcement={"guard_tool": " "}), Level.BLOCKING, 'guard_tool: "" is no name'),
        (guarded(enforcement={"guard_deny_command": " "}), Level.BLOCKING, "guard_deny_command"),
        (guarded(enforcement={"guard_deny_path": "/etc"}), Level.BLOCKING, "guard_deny_path"),
        (guarded(enforcement={"guard_deny_path": "a/../b"}), Level.BLOCKING, "guard_deny_path"),
        (guarded(enforcement={"guard_deny_path": ""}), Level.BLOCKING, "guard_deny_path"),
        (
            record(steering={"applies_to": {"tasks": ["lnit", "test"]}}),
            Level.WARNING,
            "it names tasks that are not known: lnit; did you mean lint?",
        ),
        (record(steering={"tier": "scoped"}), Level.WARNING, "it is scoped and has no trigger"),
        (record(steering={"force": "may"}), Level.WARNING, "it is scoped and has no trigger"),
        (record(record_hash="sha256:0"), Level.WARNING, "the stored record_hash is not"),
    ],
)
def test_a_finding_has_its_level(table: Table, level: Level, begins: str) -> None:
    """[P-48] Each row of the table."""
    (text,) = texts(table, level)
    assert text.startswith(begins)
    assert (blocked(found(table)) == text) is (level is Level.BLOCKING)


def test_a_statement_may_have_six_hundred_characters() -> None:
    """[P-48] One more blocks it."""
    assert not texts(record(statement="a" * limits.STATEMENT_CHARS), Level.BLOCKING)
    (text,) = texts(record(statement="a" * (limits.STATEMENT_CHARS + 1)), Level.BLOCKING)
    assert text == f"its statement is longer than {limits.STATEMENT_CHARS} characters"


@pytest.mark.parametrize(
    ("statement", "is_list"),
    [
        ("Use (1) a lock and (2) a log.", True),
        ("- write tests; - write docs", True),
        ("Rules: * one, * two", True),
        ("Version 2. It is the second.", False),
        ("Python 3. 11 is the floor, 4 is not.", False),
        ("Prefer a - b over a + b - c.", False),
        ("Ship 1. and 3. of the list.", False),
    ],
)
def test_a_list_of_rules_is_told_from_a_sentence(statement: str, is_list: bool) -> None:
    """[P-48] Numbers that run on, or two bullets."""
    assert several(statement) is is_list


@pytest.mark.behaviour("P-49")
def test_the_task_words_are_a_closed_list() -> None:
    """[P-49] Another word warns and blocks nothing."""
    spelled = "build ci deploy docs install lint migrate refactor release review run test"
    assert spelled.split() == list(TASKS)
    assert not texts(record(steering={"applies_to": {"tasks": list(TASKS)}}), Level.WARNING)
    (text,) = texts(record(steering={"applies_to": {"tasks": ["a", "b", "c", "d"]}}), Level.WARNING)
    assert "a, b, c and 1 more" in text


@pytest.mark.behaviour("P-46")
@pytest.mark.parametrize("kind", [kind.value for kind in ProbeKind])
def test_a_plugins_record_runs_no_probe_that_costs(kind: str) -> None:
    """[P-46] Every kind is read; two of them are refused for a plugin, with a warning."""
    table = record(truth={"basis": "measured", "probe": {"kind": kind}})
    refused = kind in {"command_succeeds", "http_ok"}
    assert bool(texts(table, Level.WARNING, plugin=True)) is refused
    assert not texts(table, Level.WARNING)
    assert blocked(found(table, plugin=True)) is None


def test_a_plugins_hard_record_is_advisory_and_warned_of() -> None:
    """[P-61] It blocks nothing and still steers."""
    (text,) = texts(guarded(), Level.WARNING, plugin=True)
    assert text == "refused blocking: a plugin's record is advisory, whatever it says"
    assert not texts(guarded(), Level.WARNING)
    assert not texts(guarded(mode="soft"), Level.WARNING, plugin=True)


def test_digests_and_names_are_no_secrets() -> None:
    """[P-48] What is a digest by nature does not block the record."""
    more: dict[str, Any] = {
        "provenance": {"source_digest": "sha256:" + "0f" * 32, "commit": "0f" * 20},
        "supersedes_record_id": "rec_a_0123456789ab",
    }
    assert not texts(record(**more), Level.BLOCKING)


def test_the_heaviest_findings_come_first() -> None:
    levels = [each.level for each in found(record(statement="a\nb", steering={"tier": "scoped"}))]
    assert levels == [Level.BLOCKING, Level.WARNING, Level.NOTE]


def test_a_record_with_its_own_identity_has_no_finding() -> None:
    """[P-47, P-48] Both words are stored, and both are the derived ones."""
    derived = identity(one(record()))
    stored = {"record_id": derived.record_id, "record_hash": derived.record_hash}
    assert found(record(**stored)) == ()
