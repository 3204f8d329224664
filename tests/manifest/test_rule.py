from collections.abc import Iterator

from stella.manifest.fault import ManifestFault
from stella.manifest.fault import fault
from stella.manifest.rule import applied
from stella.manifest.rule import blank
from stella.manifest.rule import called
from stella.manifest.rule import each
from stella.manifest.rule import each_key
from stella.manifest.rule import words
from stella.manifest.rules_package import capabilities
from stella.manifest.sheet import Entry
from stella.manifest.sheet import Sheet
from stella.manifest.sheet import Unestablished
from tests.making.manifests import faults
from tests.making.manifests import sheet


def one(entry: Entry[str]) -> Iterator[ManifestFault]:
    """Finds something in every entry."""
    yield fault("R-3", entry.path, "one")


def two(entry: Entry[str]) -> Iterator[ManifestFault]:
    """Finds something, then needs a value that did not decode."""
    yield fault("R-4", entry.path, "two")
    raise Unestablished


def test_a_rule_ends_at_a_value_that_did_not_decode_and_keeps_what_it_found() -> None:
    """[M-5]"""

    def rule(root: Sheet) -> Iterator[ManifestFault]:
        yield fault("R-2", ("name",), "is blank")
        root.has("loop")
        yield fault("R-3", ("loop",), "is never reached")

    assert [found.rule for found in applied(rule, sheet("loop = 1"))] == ["R-2"]
    assert [found.rule for found in applied(rule, sheet(""))] == ["R-2", "R-3"]


def test_a_list_is_taken_entry_by_entry_and_an_entry_rule_by_rule() -> None:
    """[M-62]"""
    rule = each(words("loop", "hooks"), two, one)
    found = rule(sheet('loop.hooks = ["Stop", "TurnEnd"]'))
    assert [(each.rule, each.path[-1]) for each in found] == [
        ("R-4", 0),
        ("R-3", 0),
        ("R-4", 1),
        ("R-3", 1),
    ]


def test_a_table_is_taken_key_by_key_in_byte_order() -> None:
    """[M-62]"""

    def rule(sheet: Sheet, key: str) -> Iterator[ManifestFault]:
        del sheet
        yield fault("R-24", ("requirements", key), "x")

    found = each_key("requirements", rule=rule)(sheet('requirements.b = ""\nrequirements.a = ""'))
    assert [each.path for each in found] == [("requirements", "a"), ("requirements", "b")]


def test_a_grade_that_is_too_low_names_what_is_declared_and_what_is_needed() -> None:
    """[M-59]"""
    found = faults('name = "x"\n[loop]\nevents = ["*"]\n[runtime]\nargv = ["x"]\ntimeout_secs = 1')
    assert [each.rule for each in found] == ["R-79", "R-54"]
    assert found[0].message == (
        '[loop] events = ["*"] needs participation "observer" or "steering" or "arbiter", '
        'but the manifest says "none".'
    )
    assert found[0].fix == "raise participation, or delete events"


def test_blank_is_white_space_alone() -> None:
    assert blank("")
    assert blank(" \t\u00a0\u3000")
    assert not blank("\u200b")


def test_an_entry_is_called_by_its_name() -> None:
    text = '[[capabilities]]\ntool = "a\u202eb"\n[[capabilities]]\ntool = " "\n'
    assert [called("tool", entry) for entry in capabilities(sheet(text))] == [
        r'tool "a\u{202E}b"',
        "",
    ]
