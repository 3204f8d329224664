"""The laws of reading a manifest and of showing it, each over all manifests [M-2 to M-5, C-1]."""

import copy
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from datetime import date
from datetime import datetime
from datetime import time
from enum import Enum
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import assume
from hypothesis import given
from hypothesis import strategies as st
from msgspec import inspect

from stella import codec
from stella.consent.page import exact
from stella.consent.page import joined
from stella.consent.text import Resolution
from stella.consent.text import consent_text
from stella.errors import ManifestError
from stella.escape import visible_flagged
from stella.manifest.fault import Reason
from stella.manifest.package import Configure
from stella.manifest.plugin import PluginManifest
from stella.manifest.read import Loaded
from stella.manifest.read import Unloadable
from stella.manifest.read import examine
from stella.manifest.read import read_manifest
from tests.making.manifests import manifest_vectors
from tests.properties import manifests as some

FOREIGN = "a_key_of_a_newer_host"
FOUND = Resolution(runtime="/usr/bin/python3", oracle="/usr/bin/make")
EVERYTHING = next(p for p in manifest_vectors("manifest/accepted") if p.stem == "09-everything")
VECTORS = [
    path.read_bytes()
    for kind in ("manifest/accepted", "manifest/refused")
    for path in manifest_vectors(kind)
]
TREES = st.sampled_from([codec.parse_toml(EVERYTHING.read_text("utf-8"))]) | some.manifests()


def text_of(tree: some.Tree) -> str:
    """Return the consent text of a tree that loads."""
    return consent_text(read_manifest(some.as_toml(tree)).manifest, FOUND)


@some.PROOF
@given(some.manifests())
def test_a_manifest_made_to_load_loads(tree: some.Tree) -> None:
    """Without this the laws below would say nothing."""
    assert isinstance(examine(some.as_toml(tree)), Loaded)


def closed_tables(tree: some.Tree) -> list[some.Place]:
    """Return the path of every table but the two that hold keys of the author's own."""
    own = {("requirements",), ("roles",)}
    return [p for p, v in some.places(tree) if isinstance(v, dict) and p not in own]


@some.PROOF
@given(TREES, st.data())
def test_a_foreign_key_is_refused_at_every_depth(tree: some.Tree, data: st.DataObject) -> None:
    """Law 2 [M-2, B41]"""
    path = data.draw(st.sampled_from(closed_tables(tree)))
    dirty = copy.deepcopy(tree)
    some.put(dirty, (*path, FOREIGN), 1)
    found = examine(some.as_toml(dirty))
    assert isinstance(found, Unloadable)
    assert [(f.reason, f.path) for f in found.faults] == [(Reason.UNKNOWN_KEY, (*path, FOREIGN))]


@some.PROOF
@given(TREES)
def test_a_foreign_key_in_every_table_at_once_is_refused_in_each(tree: some.Tree) -> None:
    """Law 2 [M-2, M-4, M-6]; in the order of the file, each where it is written."""
    dirty = copy.deepcopy(tree)
    for path in closed_tables(tree):
        some.put(dirty, (*path, FOREIGN), 1)
    text = some.as_toml(dirty)
    found = examine(text)
    assert isinstance(found, Unloadable)
    assert {f.reason for f in found.faults} == {Reason.UNKNOWN_KEY}
    assert {f.path for f in found.faults} == {(*path, FOREIGN) for path in closed_tables(tree)}
    places = [(f.line or 0, f.column or 0) for f in found.faults]
    assert places == sorted(set(places))
    lines = text.decode().split("\n")
    assert all(lines[line - 1][column - 1 :].startswith(FOREIGN) for line, column in places)


@pytest.mark.behaviour("M-2")
def test_every_table_of_the_grammar_refuses_a_foreign_key() -> None:
    """Law 2 [M-2]; the widest vector has all of them, which another test here proves."""
    tree = codec.parse_toml(EVERYTHING.read_text("utf-8"))
    for path in closed_tables(tree):
        dirty = copy.deepcopy(tree)
        some.put(dirty, (*path, FOREIGN), 1)
        found = examine(some.as_toml(dirty))
        assert isinstance(found, Unloadable), path
        assert [f.path for f in found.faults] == [(*path, FOREIGN)]
    depths = {len(path) for path in closed_tables(tree)}
    assert depths == {0, 1, 2, 3}


