"""Whose records steer, in which order, and which guards act [P-60 to P-66].

A pure fold over what the person, the repository and the plugins bring. A plugin's records stand
last and change nothing of the others: they arm no guard, hide no record and outrank none.
"""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from typing import assert_never

from stella import limits
from stella.codec import Word
from stella.content.approvals import NO_APPROVALS
from stella.content.approvals import NO_PROMOTIONS
from stella.content.approvals import Approvals
from stella.content.conflict import Conflict
from stella.content.conflict import Stance
from stella.content.conflict import conflicts
from stella.content.findings import Finding
from stella.content.findings import Level
from stella.content.findings import blocked
from stella.content.findings import findings
from stella.content.guard import Guard
from stella.content.identity import Identity
from stella.content.identity import identity
from stella.content.record import Mode
from stella.content.record import Origin
from stella.content.record import Record
from stella.content.record import RuleSet
from stella.escape import brief
from stella.escape import counted
from stella.escape import visible

Sets = Sequence[tuple[str, RuleSet]]
"""The rules files of one owner in their order, each with the path a person is shown."""


class Rank(Word):
    """The tiers of records, the highest first [P-60]."""

    USER = "user"
    REPOSITORY = "repository"
    PLUGIN = "plugin"


_RANKS = tuple(Rank)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One record as it stands among all: whose it is, what was found, and whether it steers.

    `plugin` names the package of a plugin's record. `reason` says why it does not steer, None
    when it does; it stays visible either way [P-50]. `armed` is whether its guard acts.
    """

    rank: Rank
    record: Record
    identity: Identity
    path: str
    plugin: str | None = None
    findings: tuple[Finding, ...] = ()
    reason: str | None = None
    gives_way: bool = False
    armed: bool = False

    @property
    def whose(self) -> str:
        """Whose record it is, in words that stand before `record`."""
        match self.rank:
            case Rank.USER:
                return "the person's"
            case Rank.REPOSITORY:
                return "the repository's"
            case Rank.PLUGIN:
                return f"the plugin {visible(self.plugin or '')}'s"
            case _:
                assert_never(self.rank)

    @property
    def told(self) -> str:
        """The record in words of a notice."""
        return f"{self.whose} record {brief(self.record.lineage_id)}"

    def without(self, reason: str) -> "Standing":
        """Return it as one that does not steer."""
        return replace(self, reason=reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Governed:
    """All records after the fold: `steering` in their order, `idle` with their reasons.

    `guards` are those that act, none of a plugin [P-61].
    """

    steering: tuple[Standing, ...] = ()
    idle: tuple[Standing, ...] = ()

    @property
    def guards(self) -> tuple[Guard, ...]:
        """The armed guards, in the order of their records."""
        return tuple(_guard(each) for each in self.steering if each.armed)

    @property
    def notices(self) -> tuple[str, ...]:
        """What a person should know, a line each: why a record is idle, and every warning.

        Of each owner's the first `limits.IGNORED_SHOWN`, so that nobody's hide another's.
        """
        told: dict[str, list[str]] = {}
        for each in (*self.steering, *self.idle):
            lines = told.setdefault(each.whose, [])
            lines += (f"{each.told} ({visible(each.path)}): {text}" for text in _tellable(each))
        return tuple(line for whose, lines in told.items() for line in _first(whose, lines))


def govern(
    user: Sets = (),
    repository: Sets = (),
    plugins: Iterable[tuple[str, Sets]] = (),
    *,
    approved: Approvals = NO_APPROVALS,
    promoted: Approvals = NO_PROMOTIONS,
) -> Governed:
    """Return what steers and what guards [P-60 to P-66].

    An untrusted workspace brings no repository's records; the caller leaves them out [P-67].
    Approvals and promotions are of guards of the person and of the repository; for a plugin's
    record there is none [P-61].
    """
    mine = _owned(Rank.USER, user)
    theirs = _owned(Rank.REPOSITORY, repository)
    mine, theirs = _folded(mine, theirs)
    taken = {each.record.lineage_id: each for each in (*reversed(theirs), *reversed(mine))}
    foreign: list[Standing] = []
    for name, sets in sorted(plugins, key=lambda each: each[0]):
        of_plugin = [_below(each, taken) for each in _owned(Rank.PLUGIN, sets, name)]
        foreign += of_plugin
        for each in of_plugin:
            if each.reason is None:
                taken.setdefault(each.record.lineage_id, each)
    # What the plugins bring is looked at last, and what is settled before is not looked at again.
    own = _contested((*mine, *theirs))
    every = _contested((*own, *foreign), settled=len(own))
    armed = [_armed(each, approved, promoted) for each in every]
    return Governed(
        steering=tuple(sorted((each for each in armed if each.reason is None), key=_order)),
        idle=tuple(each for each in armed if each.reason is not None),
    )


# ── one owner ─────────────────────────────────────────────────────────────────────────


def _owned(rank: Rank, sets: Sets, plugin: str | None = None) -> list[Standing]:
    """Return an owner's records; what each says of others reaches the owner's own only [P-62]."""
    found = [
        _looked_at(rank, record, path, plugin) for path, rules in sets for record in rules.records
    ]
    if rank is Rank.PLUGIN:
        found = list(_bounded(found))
    replaced: dict[str, Standing] = {}
    for each in found:
        older = each.record.supersedes_record_id
        if each.reason is None and older is not None and older not in _ids(each):
            replaced.setdefault(older, each)
    first: dict[str, Standing] = {}
    settled: list[Standing] = []
    for each in found:
        newer = next((replaced[name] for name in _ids(each) if name in replaced), None)
        lineage = each.record.lineage_id
        if each.reason is None and newer is not None:
            settled.append(each.without(f"it is superseded by {brief(newer.record.lineage_id)}"))
        elif each.reason is None and lineage in first:
            where = visible(first[lineage].path)
            settled.append(each.without(f"the same lineage stands in {where} before it"))
        else:
            settled.append(each)
            if each.reason is None:
                first[lineage] = each
    return settled


def _looked_at(rank: Rank, record: Record, path: str, plugin: str | None) -> Standing:
    known_as = identity(record)
    found = findings(record, known_as, plugin=rank is Rank.PLUGIN)
    reason = blocked(found)
    if reason is None and not record.active and record.status is not None:
        reason = f"it is {record.status.value}"
    return Standing(
        rank=rank,
        record=record,
        identity=known_as,
        path=path,
        plugin=plugin,
        findings=found,
        reason=reason,
    )


def _bounded(found: Iterable[Standing]) -> Iterator[Standing]:
    """Yield a plugin's records, idle those whose globs are too many: each costs every prompt."""
    globs = 0
    for each in found:
        steering = each.record.steering
        own = len(steering.applies_to.paths) if steering and each.reason is None else 0
        if own and globs + own > limits.PLUGIN_GLOBS:
            yield each.without(f"its plugin names more than {limits.PLUGIN_GLOBS} globs with it")
        else:
            globs += own
            yield each


