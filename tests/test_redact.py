import re
import time
from base64 import b64encode
from base64 import urlsafe_b64encode
from collections.abc import Callable
from pathlib import Path
from textwrap import fill
from urllib.parse import quote
from urllib.parse import quote_plus
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stella import codec
from stella import limits
from stella.errors import UsageError
from stella.redact import REDACTED
from stella.redact import Redactor
from tests.making.planted import ASSIGNED
from tests.making.planted import BODY
from tests.making.planted import PLANTED
from tests.making.planted import PREFIXES
from tests.making.planted import REGISTERED
from tests.making.planted import THREE_PARTS
from tests.making.planted import USER_INFORMATION
from tests.making.planted import pem
from tests.making.planted import redactor

PLAIN = Redactor()


def cleaned(text: str) -> str:
    return PLAIN.text(text)[0]


@pytest.mark.parametrize("prefix", PREFIXES)
def test_a_token_of_a_known_kind_goes_when_sixteen_characters_follow(prefix: str) -> None:
    """[J2-20] sixteen, and one less."""
    assert PLAIN.text(f"({prefix}{BODY})") == (f"({REDACTED})", 1)
    assert PLAIN.text(f"({prefix}{BODY[1:]})") == (f"({prefix}{BODY[1:]})", 0)
    assert cleaned(f"-{prefix}{BODY}") == f"-{REDACTED}", "a removed line of a diff"
    assert BODY not in cleaned(f"\x1b[31m{prefix}{BODY}\x1b[0m")


@pytest.mark.parametrize(
    "text",
    ["task-management-and-planning", "disk-sk-name", "risk_live_abcdefghijklmnopqrst", "a://b/c@d"],
)
def test_a_prefix_inside_a_word_is_no_token(text: str) -> None:
    assert PLAIN.text(text) == (text, 0)


def test_a_token_with_dots_goes_whole() -> None:
    assert cleaned(f"SG.{BODY}.{BODY}{BODY} rest") == f"{REDACTED} rest"
    assert cleaned(f"ya29.c.{BODY} rest") == f"{REDACTED} rest"


