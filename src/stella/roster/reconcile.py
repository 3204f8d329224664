"""What a package declares to ship against what it ships, as plain values [P-5 to P-8].

Nothing here opens a file. Every difference is one finding, and all of them are one message, so
that an author mends a package at once.
"""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from stella import limits
from stella.escape import brief
from stella.escape import visible
from stella.manifest.fault import Path as Place
from stella.manifest.plugin import PluginManifest
from stella.near import near
from stella.roster.content import RULES
from stella.roster.content import SKILLS
from stella.roster.content import TOOLS
from stella.roster.content import Content
from stella.roster.content import Found


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One reason why a package is refused or withheld [P-7].

    `path` is the file, or where one was expected. `word` says which way the rule was broken;
    `place` is the key of the manifest, when it is about one.
    """

    path: str
    kind: str
    identity: str
    rule: str
    word: str
    says: str
    near: tuple[str, ...] = ()
    place: Place = ()

    @property
    def message(self) -> str:
        """The finding as one line, its path first, the near words of the other side last."""
        hint = f"; did you mean {' or '.join(map(brief, self.near))}?" if self.near else ""
        return f"{visible(self.path)}: {self.says}{hint}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """One kind of content: how it is called, its table and key, and where its files stand."""

    noun: str
    table: str
    key: str
    directory: str


_TOOL: Final = _Kind(noun="tool", table="tools", key="name", directory=TOOLS)
_SKILL: Final = _Kind(noun="skill", table="skills", key="slug", directory=SKILLS)
_RECORD: Final = _Kind(noun="record", table="records", key="lineage", directory=RULES)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sides:
    """One kind as it is declared and as it was found, each as identity and text."""

    kind: _Kind
    declared: tuple[tuple[str, str], ...]
    found: tuple[tuple[str, str, str], ...]
    """Path, identity, text."""


def reconcile(manifest: PluginManifest, found: Found) -> tuple[Finding, ...]:
    """Return every difference between declaration and files, sorted by path [P-4 to P-7]."""
    findings = [
        Finding(
            path=fault.path,
            kind=fault.path.partition("/")[0],
            identity="",
            rule="P-4",
            word="ContentUnreadable",
            says=fault.says,
        )
        for fault in found.faults
    ]
    unread = frozenset(fault.path for fault in found.faults)
    for sides in _all(manifest, found.content):
        findings += _differences(sides, unread)
    return tuple(sorted(findings, key=lambda each: (each.path, each.kind, each.identity)))


def texts_differ(manifest: PluginManifest, content: Content) -> tuple[str, ...]:
    """Return a warning for each text that is not the one a person is shown [P-8]."""
    return tuple(
        f'{visible(path)}: the text of {sides.kind.noun} "{visible(identity)}" is'
        f' "{brief(text)}", and the one in {_table(sides.kind)} is "{brief(shown[identity])}"'
        for sides in _all(manifest, content)
        if (shown := dict(sides.declared))
        for path, identity, text in sides.found
        if identity in shown and visible(shown[identity]) != visible(text)
    )


def report(findings: Iterable[Finding]) -> str:
    """Return all findings as one message [P-7]."""
    head, lines = "what it ships is not what it declares:", [each.message for each in findings]
    if len(lines) == 1:
        return f"{head} {lines[0]}"
    return "\n".join((head, *(f"  {line}" for line in lines)))


def identities(content: Content) -> Mapping[str, tuple[str, ...]]:
    """Return the identities on disk, sorted, by the name of their manifest table [P-5, I-60]."""
    return {
        sides.kind.table: tuple(sorted({identity for _, identity, _ in sides.found}))
        for sides in _all(PluginManifest(name=""), content)
    }


def _all(manifest: PluginManifest, content: Content) -> tuple[_Sides, ...]:
    return (
        _Sides(
            kind=_TOOL,
            declared=tuple((each.name.strip(), each.description) for each in manifest.tools),
            found=tuple(
                (each.path, each.value.name, each.value.description) for each in content.tools
            ),
        ),
        _Sides(
            kind=_SKILL,
            declared=tuple((each.slug.strip(), each.description) for each in manifest.skills),
            found=tuple(
                (each.path, each.path.split("/")[1], each.value.description)
                for each in content.skills
            ),
        ),
        _Sides(
            kind=_RECORD,
            declared=tuple((each.lineage.strip(), each.statement) for each in manifest.records),
            found=tuple(
                (each.path, record.lineage_id.strip(), record.statement)
                for each in content.rules
                for record in each.value.records
            ),
        ),
    )


def _differences(sides: _Sides, unread: frozenset[str]) -> Iterator[Finding]:
    kind = sides.kind
    declared = [identity for identity, _ in sides.declared]
    on_disk = [identity for _, identity, _ in sides.found]
    undeclared, absent = set(on_disk) - set(declared), set(declared) - set(on_disk)
    for path, identity, _ in sides.found:
        if identity in undeclared:
            yield Finding(
                path=path,
                kind=kind.noun,
                identity=identity,
                rule="P-6",
                word="Undeclared",
                says=f'{kind.noun} "{brief(identity)}" is not declared in {_table(kind)}',
                near=_near(identity, absent),
            )
    yield from _twice(sides)
    for at, identity in enumerate(declared):
        # A file that is there and says nothing usable has been told already.
        if identity in absent and _expected(kind, identity) not in unread:
            yield Finding(
                path=_expected(kind, identity),
                kind=kind.noun,
                identity=identity,
                rule="P-6",
                word="Absent",
                says=f'{kind.noun} "{brief(identity)}" is declared in {_table(kind)} and absent',
                near=_near(identity, undeclared),
                place=(kind.table, at, kind.key),
            )


def _twice(sides: _Sides) -> Iterator[Finding]:
    """Yield a finding for each identity that stands on disk a second time [P-6]."""
    first: dict[str, str] = {}
    for path, identity, _ in sides.found:
        if identity in first:
            noun, other = sides.kind.noun, visible(first[identity])
            yield Finding(
                path=path,
                kind=noun,
                identity=identity,
                rule="P-6",
                word="Twice",
                says=f'{noun} "{brief(identity)}" stands in {other} already',
            )
        else:
            first[identity] = path


def _expected(kind: _Kind, identity: str) -> str:
    return f"{SKILLS}/{identity}/SKILL.md" if kind is _SKILL else f"{kind.directory}/"


def _near(identity: str, others: Iterable[str]) -> tuple[str, ...]:
    return near(identity[: limits.NEAR_CHARS], (each[: limits.NEAR_CHARS] for each in others))


def _table(kind: _Kind) -> str:
    return f"[[{kind.table}]]"