TOML_TYPES = (date, datetime, time)


@some.PROOF
@given(TREES)
def test_what_is_written_back_is_read_as_the_same_manifest(tree: some.Tree) -> None:
    """[M-13]; as TOML, absent keys staying absent."""
    manifest = read_manifest(some.as_toml(tree)).manifest
    written = msgspec.to_builtins(manifest, builtin_types=TOML_TYPES)
    assert read_manifest(some.as_toml(written)).manifest == manifest


@some.PROOF
@given(TREES)
def test_decoding_what_was_encoded_gives_the_value_again(tree: some.Tree) -> None:
    """[W-5]; JSON has no dates and no infinity, so settings have neither here."""
    tree = copy.deepcopy(tree)
    for entry in tree.get("configure", ()):
        entry["value"] = repr(entry["value"])
    manifest = read_manifest(some.as_toml(tree)).manifest
    line = codec.encode(manifest)
    assert codec.read(PluginManifest, line) == manifest
    assert codec.encode(codec.read(PluginManifest, line)) == line


@pytest.mark.behaviour("M-5")
@some.PROOF
@given(TREES, st.data())
def test_a_value_of_another_type_is_one_fault_and_invents_no_other(
    tree: some.Tree, data: st.DataObject
) -> None:
    """[M-5]; a setting's value may be of any type."""
    values = [p for p, _ in some.places(tree) if p and "value" not in p]
    path = data.draw(st.sampled_from(values))
    wrong = copy.deepcopy(tree)
    some.put(wrong, path, date(1979, 5, 27))
    found = examine(some.as_toml(wrong))
    assert isinstance(found, Unloadable)
    assert [(f.reason, f.path) for f in found.faults] == [(Reason.WRONG_TYPE, path)]
    assert found.faults[0].line is not None


@some.PROOF
@given(TREES, TREES, st.data())
def test_a_piece_of_another_manifest_is_refused_or_read_and_nothing_else(
    tree: some.Tree, other: some.Tree, data: st.DataObject
) -> None:
    """[M-3]"""
    path = data.draw(st.sampled_from([p for p, _ in some.places(tree) if p]))
    piece = data.draw(st.sampled_from([v for p, v in some.places(other) if p]))
    mixed = copy.deepcopy(tree)
    some.put(mixed, path, piece)
    with suppress(ManifestError):
        text_of(mixed)


@some.PROOF
@given(TREES, TREES, st.data())
def test_a_change_of_what_is_granted_changes_the_consent_text(
    tree: some.Tree, other: some.Tree, data: st.DataObject
) -> None:
    """[B62, C79]; the change is one block, or one value of one block, of another manifest."""
    changed: Any = copy.deepcopy(tree)
    blocks = sorted({*tree, *other})
    block = data.draw(st.sampled_from(blocks))
    if block in other:
        changed[block] = other[block]
    else:
        del changed[block]
    with suppress(ManifestError):
        one = read_manifest(some.as_toml(tree)).manifest
        two = read_manifest(some.as_toml(changed)).manifest
        assume(some.authority(one) != some.authority(two))
        assert consent_text(one, FOUND) != consent_text(two, FOUND)


@some.PROOF
@given(some.manifests(), some.manifests())
def test_two_manifests_that_grant_different_things_have_different_texts(
    one: some.Tree, two: some.Tree
) -> None:
    """[C79]"""
    left, right = (read_manifest(some.as_toml(tree)).manifest for tree in (one, two))
    if some.authority(left) != some.authority(right):
        assert consent_text(left, FOUND) != consent_text(right, FOUND)