@pytest.mark.parametrize("label", ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", "PGP "])
def test_a_private_key_goes_with_its_marks(label: str) -> None:
    """[J2-20]"""
    key = pem(label)
    if label == "PGP ":
        key = key.replace("KEY-----", "KEY BLOCK-----")
    assert cleaned(f"before\n{key}\nafter") == f"before\n{REDACTED}\nafter"


@pytest.mark.parametrize("sign", ["+", "-", "  ", "   12\t"])
def test_a_private_key_goes_from_a_diff_or_a_listing(sign: str) -> None:
    listed = "\n".join(f"{sign}{line}" for line in pem().split("\n"))
    assert cleaned(f"{listed}\n{sign}next") == f"{sign}{REDACTED}\n{sign}next"


def test_a_private_key_goes_from_a_string_of_a_program() -> None:
    written = pem().replace("\n", "\\n")
    assert cleaned(f'key = "{written}"') == f'key = "{REDACTED}"'


def test_what_is_left_of_a_private_key_that_was_cut_off_goes_too() -> None:
    start = pem()[:150]
    assert "MIIEow" not in cleaned(f"{start}\n[9 more characters]")
    assert "MIIEow" not in cleaned(f"{start.replace(chr(10), chr(92) + 'n')}")
    assert "MIIEow" not in cleaned(f"{start}\n-----BEGIN NOTHING-----")


BEGIN = pem().split("\n")[0]


@pytest.mark.parametrize(
    "body",
    [
        f"{BODY * 4}\n{BODY * 4}\nQm9k==",
        "MIIabc12",
        "MII+/bc1\nMIIabc2=\n",
        f"MIIabc12\r\n{BODY * 4}\r\nMII=\r\n",
        f"Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,{BODY}\n\n{BODY * 4}\n{BODY}\nQm9k\n",
        f"Version: GnuPG v2\n\n{BODY * 4}\n=njUN\n",
        "".join(f"\n            {BODY * 4}" for _ in range(3)),
        "".join(f"\n-{BODY * 4}" for _ in range(3)),
        f"   11\t{BODY * 4}\n   12\t{BODY * 4}\n   13\tQm9k=",
    ],
)
@pytest.mark.parametrize("form", [str, repr])
def test_a_private_key_without_its_end_goes_as_far_as_its_body(
    body: str, form: Callable[[str], str]
) -> None:
    """[J2-20] to the last of its lines, however short they are."""
    shown, count = PLAIN.text(form(f"it is {BEGIN}\n{body}"))
    assert count == 1
    assert shown.strip("'\r\n\\rn") == f"it is {REDACTED}"


def test_what_follows_a_private_key_without_its_end_stays() -> None:
    """[J2-20]"""
    shown = cleaned(f"{BEGIN}\n{BODY * 4}\nMIIabc\nand then some words\n{BODY * 4}")
    assert shown == f"{REDACTED}\nand then some words\n{BODY * 4}"


def test_the_mark_of_a_private_key_alone_is_no_key() -> None:
    text = "a key begins with -----BEGIN PRIVATE KEY----- and ends with a mark like it"
    assert PLAIN.text(text) == (text, 0)


@pytest.mark.parametrize(
    "text", [THREE_PARTS, f"\n-{THREE_PARTS}", f'"{THREE_PARTS}"', f"{THREE_PARTS}.{BODY}.{BODY}"]
)
def test_a_token_of_three_parts_goes(text: str) -> None:
    """[J2-20]"""
    shown, count = PLAIN.text(f"see {text} here")
    assert (count, "eyJ" in shown, BODY in shown) == (1, False, False)


@pytest.mark.parametrize("text", ["eyJhbGciOiJIUzI1NiJ9", "eyJson.load", "keyJ.a.b", "eyJ.a.b"])
def test_fewer_parts_are_no_such_token(text: str) -> None:
    assert PLAIN.text(text) == (text, 0)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"https://{USER_INFORMATION}@h/p", f"https://{REDACTED}@h/p"),
        ("postgres://u:p@ss@h:5/db", f"postgres://{REDACTED}@h:5/db"),
        ("ssh://git@h/x.git", f"ssh://{REDACTED}@h/x.git"),
        (r"https:\/\/user:pw@h", rf"https:\/\/{REDACTED}@h"),
        ("https%3A%2F%2Fuser%3Apw%40h", f"https%3A%2F%2F{REDACTED}%40h"),
        ("https://h/p?mail=a@b.example", None),
        ("https://h and a@b", None),
        ('["https://h", "a@b"]', None),
        ("git@h:x.git", None),
    ],
)
def test_user_information_goes_from_addresses(text: str, shown: str | None) -> None:
    """[J2-20]"""
    assert cleaned(text) == (shown or text)


@pytest.mark.parametrize(
    "before",
    [
        "password = ",
        "PASSWD=",
        "client_secret: ",
        "GITHUB_TOKEN=",
        "export API_KEY='",
        "x-api-key: ",
        'apiKey: "',
        "aws_secret_access_key = ",
        "private-key=",
        "credential: ",
        "Authorization: Bearer ",
        "authorization: basic ",
        '{"password": "',
        '{"refresh_token":"',
        r"{\"password\": \"",
        r'"{\\\"secret\\\":\\\"',
        'os.environ["TOKEN"] = "',
        'password: str = "',
        "const apiKey: string = `",
        'token := "',
        "token => '",
        "https://h/p?a=1&access_token=",
        "https%3A%2F%2Fh%3Ftoken%3D",
        "--token=",
        "secret =\n  ",
        'password = b"""',
    ],
)
def test_a_value_under_a_name_that_says_so_goes(before: str) -> None:
    """[J2-20]"""
    assert PLAIN.text(f"{before}{ASSIGNED}") == (f"{before}{REDACTED}", 1)


@pytest.mark.parametrize(
    "text",
    [
        "token: abcdefghijklmnop",
        "token: 123456789012345",
        f"key_env = {ASSIGNED}",
        f"password_env = {ASSIGNED}",
        f"tokens = {ASSIGNED}",
        "max_tokens: 4096",
        f"token = get_token_v2_{BODY}(request)",
        f"token = tokens_v2_{BODY}[0]",
        'token = self._token or ""',
        'password = getpass.getpass("password: ")',
        "if token == other_token_name:",
        "the secret of the token",
        'TOKEN_LIMIT = "token_limit"',
        "authorization: Bearer {token}",
    ],
)
def test_ordinary_program_text_stays(text: str) -> None:
    """[J2-20] names ending otherwise, short values, values without letter or digit, calls."""
    assert PLAIN.text(text) == (text, 0)


