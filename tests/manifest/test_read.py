from pathlib import Path

import pytest

from stella import limits
from stella.errors import ManifestError
from stella.manifest.fault import ManifestFault
from stella.manifest.read import Loaded
from stella.manifest.read import Unloadable
from stella.manifest.read import examine
from stella.manifest.read import read_manifest
from tests.making.manifests import manifest_vectors

NOTES = b'name = "notes"\n'


def only(data: bytes) -> ManifestFault:
    """Return the one fault of a file that could not be read at all."""
    found = examine(data)
    assert isinstance(found, Unloadable)
    assert found.name is None
    (fault,) = found.faults
    assert fault.rule == "R-1"
    return fault


@pytest.mark.behaviour("M-64", "M-65")
@pytest.mark.parametrize("path", manifest_vectors("manifest/accepted"), ids=lambda path: path.stem)
def test_an_accepted_manifest_loads(path: Path) -> None:
    """[M-64, M-65, M-66, K-1, K-16, K-24, K-25, K-83]"""
    assert read_manifest(path.read_bytes()) == examine(path.read_bytes())


@pytest.mark.parametrize("path", manifest_vectors("manifest/refused"), ids=lambda path: path.stem)
def test_a_refused_manifest_raises_with_every_fault(path: Path) -> None:
    """[M-3, M-4]"""
    found = examine(path.read_bytes())
    assert isinstance(found, Unloadable)
    with pytest.raises(ManifestError) as raised:
        read_manifest(path.read_bytes())
    assert raised.value.faults == found.faults
    assert str(raised.value) == "; ".join(map(str, found.faults))


@pytest.mark.behaviour("M-1")
def test_a_file_of_exactly_the_limit_loads_and_one_byte_more_does_not() -> None:
    """[M-1, B49]"""
    comment = b"#" * (limits.MANIFEST_BYTES - len(NOTES))
    assert isinstance(examine(NOTES + comment), Loaded)
    fault = only(NOTES + comment + b"#")
    assert fault.name == "too-large"
    assert f"{limits.MANIFEST_BYTES + 1} bytes" in fault.message
    assert f"limit is {limits.MANIFEST_BYTES}" in fault.message


def test_a_file_of_ten_mebibytes_is_refused_by_its_size_whatever_it_holds() -> None:
    """[B49]"""
    assert only(b"\xff" * (10 * limits.MIB)).name == "too-large"


@pytest.mark.parametrize(
    ("data", "offset", "position"),
    [
        (b"\xef\xbb\xbf" + NOTES, 0, (1, 1)),
        (NOTES.decode().encode("utf-16"), 0, (1, 1)),
        (NOTES + b"\xff", len(NOTES), (2, 1)),
        (b'name = "\xed\xa0\x80"', 8, (1, 9)),
        ("# é".encode() + b"\xff", 4, (1, 4)),
    ],
)
def test_a_file_is_utf_8_without_a_mark(
    data: bytes, offset: int, position: tuple[int, int]
) -> None:
    """[M-1, M-11]"""
    fault = only(data)
    assert fault.name == "encoding"
    assert (fault.line, fault.column) == position
    assert f"byte {offset}" in fault.message
    assert "UTF-8 without a mark" in fault.message


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("name = ", (1, 8)),
        ("a = 1\nname = 1979-99-99\n", (2, 12)),
        ("name = 'x'\n[loop\n", (2, 6)),
        ("name = 'x'\nname = 'y'\n", (2, 11)),
        ("[loop]\n[loop]\n", (2, 6)),
        ('a = "\\uD800"', (1, 12)),
        ("a = 1\n\x00", (2, 1)),
        ('name = "x" # \x00', (1, 14)),
    ],
)
def test_what_is_no_toml_is_one_fault_with_line_and_column(
    text: str, position: tuple[int, int]
) -> None:
    """[M-11, K-81, C70]"""
    fault = only(text.encode())
    assert fault.name == "syntax"
    assert (fault.line, fault.column) == position
    assert fault.message.startswith("the file is not TOML: ")
    assert "(at " not in fault.message


def test_a_key_of_twenty_thousand_parts_is_refused_before_it_is_read() -> None:
    """[B46]"""
    fault = only(b"a" + b".a" * 19_999 + b" = 1")
    assert fault.name == "unknown-key"


@pytest.mark.parametrize("digits", [b"1" * 5_000, b"0x" + b"f" * 1_000_000])
def test_an_integer_of_very_many_digits_is_out_of_range(digits: bytes) -> None:
    """[B47]"""
    fault = only(b"name = " + digits)
    assert fault.name == "out-of-range"
    assert (fault.line, fault.column) == (1, 8)


def test_a_hundred_thousand_brackets_are_refused_before_they_are_read() -> None:
    """[M-3]"""
    assert only(b"name = " + b"[" * 100_000).name == "wrong-type"