@some.PROOF
@given(st.lists(some.WORDS | st.text(max_size=4)), st.lists(some.WORDS | st.text(max_size=4)))
def test_words_in_a_row_look_alike_only_when_they_are_the_same(
    one: list[str], two: list[str]
) -> None:
    """[C79]; for the three ways in which author words stand in a row."""
    assume(one != two)
    for apart, between in ((",", ", "), (" `", " ")):
        left, right = (joined((exact(w, apart) for w in words), between) for words in (one, two))
        assert left.text != right.text
    assert [exact(word).text for word in one] != [exact(word).text for word in two]


LEAVES = st.text(max_size=3) | st.integers(-2, 2) | st.booleans() | st.sampled_from([0.0, 1.0])


@some.PROOF
@given(LEAVES | st.lists(LEAVES, max_size=3), LEAVES | st.lists(LEAVES, max_size=3))
def test_settings_look_alike_only_when_they_are_the_same(one: object, two: object) -> None:
    """[M-57, C79]"""
    texts = {
        consent_text(
            PluginManifest(name="x", configure=(Configure(key="ui.a", value=v, purpose="p"),)),
            FOUND,
        )
        for v in (one, two)
    }
    assert len(texts) == len({repr(one), repr(two)})


NOT_SHOWN = {
    ("oracle", "flip"),
    ("oracle", "tamper"),
    ("oracle", "measurements"),
    ("wrapper", "stages", "condition"),
    ("records", "enforcement"),
}
"""What M-63 keeps out of the text, and the one word of a record that has no other [R-69]."""