def test_eleven_characters_are_no_secret_and_twelve_are() -> None:
    assert cleaned("password = abcdefghij1") == "password = abcdefghij1"
    assert cleaned("password = abcdefghijk1") == f"password = {REDACTED}"


@pytest.mark.parametrize("name", PLANTED)
@pytest.mark.behaviour("L308")
def test_a_secret_that_escapes_split_is_found(name: str) -> None:
    """[J2-21] in JSON within JSON, four levels deep, as code units and through a URL."""
    text, secret = PLANTED[name]
    known = redactor()
    nested = text
    for _ in range(limits.REDACTION_LEVELS - 1):
        nested = codec.encode({"data": nested}).decode()
        shown, count = known.text(nested)
        assert count == 1
        assert secret not in shown
        assert BODY not in shown
        assert isinstance(codec.parse(shown.encode()), dict), "what is left is still JSON"
    units = "".join(f"\\u{ord(char):04x}" for char in text)
    percent = "".join(f"%{byte:02X}" for byte in text.encode())
    colour = "".join(f"{char}\x1b[1;31m" for char in text)
    assert known.text(units)[1] == known.text(percent)[1] == known.text(colour)[1] == 1
    assert secret not in str(codec.parse(f'"{known.text(units)[0]}"'.encode()))
    assert secret not in unquote(known.text(percent)[0])
    assert secret not in known.text(colour)[0].replace("\x1b[1;31m", "")


def test_more_levels_of_escapes_than_four_are_not_read() -> None:
    """limits.REDACTION_LEVELS, at the limit and one past it."""
    text = f"x\n{PLANTED['ghp_'][0]}"
    for level in range(1, limits.REDACTION_LEVELS + 2):
        text = codec.encode(text).decode()[1:-1]
        assert PLAIN.text(text)[1] == (level < limits.REDACTION_LEVELS)


def test_half_a_pair_and_a_pair_of_code_units_are_read() -> None:
    known = Redactor(registered=["grin😀grin😀"])
    assert known.text(r"grin\ud83d\ude00grin\uD83D\uDE00!") == (f"{REDACTED}!", 1)
    assert known.text(r"grin\ud83d!") == (r"grin\ud83d!", 0)


def test_the_shortest_registered_value_has_eight_characters() -> None:
    """[J2-22] limits.SECRET_CHARS, at the limit and one less."""
    value = "x" * limits.SECRET_CHARS
    assert Redactor(registered=[value]).text(f"a{value}b") == (f"a{REDACTED}b", 1)
    assert Redactor(registered=[value[1:]]).text(value[1:]) == (value[1:], 0)
    assert Redactor(registered=[f" {value}\n"]).text(value) == (REDACTED, 1)


@pytest.mark.behaviour("L308")
@pytest.mark.parametrize("encoder", [b64encode, urlsafe_b64encode])
@pytest.mark.parametrize("before", ["", "u", "u:", "user"])
@pytest.mark.parametrize("after", ["", "!", "??", ":rest"])
@pytest.mark.parametrize("value", [REGISTERED, "?>?>?>?>?>", "eightchr", "\n".join("multi-line")])
def test_a_registered_value_goes_from_base64_at_every_alignment(
    encoder: type[bytes], before: str, after: str, value: str
) -> None:
    """[J2-22]"""
    encoded = encoder(f"{before}{value}{after}".encode()).decode("ascii")
    for text in (encoded, fill(encoded, 7), fill(encoded, 7).replace("\n", "\r\n")):
        shown, count = Redactor(registered=[value]).text(f"Basic {text}")
        assert count == 1
        assert len(shown) < len(f"Basic {REDACTED}") + 3 + len(before + after) * 2 + 4


@pytest.mark.parametrize("value", [REGISTERED, "päß wörd & more"])
def test_a_registered_value_goes_when_it_is_url_escaped(value: str) -> None:
    """[J2-22]"""
    known = Redactor(registered=[value])
    for text in (
        quote(value),
        quote(value, safe=""),
        quote_plus(value),
        re.sub("%..", lambda escape: escape.group().lower(), quote(value, safe="")),
        "".join(f"%{byte:02X}" for byte in value.encode()),
    ):
        assert known.text(f"k={text}&") == (f"k={REDACTED}&", 1)