def _ids(each: Standing) -> set[str]:
    stored = each.record.record_id
    return {each.identity.record_id} | ({stored} if stored is not None else set())


# ── between owners ────────────────────────────────────────────────────────────────────


def _folded(
    mine: Sequence[Standing], theirs: Sequence[Standing]
) -> tuple[list[Standing], list[Standing]]:
    """Fold the repository's records into the person's by lineage [P-66]."""
    by_lineage = {each.record.lineage_id: each for each in mine if each.reason is None}
    kept: list[Standing] = []
    replaced: set[str] = set()
    for each in theirs:
        own = by_lineage.get(each.record.lineage_id)
        if each.reason is not None or own is None:
            kept.append(each)
        elif own.record.guard is None:
            kept.append(each)
            replaced.add(each.record.lineage_id)
        elif each.record.guard is not None and each.record.guard != own.record.guard:
            kept.append(each)
        else:
            kept.append(each.without("the person's record of this lineage has a guard and stays"))
    why = "the repository's record of this lineage takes its place"
    return [
        each.without(why) if each.reason is None and each.record.lineage_id in replaced else each
        for each in mine
    ], kept


def _below(each: Standing, taken: dict[str, Standing]) -> Standing:
    """Drop a plugin's record whose lineage somebody above it has, steering or not [P-63]."""
    higher = taken.get(each.record.lineage_id)
    if each.reason is not None or higher is None:
        return each
    return each.without(f"{higher.whose} record of this lineage goes before it")


