"""The laws of the consent text over 20,000 pairs of manifests [B62, C79, C-1, C-3]."""

import unicodedata
from collections.abc import Mapping

import pytest
import tomli_w

from stella.consent.text import Resolution
from stella.consent.text import consent_text
from stella.escape import visible
from stella.manifest.plugin import PluginManifest
from stella.manifest.read import Loaded
from stella.manifest.read import examine
from stella.wire.points import Call
from tests.properties import manifests as some
from tests.properties.pairs import Maker
from tests.properties.pairs import manifest_of

SHARES = 8
PAIRS = 2500
"""Pairs of one share; every second one is a near copy."""

FOUND = Resolution(runtime="/usr/bin/python3", oracle="/usr/bin/make")
UNSEEN = frozenset({"Cc", "Cf", "Zl", "Zp", "Cs"})


def text_of(manifest: PluginManifest) -> str:
    return consent_text(manifest, FOUND)


def granted(manifest: PluginManifest) -> object:
    """All that binds the host, and the words that only explain as C-3 shows them."""
    return some.authority(manifest), [
        visible(manifest.description or ""),
        {key: visible(text) for key, text in manifest.requirements.items()},
        [(visible(e.purpose), [*map(visible, e.scope)]) for e in manifest.capabilities],
        [visible(each.description) for each in manifest.tools],
        [visible(each.description) for each in manifest.skills],
        [visible(each.statement) for each in manifest.records],
        [visible(each.purpose) for each in manifest.configure],
    ]


def both(one: some.Tree, two: some.Tree) -> str:
    """What is printed when a pair breaks a law."""
    return f"\n{tomli_w.dumps(one)}\n# and\n\n{tomli_w.dumps(two)}"


def made(maker: Maker) -> tuple[some.Tree, PluginManifest]:
    tree = maker.manifest()
    manifest = manifest_of(tree)
    assert manifest is not None, tomli_w.dumps(tree)
    return tree, manifest


def near(maker: Maker, tree: some.Tree, grants: object) -> tuple[some.Tree, PluginManifest] | None:
    """A near copy that loads and grants or says something else."""
    for other in maker.near(tree):
        manifest = manifest_of(other)
        if manifest is not None and granted(manifest) != grants:
            return other, manifest
    return None


@pytest.mark.behaviour("B62", "C79", "C-1", "C-2", "C-3", "C64", "C65", "C70")
@pytest.mark.parametrize("share", range(SHARES))
def test_different_authority_has_a_different_text_and_no_text_hides_or_forges(share: int) -> None:
    """[C-1, C-3, M-63]; each pair is printed when it breaks a law."""
    maker = Maker(share)
    copies = 0
    for number in range(PAIRS):
        tree, manifest = made(maker)
        text, grants = text_of(manifest), granted(manifest)
        found = near(maker, tree, grants) if number % 2 else None
        copies += found is not None
        other, second = found or made(maker)
        if granted(second) != grants:
            assert text_of(second) != text, both(tree, other)
        hides_nothing(text, tree)
        forges_nothing(text, manifest, tree)
        assert consent_text(manifest, FOUND) == text, tomli_w.dumps(tree)
    assert copies > PAIRS * 0.49


def hides_nothing(text: str, tree: some.Tree) -> None:
    seen = {unicodedata.category(char) for char in text.replace("\n", "")}
    assert not seen & UNSEEN, tomli_w.dumps(tree)


def expected(manifest: PluginManifest) -> Mapping[str, int]:
    """How many lines of the host there are, by what each begins with."""
    runs = int(manifest.runtime is not None)
    command = manifest.oracle is not None and manifest.oracle.command is not None
    calls = manifest.loop.calls if manifest.loop.points else ()
    reach = bool(manifest.capabilities)
    scopes = sum(len(each.scope) for each in manifest.capabilities)
    ships = any((manifest.tools, manifest.skills, manifest.records))
    return {
        "Install the plugin": 1,
        "Grade:": 1,
        "  - hook points:": 1,
        "  - wrapper points:": 1,
        "  - runs as a process:": runs,
        "      program:": runs + command,
        "      environment:": runs,
        "      It runs with your own rights": runs,
        "  - may start": int(Call.CANDIDATE_FANOUT in calls),
        "  - may apply one attempt": int(Call.ADOPT_CANDIDATE in calls),
        "  - may write events": int(Call.EMIT in calls),
        "  - may ask the host for:": int(bool(calls)),
        "  - decides with:": int(manifest.oracle is not None),
        "          checked by:": len(manifest.oracle.checks) if manifest.oracle else 0,
        "It drives work": int(manifest.driver is not None),
        "No verification happens": int(manifest.oracle is not None),
        "Widest reach:": int(reach),
        "It declares no reach": int(not reach),
        "      claimed limit:": scopes,
        "Limits are the author's": int(scopes > 0),
        "It ships content:": int(ships),
        "Nothing is copied": int(ships),
        "It changes": int(bool(manifest.configure)),
        "      why:": len(manifest.configure),
        "Each tool call": 1,
        "Nothing above is granted": 1,
        "Some text above": int("[hidden characters]\n" in text_of(manifest)),
    }


def forges_nothing(text: str, manifest: PluginManifest, tree: some.Tree) -> None:
    lines = text.split("\n")
    for start, count in expected(manifest).items():
        if start == "Some text above":  # the author can write the words of the flag
            assert sum(line.startswith(start) for line in lines) <= 1, tomli_w.dumps(tree)
            continue
        found = sum(line.startswith(start) for line in lines)
        assert found == count, f"{start!r}: {found}, not {count}\n{tomli_w.dumps(tree)}"


def test_what_the_maker_makes_loads_from_a_file_as_well() -> None:
    """Without this the laws would be about values that no file has."""
    maker = Maker(99)
    for _ in range(300):
        tree, manifest = made(maker)
        found = examine(some.as_toml(tree))
        assert isinstance(found, Loaded), tomli_w.dumps(tree)
        assert found.manifest == manifest


@pytest.mark.behaviour("B62")
def test_one_character_changed_in_the_file_is_seen_or_changes_nothing_granted() -> None:
    """[B62]; over the bytes of the file themselves."""
    maker = Maker(7)
    changed = 0
    for _ in range(400):
        tree, manifest = made(maker)
        text = some.as_toml(tree).decode()
        other = examine(maker.edited(text).encode("utf-8"))
        if isinstance(other, Loaded) and granted(other.manifest) != granted(manifest):
            changed += 1
            assert text_of(other.manifest) != text_of(manifest), text
    assert changed > 20