def test_a_registered_value_goes_when_a_terminal_broke_its_line() -> None:
    wrapped = f"{REGISTERED[:9]}\r\n{REGISTERED[9:]}"
    assert redactor().text(f"<{wrapped}>") == (f"<{REDACTED}>", 1)


def test_redacting_shows_no_registered_value_of_its_own() -> None:
    assert REGISTERED not in repr(redactor())


@pytest.mark.behaviour("L308")
@pytest.mark.parametrize("name", PLANTED)
def test_secrets_go_from_strings_and_keys_at_any_depth(name: str) -> None:
    """[J2-21]"""
    text, secret = PLANTED[name]
    deep: object = text
    for _ in range(50):
        deep = {"a": [deep, 1, None, True, 0.5]}
    tree = {"leaf": text, text: "key", "list": (text, [text]), "deep": deep}
    clean, count = redactor().tree(tree)
    assert count == 5
    assert secret not in str(clean)
    assert codec.encode({"a": [1, None, True, 0.5]})[6:] in codec.encode(clean)


def test_keys_that_become_equal_are_numbered_and_stay_in_order() -> None:
    first, second, third = (f"ghp_{BODY}{n}" for n in "abc")
    tree = {first: 1, REDACTED: 2, second: 3, "other": 4, third: 5}
    clean, count = PLAIN.tree(tree)
    assert count == 3
    assert clean == {
        f"{REDACTED} 2": 1,
        REDACTED: 2,
        f"{REDACTED} 3": 3,
        "other": 4,
        f"{REDACTED} 4": 5,
    }
    assert list(clean.values()) == [1, 2, 3, 4, 5]


@pytest.mark.behaviour("L308")
@pytest.mark.parametrize(
    "tree",
    [
        {"password": ASSIGNED},
        {"X-Api-Key": ASSIGNED},
        {"Authorization": f"Bearer {ASSIGNED}"},
        {"token": [ASSIGNED]},
        {"name": "API_TOKEN", "value": ASSIGNED},
        {"key": "secret", "value": ASSIGNED},
        ["curl", "--token", ASSIGNED],
        ("-api-key", ASSIGNED),
    ],
)
def test_a_value_goes_when_its_name_stands_in_another_field(tree: object) -> None:
    """[J2-20, J2-21]"""
    clean, count = PLAIN.tree(tree)
    assert count == 1
    assert ASSIGNED not in str(clean)


@pytest.mark.parametrize(
    "tree",
    [
        {"key_env": ASSIGNED},
        {"tokens": 12, "token": None},
        {"token": "short1"},
        {"name": "API_TOKEN", "other": ASSIGNED},
        {"name": "other", "value": ASSIGNED},
        ["token", ASSIGNED],
        ["--file", ASSIGNED],
        [],
        {},
        1,
        None,
    ],
)
def test_other_data_stays_as_it_is(tree: object) -> None:
    assert PLAIN.tree(tree) == (tree, 0)


def test_a_pattern_of_the_person_is_added_to_the_rules() -> None:
    """[J2-20, S2-27]"""
    own = Redactor(patterns=[r"ACME-\d+", r"x*"])
    assert own.text(f"ACME-12 ghp_{BODY} xx\\nACME-\\u0033") == (
        f"{REDACTED} {REDACTED} {REDACTED}\\n{REDACTED}",
        4,
    )


def test_a_pattern_that_is_none_is_refused_with_its_place() -> None:
    """limits.REDACTION_PATTERNS and limits.REDACTION_PATTERN_CHARS, at the limit and past it."""
    with pytest.raises(UsageError, match=r"^\[redaction\] patterns\[1\]: not a regular expression"):
        Redactor(patterns=["a", "(["])
    longest = "a" * limits.REDACTION_PATTERN_CHARS
    assert Redactor(patterns=[longest] * limits.REDACTION_PATTERNS).text(longest) == (REDACTED, 1)
    with pytest.raises(UsageError, match=r"patterns\[0\]: at most 256 characters, got 257"):
        Redactor(patterns=[f"{longest}a"])
    with pytest.raises(UsageError, match=r"patterns: at most 64, got 65"):
        Redactor(patterns=["a"] * (limits.REDACTION_PATTERNS + 1))


