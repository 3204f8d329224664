"""Secrets taken out of text before it is stored or shown [J2-20 to J2-24].

Pure. Every rule finds spans and the spans are replaced once, so rules never see each
other's work. Each rule runs on the text as it came and on the text with its escapes read,
which finds a secret that JSON, a URL or terminal colour splits [J2-21]. All rules take
time linear in the text: a rule that scans far is never started twice in one run.
"""

import re
from base64 import b64encode
from base64 import urlsafe_b64encode
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from typing import Final

from stella import limits
from stella.errors import UsageError
from stella.escape import visible

REDACTED: Final = "[redacted]"

Span = tuple[int, int]

# ── rules [J2-20] ─────────────────────────────────────────────────────────────────────

_LABEL: Final = r"(?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
# A key without its end mark was cut off by somebody; what is there of its body still goes:
# its headers, long runs of base64 wherever they stand, and short ones that have a line alone.
_MARGIN: Final = r"(?:[^A-Za-z0-9-]|-(?!-)|(?!)){0,40}+(?:\d{1,6}[ \t|:]{1,8}+|(?!))?+"
_HEADER: Final = r"[A-Za-z-]{1,32}+:[ \t][^\r\n]{0,200}+(?=[\r\n]|\Z)"
_SHORT_LINE: Final = r"(?<=\W)[A-Za-z0-9+/=]{1,15}+(?=[^\w\r\n]{0,16}(?:[\r\n]|\Z))"
_PEM: Final = re.compile(
    rf"-----BEGIN {_LABEL}"
    rf"(?:(?:[^-]++|-(?!----)|(?!))*+-{{5,}}+END {_LABEL}"
    rf"|(?:{_MARGIN}{_HEADER}|(?!)){{0,8}}+"
    rf"(?:{_MARGIN}[A-Za-z0-9+/=]{{16,}}+|[ \t]{{0,40}}+[\r\n]{_MARGIN}{_SHORT_LINE}|(?!))++)"
)
_PREFIXES: Final = (
    "sk-", "rk-", "sk_live_", "sk_test_", "rk_live_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_",
    "github_pat_", "glpat-", "xoxb-", "xoxp-", "xoxa-", "xoxs-", "npm_", "hf_", "dop_v1_", "AKIA",
    "ASIA", "AIza", "ya29.", "SG.",
)  # fmt: skip
_TOKEN: Final = re.compile(
    rf"(?<![A-Za-z0-9_])(?:(?:{'|'.join(map(re.escape, _PREFIXES[:-2]))})[A-Za-z0-9_-]{{16,}}+"
    r"|(?:ya29|SG)\.[A-Za-z0-9_.-]{16,}+)"
)
# A dash does not begin such a token, or a row of dashes would be scanned over and over; the
# dash of a removed line in a diff does.
_THREE_PARTS: Final = re.compile(
    r"(?:(?<![A-Za-z0-9_-])|(?<=^-))eyJ[A-Za-z0-9_-]{5,}+\.[A-Za-z0-9_-]++\.[A-Za-z0-9_.-]*+",
    re.MULTILINE,
)
_USER_INFORMATION: Final = re.compile(r"""://([^\s/?#"'`<>\\]+)@""")
# The first letter stands in a class of its own, which lets the search skip to it.
_NAME: Final = (
    r"[AaCcPpSsTt](?i:(?<=p)assword|(?<=p)asswd|(?<=s)ecret|(?<=t)oken|(?<=a)pi[_-]?key"
    r"|(?<=a)ccess[_-]?key|(?<=p)rivate[_-]?key|(?<=c)redential|(?<=a)uthorization)"
)
_NAME_STEMS: Final = ("passw", "secret", "token", "key", "credential", "authorization")
_LITERAL: Final = r"(?:(?i:bearer|basic|token)[ \t]{1,8})?([A-Za-z0-9+/_=.~-]{12,}+)"
_ASSIGNED: Final = re.compile(
    rf"""{_NAME}["'`\])]{{0,3}}[ \t]{{0,8}}"""
    r"""(?::[ \t]{0,8}[A-Za-z_][\w.\[\]|, ]{0,40}=|=>|:=|={1,3}|:)\s{0,8}"""
    rf"""(?:[BbFfRrUu]{{0,2}}["'`]{{1,3}})?{_LITERAL}"""
)
_NAMED: Final = re.compile(rf"{_NAME}\Z")
_NAMED_LEAF: Final = re.compile(rf"\s{{0,8}}{_LITERAL}")
_LETTER: Final = re.compile(r"[A-Za-z]")
_DIGIT: Final = re.compile(r"[0-9]")


def _private_keys(text: str) -> Iterator[Span]:
    if "PRIVATE KEY" in text:
        yield from (match.span() for match in _PEM.finditer(text))


def _tokens(text: str) -> Iterator[Span]:
    if any(prefix in text for prefix in _PREFIXES):
        yield from (match.span() for match in _TOKEN.finditer(text))