def _contested(standings: Sequence[Standing], settled: int = 0) -> list[Standing]:
    """Note conflicts; of the first `settled` only the warning can change [P-64]."""
    at = [place for place, each in enumerate(standings) if each.reason is None]
    found = conflicts([_stance(standings[place]) for place in at])
    noted = list(standings)
    for number, conflict in found.items():
        each = standings[at[number]]
        if any(_CONFLICT in finding.text for finding in each.findings):
            continue
        gives_way = conflict.gives_way if at[number] >= settled else each.gives_way
        warning = _warning(conflict, standings[at[conflict.other]])
        noted[at[number]] = replace(each, findings=(*each.findings, warning), gives_way=gives_way)
    return noted


_CONFLICT = "conflict: "


def _warning(conflict: Conflict, other: Standing) -> Finding:
    end = "this one gives way" if conflict.gives_way else "this one stays in force"
    text = f"{_CONFLICT}{other.told} is enforced otherwise at the same precedence; {end}"
    return Finding(level=Level.WARNING, text=text)


def _stance(each: Standing) -> Stance:
    enforcement, steering = each.record.enforcement, each.record.steering
    mode = enforcement.mode if enforcement is not None else None
    if each.rank is Rank.PLUGIN and mode is Mode.HARD:
        mode = Mode.SOFT  # it is advisory, whatever it says [P-61]
    return Stance(
        tier=_RANKS.index(each.rank),
        precedence=each.record.precedence,
        mode=mode,
        paths=steering.applies_to.paths if steering is not None else (),
    )


def _order(each: Standing) -> tuple[int, int, bool, str]:
    """What sorts records: the tier, then what the record says of itself [P-60, P-63]."""
    tier = _RANKS.index(each.rank)
    return tier, -each.record.precedence, each.gives_way, each.plugin or ""


# ── guards ────────────────────────────────────────────────────────────────────────────


def _armed(each: Standing, approved: Approvals, promoted: Approvals) -> Standing:
    """Arm a guard of the person or repository, or say why it is not armed [P-61, P-65]."""
    record = each.record
    enforcement = record.enforcement
    hard = enforcement is not None and enforcement.mode is Mode.HARD
    if each.rank is Rank.PLUGIN or each.reason is not None or not hard:
        return each
    granted = approved if each.rank is Rank.USER else promoted
    digest = each.identity.record_hash
    if record.guard is None:
        why = "not armed: it is hard and names no guard"
    elif record.origin not in (Origin.USER, Origin.SYSTEM):
        why = "not armed: its origin is neither user nor system"
    elif each.gives_way:
        why = "not armed: it gives way to a record of the person"
    elif not granted.holds(record.lineage_id, digest):
        why = f"not armed: this text is not approved ({digest})"
    else:
        return replace(each, armed=True)
    return replace(each, findings=(*each.findings, Finding(level=Level.WARNING, text=why)))


def _guard(each: Standing) -> Guard:
    assert each.record.enforcement is not None  # noqa: S101  # an armed record names a guard
    return Guard.of(
        each.record.enforcement,
        lineage=each.record.lineage_id,
        whose=each.whose,
        statement=each.record.statement,
    )


def _first(whose: str, lines: list[str]) -> Iterator[str]:
    yield from lines[: limits.IGNORED_SHOWN]
    if (more := len(lines) - limits.IGNORED_SHOWN) > 0:
        yield f"{whose} records: {counted(more, 'more notice')}"


def _tellable(each: Standing) -> Iterator[str]:
    """Yield why a record is idle [P-50], and the warnings about one that its author left active."""
    if each.reason is not None:
        yield f"it does not steer: {each.reason}"
    if each.reason is None or each.record.active:
        yield from (found.text for found in each.findings if found.level is Level.WARNING)