def test_bytes_that_are_no_text_keep_what_is_no_secret() -> None:
    """[J2-13]"""
    raw = b"\xff\x00" + f"ghp_{BODY}".encode() + b"\xfe\n"
    assert PLAIN.raw(raw) == (b"\xff\x00" + REDACTED.encode() + b"\xfe\n", 1)
    assert PLAIN.raw(b"\xff\xfe") == (b"\xff\xfe", 0)
    assert redactor().raw(b"\xff" + REGISTERED.encode()) == (b"\xff" + REDACTED.encode(), 1)


@pytest.mark.parametrize("name", PLANTED)
def test_redacting_twice_changes_nothing_more(name: str) -> None:
    once, count = redactor().text(PLANTED[name][0])
    assert count == 1
    assert redactor().text(once) == (once, 0)


@given(st.text(), st.text(), st.sampled_from(sorted(PLANTED)))
def test_a_secret_set_apart_goes_whatever_surrounds_it(before: str, after: str, name: str) -> None:
    """[J2-20] for all texts."""
    text, secret = PLANTED[name]
    shown, count = redactor().text(f"{before}\n{text}\n{after}")
    assert count
    assert secret not in shown


@given(st.text(st.sampled_from("a1-\\nu0%\x1b[@:/=")))
def test_text_without_secrets_comes_back_as_it_was(text: str) -> None:
    shown, count = PLAIN.text(text)
    assert (shown == text) == (count == 0)
    assert shown.count(REDACTED) == count
    assert PLAIN.text(shown) == (shown, 0)


HOSTILE = {
    "one letter": "a",
    "prefixes": "sk-",
    "short tokens": "sk-aaaa ",
    "three parts begin": "eyJ-",
    "three parts end": "eyJaaaaa.",
    "addresses": "://a",
    "user information": "a://b@",
    "names": "token=",
    "names apart": "token= ",
    "names and spaces": "password        ",
    "marks": "-----BEGIN PRIVATE KEY-----",
    "bodies": "-----BEGIN PRIVATE KEY-----\nabcdefghijklmnopqrst\n",
    "headers": "-----BEGIN PRIVATE KEY-----\nA-B: c\n",
    "margins": "-----BEGIN PRIVATE KEY-----\n          \n",
    "short lines": "-----BEGIN PRIVATE KEY-----\nabc d\n",
    "lines": "-----BEGIN PRIVATE KEY-----" + "\nabc" * 9 + " d\n",
    "end marks": "-----END PRIVATE KEY----- BEGIN ",
    "registered": REGISTERED,
    "nearly registered": REGISTERED[:-1] + "\n",
}
# Read step by step in the interpreter, so a quarter of a record has to do.
HOSTILE_ESCAPES = {
    "backslashes": "\\",
    "escaped backslashes": "u005c",
    "percent": "%25",
    "colour": "\x1b[0m",
}


@pytest.mark.parametrize("name", [*HOSTILE, *HOSTILE_ESCAPES])
def test_hostile_text_takes_no_more_than_linear_time(name: str) -> None:
    """A quadratic rule would need hours for a whole record of these."""
    unit, size = HOSTILE.get(name), limits.RECORD_BYTES
    if unit is None:
        unit, size = HOSTILE_ESCAPES[name], limits.RECORD_BYTES // 4
    text = "\\" * (name == "escaped backslashes") + unit * (size // len(unit))
    began = time.monotonic()
    redactor().text(text)
    assert time.monotonic() - began < 30


@pytest.mark.behaviour("L310")
def test_at_most_one_line_in_a_hundred_of_this_project_reads_as_a_secret() -> None:
    root = Path(__file__).parents[1]
    files = [
        path
        for folder in ("src", "plugins", "tests")
        for path in sorted((root / folder).rglob("*"))
        if path.suffix in {".py", ".md", ".toml", ".json", ".jsonl"}
    ]
    lines = changed = 0
    for path in files:
        for line in path.read_text("utf-8", errors="replace").splitlines():
            lines += 1
            changed += PLAIN.text(line)[1] > 0
    assert lines > 1000
    assert changed <= lines / 100