def _three_parts(text: str) -> Iterator[Span]:
    if "eyJ" in text:
        yield from (match.span() for match in _THREE_PARTS.finditer(text))


def _user_information(text: str) -> Iterator[Span]:
    if "://" in text and "@" in text:
        yield from (match.span(1) for match in _USER_INFORMATION.finditer(text))


def _assigned(text: str) -> Iterator[Span]:
    folded = text.lower()
    if any(stem in folded for stem in _NAME_STEMS):
        for match in _ASSIGNED.finditer(text):
            yield from _literal(match, text)


def _literal(match: re.Match[str] | None, text: str) -> Iterator[Span]:
    """Yield the span of an assigned value, unless it reads as program text.

    The test stands outside the pattern: a value that fails it is passed over as a whole, and
    the names inside it need no second look, for their values end where it ends.
    """
    if match is None:
        return
    start, end = match.span(1)
    mixed = _LETTER.search(text, start, end) and _DIGIT.search(text, start, end)
    if mixed and text[end : end + 1] not in {"(", "["}:
        yield start, end


_RULES: Final[tuple[Callable[[str], Iterator[Span]], ...]] = (
    _private_keys,
    _tokens,
    _three_parts,
    _user_information,
    _assigned,
)

# ── escapes [J2-21] ───────────────────────────────────────────────────────────────────

_ESCAPE: Final = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\[\\/\"'bfnrt]|%[0-9a-fA-F]{2}"
    r"|\x1b\[[0-9;]{0,32}[A-Za-z]"
)
_SHORT: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_PAIR_CHARS: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class _View:
    """A text with one level of escapes read, and the way back to the text before.

    `at` and `origin` are parallel and ascending: from position `at[i]` of `text` on, until
    the next entry, places differ from the text before by `origin[i] - at[i]`.
    """

    text: str
    at: Sequence[int]
    origin: Sequence[int]

    def back(self, place: int) -> int:
        """Return the place of the text before that `place` came from."""
        found = bisect_right(self.at, place) - 1
        return self.origin[found] + place - self.at[found]


def _read_once(text: str) -> _View | None:
    """Return `text` with one level of escapes read, or None when it holds none."""
    pieces: list[str] = []
    at, origin = [0], [0]
    done = size = 0
    for match in _ESCAPE.finditer(text):
        start, end = match.span()
        char = _meant(match.group())
        pieces += (text[done:start], char)
        size += start - done + len(char)
        done = end
        at.append(size)
        origin.append(end)
    if not pieces:
        return None
    pieces.append(text[done:])
    return _View(text="".join(pieces), at=at, origin=origin)


def _meant(escape: str) -> str:
    """Return what an escape stands for; terminal colour stands for nothing."""
    if escape[0] == "\x1b":
        return ""
    if escape[0] == "%":
        return chr(int(escape[1:], 16))
    if len(escape) == _PAIR_CHARS:
        high, low = int(escape[2:6], 16), int(escape[8:], 16)
        return chr(0x10000 + ((high - 0xD800) << 10) + low - 0xDC00)
    if escape[1] in "ux":
        return chr(int(escape.lstrip("\\ux"), 16))
    return _SHORT.get(escape[1], escape[1])


# ── the redactor ──────────────────────────────────────────────────────────────────────


