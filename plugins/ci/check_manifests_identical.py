"""Say whether the manifests of `verify` are alike in every language but for `[runtime] argv`.

    check_manifests_identical.py [--plugins DIR]

Two looks that do not know how the files came to be: as tables, everything but that one key is
equal; as text, exactly one line differs, and it is that key's. Exit 1 with what differs.
Standard library only.
"""

import argparse
import itertools
import sys
import tomllib
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path
from typing import Any

LANGUAGES = 3
START = b"argv = "


def main(words: Sequence[str]) -> int:
    """Compare each pair of manifests and return the exit status."""
    parser = argparse.ArgumentParser(prog="check_manifests_identical.py")
    parser.add_argument(
        "--plugins", type=Path, default=Path(__file__).resolve().parent.parent, metavar="DIR"
    )
    options = parser.parse_args(words)
    manifests = {
        path.parent.name: path.read_bytes()
        for path in sorted(options.plugins.glob("verify-*/plugin.toml"))
    }
    found = list(differences(manifests))
    print("\n".join(found or [f"{len(manifests)} manifests differ in the line of argv alone"]))
    return 1 if found else 0


def differences(manifests: Mapping[str, bytes]) -> Iterator[str]:
    """Yield what is wrong: too few manifests, another key, or another number of lines."""
    if len(manifests) < LANGUAGES:
        yield f"expected at least {LANGUAGES} manifests, found {len(manifests)}: {list(manifests)}"
    for one, other in itertools.combinations(manifests, 2):
        for what in (
            *tables(manifests[one], manifests[other]),
            *lines(manifests[one], manifests[other]),
        ):
            yield f"{one} and {other}: {what}"


def tables(one: bytes, other: bytes) -> Iterator[str]:
    """Yield how two manifests differ as tables, their argv aside."""
    try:
        rest = [without_argv(data) for data in (one, other)]
    except (ValueError, KeyError) as error:
        yield f"a manifest has no [runtime] argv that can be read: {error!r}"
        return
    if rest[0] != rest[1]:
        keys = [key for key in {**rest[0], **rest[1]} if rest[0].get(key) != rest[1].get(key)]
        yield f"the tables differ at {', '.join(keys)}"


def without_argv(data: bytes) -> dict[str, Any]:
    """Return a manifest without the one key that may differ."""
    manifest = tomllib.loads(data.decode("utf-8"))
    del manifest["runtime"]["argv"]
    return manifest


def lines(one: bytes, other: bytes) -> Iterator[str]:
    """Yield when not exactly one line differs, or when it is not the line of argv."""
    ours, theirs = (data.split(b"\n") for data in (one, other))
    if len(ours) != len(theirs):
        yield f"one has {len(ours)} lines, the other {len(theirs)}"
        return
    differing = [
        (number, pair)
        for number, pair in enumerate(zip(ours, theirs, strict=True), 1)
        if pair[0] != pair[1]
    ]
    if len(differing) != 1:
        yield f"{len(differing)} lines differ, expected 1: {[number for number, _ in differing]}"
    for number, pair in differing:
        if not all(line.startswith(START) for line in pair):
            yield f"line {number} differs and is not the one of argv: {pair[0]!r}, {pair[1]!r}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
