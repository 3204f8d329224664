"""The published bugs that the tests of this folder work on, read from `cases.toml`."""

from pathlib import Path
from typing import Final

import msgspec

from stella import codec

CASES: Final = Path(__file__).with_name("cases.toml")


class Release(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """One published version and the SHA-256 of its wheel in lower-case hex."""

    version: str
    sha256: str


class Case(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """One bug: a release that has it and a later one with the fix and a test for it.

    `sources` and `tests` are the files to take from `fixed`, as paths below the root of a
    release. `test` is the pytest node id that fails without the sources and passes with them.
    `bystander` is a module whose text has no influence on the test.
    """

    id: str
    package: str
    buggy: Release
    fixed: Release
    sources: tuple[str, ...]
    tests: tuple[str, ...]
    test: str
    bystander: str
    bug: str


class _Book(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    cases: tuple[Case, ...]


def load() -> tuple[Case, ...]:
    """Return every case in the order of the file; raise `codec.Refused` with all its faults."""
    tree = codec.parse_toml(CASES.read_text(encoding="utf-8"))
    return codec.decode(_Book, tree).cases
