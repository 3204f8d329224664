import pytest

from stella import codec
from stella import limits
from stella.manifest.fault import Reason
from stella.manifest.scan import halted
from stella.manifest.scan import overreach
from stella.manifest.scan import position

DEEP = ".".join("a" * limits.TOML_DEPTH)
LONG = "1" * limits.TOML_INTEGER_CHARS


def reason_of(text: str) -> Reason | None:
    found = overreach(text)
    return found.reason if found else None


@pytest.mark.parametrize(
    "form",
    [
        "{} = 1",
        "[{}]",
        "[[{}]]",
        "  [ {} ]",
        "x = {{ {} = 1 }}",
        "x = [\n  {{ {} = 1 }},\n]",
    ],
)
def test_a_dotted_key_has_at_most_16_parts(form: str) -> None:
    """[B46]"""
    assert overreach(form.format(DEEP)) is None
    assert reason_of(form.format(f"{DEEP}.a")) is Reason.UNKNOWN_KEY


@pytest.mark.parametrize("dot", [".", " . ", "\t.\t"])
@pytest.mark.parametrize("part", ["a", '"a.b"', "'a.b'", r'"a\".b"', "''"])
def test_parts_are_counted_however_they_are_written(part: str, dot: str) -> None:
    """[B46]"""
    assert overreach(f"{dot.join([part] * limits.TOML_DEPTH)} = 1") is None
    assert reason_of(f"{dot.join([part] * (limits.TOML_DEPTH + 1))} = 1") is Reason.UNKNOWN_KEY


def test_twenty_thousand_parts_are_counted_without_a_reader() -> None:
    """[B46]"""
    found = overreach(f"a{'.a' * 19_999} = 1")
    assert found is not None
    assert "20000 parts" in found.message


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ("{a=", "}")])
def test_lists_and_tables_nest_at_most_16_deep(opening: str, closing: str) -> None:
    """[M-3, M-11]"""
    deepest = f"x = {opening * limits.TOML_DEPTH}1{closing * limits.TOML_DEPTH}"
    assert overreach(deepest) is None
    codec.parse_toml(deepest)
    assert reason_of(f"x = {opening * (limits.TOML_DEPTH + 1)}") is Reason.WRONG_TYPE


def test_lists_that_follow_each_other_do_not_add_up() -> None:
    assert overreach("x = [" + "[],\n" * 100 + "]\n" + "[[a]]\n" * 100 + "]]]] " + "[" * 16) is None


def test_a_line_of_a_list_that_begins_with_a_bracket_is_no_header() -> None:
    """A nested list counts towards the depth, and an integer in it is no key."""
    assert reason_of("x = [\n" + "[1,\n" * limits.TOML_DEPTH) is Reason.WRONG_TYPE
    assert reason_of(f"x = [\n[{LONG}1]\n]") is Reason.OUT_OF_RANGE
    assert overreach(f"[{LONG}1]\n") is None


@pytest.mark.parametrize(
    "integer",
    ["{}", "-{}", "+{}", "0x{}", "0o{}", "0b{}", "1_{}"],
)
@pytest.mark.parametrize("form", ["x = {}", "x = [{}]", "x = {{a = {}}}", "x = [1, {}\n]"])
def test_an_integer_has_at_most_160_characters(form: str, integer: str) -> None:
    """[B47]"""
    prefix = len(integer) - 2
    fits = integer.format("1" * (limits.TOML_INTEGER_CHARS - prefix))
    assert overreach(form.format(fits)) is None
    assert reason_of(form.format(f"{fits}1")) is Reason.OUT_OF_RANGE


@pytest.mark.parametrize(
    "text",
    [
        f"{LONG}1 = 1",
        f"{LONG}1\t= 1",
        f"[roles.{LONG}1]",
        f"{LONG}1.a = 1",
        f"x = {LONG}1.5",
        f"x = 0.{LONG}1",
        f"x = {'abc' * 100}",
        f"x = '{LONG}1'",
    ],
)
def test_a_key_a_fraction_and_a_word_of_many_digits_are_no_integers(text: str) -> None:
    assert overreach(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "# {}",
        'x = "{}"',
        "x = '{}'",
        'x = """\n{}"""',
        'x = """a \\""" {} ""b"""""',
        "x = '''\n{} 'a' ''b''' # {}",
        'x = "\\" {}"',
        'x = """{}',
        "x = '''{}",
        'x = """{}\\',
    ],
)
def test_what_stands_in_strings_and_comments_is_not_counted(text: str) -> None:
    """[M-1]"""
    assert overreach(text.replace("{}", f"{DEEP}.a = [{LONG}1" + "[" * 99)) is None


@pytest.mark.parametrize("end", ['"', "'", '"""', "'''"])
def test_a_string_that_ends_is_over(end: str) -> None:
    """[B46]"""
    assert reason_of(f"x = {end}a{end}\n{DEEP}.a = 1") is Reason.UNKNOWN_KEY


def test_a_fault_says_where_it_is() -> None:
    """[M-6]"""
    found = overreach(f'name = "x"\n\n  y = {LONG}1')
    assert found is not None
    assert (found.line, found.column) == (3, 7)
    assert found.rule == "R-1"
    assert f"{limits.TOML_INTEGER_CHARS + 1} characters" in found.message


def test_lines_and_columns_count_from_1() -> None:
    """[M-6]"""
    text = "ab\ncd"
    assert [position(text, offset) for offset in range(6)] == [
        (1, 1),
        (1, 2),
        (1, 3),
        (2, 1),
        (2, 2),
        (2, 3),
    ]


def test_the_readers_place_is_told_apart_from_what_it_says() -> None:
    """[K-81, C-3]"""
    assert halted("bad \x1bkey (at line 3, column 14)") == (r"bad \u{1B}key", (3, 14))
    assert halted("no end (at end of document)") == ("no end", None)
    assert halted("(at line 1, column 1) is said") == ("(at line 1, column 1) is said", None)