class Redactor:
    """Replaces secrets by `[redacted]`: known shapes, registered values, a person's patterns.

    `registered` are credential values in use [J2-22]; shorter ones than 8 characters are left
    out, since replacing them would tear ordinary text. `patterns` are the regular expressions
    of `[redaction] patterns`, added to the shipped rules [J2-20]; a bad one raises
    `UsageError`. Values are never shown by this class, nor by its `repr`.
    """

    def __init__(self, registered: Iterable[str] = (), patterns: Iterable[str] = ()) -> None:
        self._needles = tuple(
            sorted({needle for value in registered for needle in _needles(value.strip())})
        )
        self._patterns = _compiled(tuple(patterns))

    def text(self, text: str) -> tuple[str, int]:
        """Return `text` without its secrets, and how many places were replaced."""
        return self._text(text, named=False)

    def clean(self, text: str) -> str:
        """Return `text` without its secrets."""
        return self.text(text)[0]

    def tree(self, value: Any) -> tuple[Any, int]:
        """Return plain data without secrets in any string or key at any depth, and the count.

        A string under a key that names a secret is judged as that name's value [J2-20], and
        so is one beside such a name: after `--token` in a list, or as the `value` of a table
        whose `name` says so. Keys that become equal are numbered; order is kept [J2-21].
        """
        return self._tree(value, named=False)

    def raw(self, data: bytes) -> tuple[bytes, int]:
        """Return bytes without secrets, and the count; bytes that are no text stay as they are."""
        text, count = self.text(data.decode("utf-8", "surrogateescape"))
        return (text.encode("utf-8", "surrogateescape"), count) if count else (data, 0)

    def _tree(self, value: Any, *, named: bool) -> tuple[Any, int]:
        match value:
            case str():
                return self._text(value, named=named)
            case Mapping():
                return self._table(value)
            case list() | tuple():
                flags = [named, *(named or _is_flag(item) for item in value)]
                pairs = [
                    self._tree(item, named=flag) for item, flag in zip(value, flags, strict=False)
                ]
                return [item for item, _ in pairs], sum(count for _, count in pairs)
            case _:
                return value, 0

    def _table(self, table: Mapping[str, Any]) -> tuple[dict[str, Any], int]:
        titled = any(_is_name(table.get(key)) for key in ("name", "key", "header"))
        clean: dict[str, Any] = {}
        numbers: Counter[str] = Counter()
        total = 0
        for key, value in table.items():
            shown, in_key = self._text(key, named=False)
            named = _is_name(key) or (titled and key == "value")
            kept, in_value = self._tree(value, named=named)
            free = shown
            while in_key and (free in clean or free in table):
                numbers[shown] += 1
                free = f"{shown} {numbers[shown] + 1}"
            clean[free] = kept
            total += in_key + in_value
        return clean, total

    def _text(self, text: str, *, named: bool) -> tuple[str, int]:
        spans = list(_literal(_NAMED_LEAF.match(text), text)) if named else []
        steps: list[_View] = []
        current = text
        for _ in range(limits.REDACTION_LEVELS):
            spans += (_returned(span, steps) for span in self._found(current))
            step = _read_once(current)
            if step is None:
                break
            steps.append(step)
            current = step.text
        return _replaced(text, spans) if spans else (text, 0)

    def _found(self, text: str) -> Iterator[Span]:
        for rule in _RULES:
            yield from rule(text)
        for pattern in self._patterns:
            yield from (m.span() for m in pattern.finditer(text) if m.start() < m.end())
        joined = _joined(text)
        for needle in self._needles:
            if needle in joined:
                # Encoders and terminals break long lines, so a break may stand anywhere.
                broken = "(?:\r?\n)?".join(map(re.escape, needle))
                yield from (match.span() for match in re.finditer(broken, text))


def _needles(value: str) -> Iterator[str]:
    """Yield every text that gives a registered value away [J2-22], line breaks left out.

    Base64 is taken at each of its three alignments, less the characters that also carry bits
    of a neighbour, so that `user:key` is found as well as the key alone. A URL-escaped value is
    the value once escapes are read, but for a plus sign meant as a space and for bytes beyond
    ASCII, which come back one by one.
    """
    if len(value) < limits.SECRET_CHARS:
        return
    data = value.encode("utf-8", "surrogatepass")
    for text in (value, data.decode("latin-1")):
        yield _joined(text)
        yield _joined(text.replace(" ", "+"))
    for before in range(3):
        stop = -1 if (before + len(data)) % 3 else None
        for encoder in (b64encode, urlsafe_b64encode):
            encoded = encoder(b"\0" * before + data).decode("ascii").rstrip("=")
            yield encoded[(0, 2, 3)[before] : stop]


def _joined(text: str) -> str:
    return text.replace("\n", "").replace("\r", "")


def _compiled(patterns: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    if len(patterns) > limits.REDACTION_PATTERNS:
        raise UsageError(
            f"[redaction] patterns: at most {limits.REDACTION_PATTERNS}, got {len(patterns)}"
        )
    compiled: list[re.Pattern[str]] = []
    for index, pattern in enumerate(patterns):
        place = f"[redaction] patterns[{index}]"
        if len(pattern) > limits.REDACTION_PATTERN_CHARS:
            raise UsageError(
                f"{place}: at most {limits.REDACTION_PATTERN_CHARS} characters, got {len(pattern)}"
            )
        try:
            compiled.append(re.compile(pattern))
        except (re.error, OverflowError, RecursionError) as error:
            raise UsageError(f"{place}: not a regular expression: {visible(str(error))}") from error
    return tuple(compiled)


def _is_name(text: object) -> bool:
    return isinstance(text, str) and _NAMED.search(text) is not None


def _is_flag(text: object) -> bool:
    return isinstance(text, str) and text.startswith("-") and _is_name(text)


def _returned(span: Span, steps: Sequence[_View]) -> Span:
    start, end = span
    for step in reversed(steps):
        start, end = step.back(start), step.back(end)
    return start, end


def _replaced(text: str, spans: Iterable[Span]) -> tuple[str, int]:
    pieces: list[str] = []
    done = count = 0
    for start, end in _merged(spans):
        if text[start:end] != REDACTED:
            pieces += (text[done:start], REDACTED)
            done = end
            count += 1
    pieces.append(text[done:])
    return "".join(pieces), count


def _merged(spans: Iterable[Span]) -> Iterator[Span]:
    ordered = sorted(spans)
    start, end = ordered[0]
    for later, stop in ordered[1:]:
        if later > end:
            yield start, end
            start, end = later, stop
        else:
            end = max(end, stop)
    yield start, end