def test_a_manifest_that_does_not_load_tells_its_name_where_it_has_one() -> None:
    """[I-64]"""
    named = examine(b'name = "x"\nother = 1')
    assert isinstance(named, Unloadable)
    assert named.name == "x"
    nameless = examine(b"name = 1")
    assert isinstance(nameless, Unloadable)
    assert nameless.name is None


def places(text: str) -> list[tuple[str, int | None, int | None]]:
    """Return the rule, the line and the column of each fault and warning."""
    found = examine(text.encode())
    told = (*found.faults, *found.warnings) if isinstance(found, Unloadable) else found.warnings
    return [(fault.rule, fault.line, fault.column) for fault in told]


def test_a_fault_points_at_a_key_an_entry_or_a_header() -> None:
    """[M-6, M-12]; what is missing points at the table it is missing from."""
    text = """\
name = " "
[loop]
participation = "steering"
hooks = ["TurnEnd", "TurnEnd"]
  events = ["tool.call.complete"]
[[capabilities]]
tool = "bash"
risk = "hgh"
[[capabilities]]
purpose = "p"
"""
    assert places(text) == [
        ("R-1", 6, 1),
        ("R-1", 9, 1),
        ("R-1", 9, 1),
        ("R-2", 1, 1),
        ("R-3", 4, 21),
        ("R-80", 5, 3),
        ("M-20", 5, 13),
        ("M-52", 8, 1),
    ]


def test_a_missing_block_points_at_what_asks_for_it() -> None:
    """[R-23, R-29]; nothing asks for a name, so its absence stands nowhere and comes last."""
    arbiter = '[loop]\nparticipation = "arbiter"\nhooks = ["Stop"]\n'
    assert places(f'name = "x"\n{arbiter}') == [("R-23", 3, 1)]
    oracle = '[oracle]\nflip = "required"\ncommand = { argv = ["x"], timeout_secs = 1 }\n'
    assert places(f'name = "x"\n\n{oracle}') == [("R-25", 3, 1), ("R-29", 3, 1)]
    requirements = '[requirements]\na = "b"\n'
    assert places(f'name = "x"\n{oracle}{arbiter}{requirements}') == [("R-29", 5, 1)]
    assert places("a = 1\n") == [("R-1", 1, 1), ("R-1", None, None)]


@pytest.mark.behaviour("M-4")
def test_decoding_faults_stand_in_the_order_of_the_file() -> None:
    """[M-4]; a reader meets the keys of a table together, wherever they stand."""
    text = "[loop]\nb = 1\n[zzz]\n[runtime]\nargv = 1\ntimeout_secs = -1\n[loop.yyy]\n"
    lines = [line for rule, line, _ in places(text) if rule == "R-1"]
    assert lines == [2, 3, 5, 6, 7, None]


@pytest.mark.parametrize("number", [limits.FAULTS_TOLD - 1, limits.FAULTS_TOLD])
def test_past_the_bound_of_faults_no_rule_guesses(number: int) -> None:
    """[M-3, M-5]; the name is blank, and a grade that did not decode may be past the bound."""
    keys = "".join(f"k{n} = 1\n" for n in range(number - 1))
    found = examine(f'name = " "\n{keys}[loop]\nparticipation = 5\n'.encode())
    assert isinstance(found, Unloadable)
    rules = [fault.rule for fault in found.faults]
    told = number < limits.FAULTS_TOLD
    assert rules == ["R-1"] * number + ["R-2"] * told
    assert isinstance(examine(f"{keys}l = 1\n[loop]\nparticipation = 5".encode()), Unloadable)


def test_words_with_a_rule_of_their_own_do_not_hide_what_follows_them() -> None:
    """[M-3, M-16]; as many as the codec tells of, and behind them what it does not tell of."""
    words = '"PreIssueWork",' * limits.FAULTS_TOLD
    for name, told in (('" "', {"R-2", "R-3", "R-4"}), ("5", {"R-3", "R-4"})):
        found = examine(f"loop.hooks = [{words} 5]\nname = {name}\n".encode())
        assert isinstance(found, Unloadable)
        assert {fault.rule for fault in found.faults} == told


@pytest.mark.parametrize("number", [limits.FAULTS_TOLD, limits.FAULTS_TOLD + 1])
def test_no_more_faults_or_warnings_are_told_than_anybody_reads(number: int) -> None:
    """[M-4]; a roster reads every manifest in a workspace, a hostile one too."""
    blank = "".join(f'k{n} = ""\n' for n in range(number - 1))
    found = examine(f'name = "x"\n[requirements]\n{blank}'.encode())
    assert isinstance(found, Unloadable)
    assert len(found.faults) == limits.FAULTS_TOLD
    events = ", ".join(f'"x.{n}"' for n in range(number))
    odd = examine(f"{NOTES.decode()}[loop]\nevents = [{events}]\n".encode())
    assert len(odd.warnings) == limits.FAULTS_TOLD