def changes(value: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield a value with one thing in it changed, and the names of the fields on the way."""
    match value:
        case msgspec.Struct():
            for field in msgspec.structs.fields(value):
                for path, other in changes(getattr(value, field.name)):
                    yield (field.name, *path), msgspec.structs.replace(value, **{field.name: other})
        case tuple():
            for at, item in enumerate(value):
                before, after = value[:at], value[at + 1 :]
                yield (), before + after
                yield from ((path, (*before, other, *after)) for path, other in changes(item))
        case dict():
            for key, item in value.items():
                rest = {k: v for k, v in value.items() if k != key}
                yield (), rest
                yield (), rest | {f"{key}x": item}
                yield from ((path, rest | {key: other}) for path, other in changes(item))
        case _:
            yield from (((), other) for other in others(value))


def others(leaf: object) -> Iterator[object]:
    """Yield other values of the type of a leaf; nothing stands for a key that is absent."""
    match leaf:
        case Enum():
            yield from (word for word in type(leaf) if word is not leaf)
        case bool():
            yield not leaf
        case int() | float():
            yield leaf + 1
        case str():
            yield from (f"{leaf}x", leaf[1:], f"x{leaf}")
        case date():
            yield leaf.replace(year=leaf.year + 1)
        case time():
            yield leaf.replace(hour=leaf.hour + 1)
        case _:
            assert leaf is None


@pytest.mark.behaviour("M-63")
@pytest.mark.parametrize("path", manifest_vectors("manifest/accepted"), ids=lambda path: path.stem)
def test_every_single_change_of_a_shown_field_changes_the_text(path: Path) -> None:
    """[B62, M-63]; what is not shown changes nothing."""
    manifest = read_manifest(path.read_bytes()).manifest
    text = consent_text(manifest, FOUND)
    changed = list(changes(manifest))
    assert changed
    for fields, other in changed:
        hidden = fields in NOT_SHOWN
        assert (consent_text(other, FOUND) == text) is hidden, (fields, other)


def test_the_widest_vector_has_every_field_of_the_grammar() -> None:
    """Without this the law above would say nothing of the field that is missing [M-13]."""
    tree = codec.parse_toml(EVERYTHING.read_text("utf-8"))
    given_paths = {tuple(s for s in p if isinstance(s, str)) for p, _ in some.places(tree)}
    given_paths = {("roles", *p[2:]) if p[:1] == ("roles",) else p for p in given_paths}
    wanted = set(fields_of(inspect.type_info(PluginManifest)))
    assert len(wanted) > 50
    assert wanted <= given_paths


def fields_of(kind: inspect.Type, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the path of every declared field."""
    match kind:
        case inspect.StructType():
            for field in kind.fields:
                yield (*path, field.encode_name)
                yield from fields_of(field.type, (*path, field.encode_name))
        case inspect.VarTupleType():
            yield from fields_of(kind.item_type, path)
        case inspect.DictType():
            yield from fields_of(kind.value_type, path)
        case inspect.UnionType():
            for arm in kind.types:
                yield from fields_of(arm, path)
        case _:
            return


@some.PROOF
@given(st.binary(max_size=200))
def test_any_bytes_are_a_manifest_or_a_manifest_error(data: bytes) -> None:
    """[M-3]"""
    with suppress(ManifestError):
        read_manifest(data)


PIECES = (
    *(b"[", b"]", b"[[", b"[[a]]\n", b'"', b"'", b'"""', b"'''", b"\n", b"=", b".", b"#", b"{"),
    *(b"}", b"true", b"1e9", b"-1", b"nan", b"1979-05-27", b"'x'", b'" "', b"\\u0000", b"\\"),
    *(b"\xe2\x80\xae", b"\xef\xbb\xbf", b"\xff", b"a.b", b"a = 1\n"),
)
EDITS = st.lists(
    st.tuples(
        st.floats(0, 1),
        st.integers(0, 12),
        st.sampled_from(PIECES) | st.binary(max_size=6),
    ),
    min_size=1,
    max_size=6,
)


@some.PROOF
@given(st.sampled_from(VECTORS), EDITS)
def test_an_edited_manifest_is_a_manifest_or_a_manifest_error(
    data: bytes, edits: list[tuple[float, int, bytes]]
) -> None:
    """[M-3, M-4, M-7]"""
    for place, removed, added in edits:
        at = int(place * len(data))
        data = data[:at] + added + data[at + removed :]
    found = examine(data)
    if isinstance(found, Unloadable):
        assert found.faults
        assert all(hides_nothing(str(fault)) for fault in found.faults)
    else:
        lines = consent_text(found.manifest, FOUND).split("\n")
        assert all(hides_nothing(line.strip(" ")) for line in lines)


def hides_nothing(text: str) -> bool:
    """Return whether a text is on one line and nothing in it is hidden [C-3]."""
    return visible_flagged(text) == (text, False)


READS = """\
import sys
from pathlib import Path
from stella.consent.text import Resolution
from stella.consent.text import consent_text
from stella.manifest.fault import report
from stella.manifest.read import Loaded
from stella.manifest.read import examine

for name in sys.argv[1:]:
    found = examine(Path(name).read_bytes())
    if isinstance(found, Loaded):
        print(consent_text(found.manifest, Resolution()))
    else:
        print(report("plugin.toml", found.faults))
"""


@pytest.mark.behaviour("M-3")
def test_what_is_read_and_shown_depends_on_the_bytes_alone(tmp_path: Path) -> None:
    """[M-3, C-1]; another place, locale, zone, hash seed and limit of digits change nothing."""
    huge = tmp_path / "huge.toml"
    huge.write_text(f"name = {'1' * 1000}\n")
    kinds = ("manifest/accepted", "manifest/refused")
    names = [str(huge), *(str(path) for kind in kinds for path in manifest_vectors(kind))]
    places = {
        tmp_path: {"PYTHONHASHSEED": "1", "TZ": "UTC", "PYTHONINTMAXSTRDIGITS": "0"},
        Path(sys.prefix): {"PYTHONHASHSEED": "2", "TZ": "Asia/Tokyo", "LC_ALL": "C"},
    }
    said = {
        subprocess.run(
            [sys.executable, "-c", READS, *names],
            cwd=place,
            env={**os.environ, "PYTHONIOENCODING": "utf-8", **env},
            capture_output=True,
            check=True,
            timeout=60,
        ).stdout
        for place, env in places.items()
    }
    assert len(said) == 1
    assert said.pop().count(b"cannot be loaded") > 1
