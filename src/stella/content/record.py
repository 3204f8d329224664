"""A rules file: context records in their typed form, as somebody wrote them [P-45].

What a record says is data: whether it steers, and whose it is, is settled elsewhere. Unknown keys
are passed over; wrong types, unknown words and missing keys are faults with their place.
"""

import math
from codecs import BOM_UTF8
from typing import Final

import msgspec

from stella import codec
from stella import limits
from stella.codec import U32
from stella.codec import Word
from stella.content.known import Moment
from stella.content.known import known
from stella.content.reading import Reading
from stella.escape import brief
from stella.escape import visible

SCHEMA: Final = "context-record/v0.1"


class Kind(Word):
    """What a record is [P-45]."""

    MEMORY = "memory"
    FACT = "fact"
    RULE = "rule"
    PREFERENCE = "preference"
    CONSTRAINT = "constraint"
    PROCEDURE = "procedure"


class Origin(Word):
    """Where a record came from; a guard needs the first or the second [P-65]."""

    USER = "user"
    SYSTEM = "system"
    OBSERVED = "observed"
    INFERRED = "inferred"
    IMPORTED = "imported"


class Sharing(Word):
    """Whom a record is for [P-45]."""

    PERSONAL = "personal"
    REPOSITORY = "repository"
    ORGANIZATION = "organization"


class Status(Word):
    """Whether a record holds; only an active one steers [P-50]."""

    ACTIVE = "active"
    RETRACTED = "retracted"
    ARCHIVED = "archived"


class Force(Word):
    """How much a record asks [P-51]."""

    MUST = "must"
    SHOULD = "should"
    MAY = "may"
    INFO = "info"


class Tier(Word):
    """Where a record wants to stand [P-51]."""

    PINNED = "pinned"
    SCOPED = "scoped"
    RETRIEVED = "retrieved"


class Mode(Word):
    """How a record is enforced [P-45]."""

    HARD = "hard"
    SOFT = "soft"
    NONE = "none"


class Basis(Word):
    """Why a record is held to be true [P-45]."""

    DECREE = "decree"
    MEASURED = "measured"
    DERIVED = "derived"
    ASSERTED = "asserted"


class OnExpiry(Word):
    """What becomes of a record whose time is over [P-45]."""

    STALE = "stale"
    DROP = "drop"
    BLOCK = "block"


class ProbeKind(Word):
    """How a record could be checked [P-46]."""

    PATH_EXISTS = "path_exists"
    PATH_ABSENT = "path_absent"
    FILE_CONTAINS = "file_contains"
    MANUAL = "manual"
    COMMAND_SUCCEEDS = "command_succeeds"
    HTTP_OK = "http_ok"
    NONE = "none"


class Relation(Word):
    """How a record stands to another one [P-45]."""

    DERIVED_FROM = "derived_from"
    REFINES = "refines"
    REQUIRES = "requires"
    SUPPORTS = "supports"
    CONTRADICTS = "contradicts"


class _Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One table of a rules file."""


class Provenance(_Part, frozen=True, kw_only=True):
    """Where the text was found [P-45]; nothing is fetched from there."""

    source_kind: str | None = None
    source_uri: str | None = None
    source_digest: str | None = None
    source_lines: str | tuple[U32, ...] | None = None
    repo: str | None = None
    commit: str | None = None
    ingest_run_id: str | None = None
    extracted_at: Moment | None = None
    extractor: str | None = None


class AppliesTo(_Part, frozen=True, kw_only=True):
    """When a record fits: any populated dimension that matches is enough [P-51]."""

    paths: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()

    @property
    def populated(self) -> bool:
        """Whether there is anything that could match."""
        return bool(self.paths or self.tasks or self.keywords)


class Steering(_Part, frozen=True, kw_only=True):
    """How a record steers a turn [P-51]; a larger `precedence` stands first in its tier."""

    force: Force
    precedence: U32 = 0
    tier: Tier | None = None
    applies_to: AppliesTo = AppliesTo()


class Enforcement(_Part, frozen=True, kw_only=True):
    """How a record wants to be enforced; what guards is decided in `govern` [P-61, P-65]."""

    mode: Mode
    guard_tool: str | None = None
    guard_deny_command: str | None = None
    guard_deny_path: str | None = None
    severity: str | None = None
    on_violation: str | None = None
    check: str | None = None
    rubric: str | None = None

    @property
    def guard(self) -> tuple[str | None, str | None, str | None] | None:
        """The concrete guard: tool, command and path it names; None where it names none."""
        named = (self.guard_tool, self.guard_deny_command, self.guard_deny_path)
        return None if named == (None, None, None) else named


class Probe(_Part, frozen=True, kw_only=True):
    """How somebody could look whether a record is true [P-46]; nothing runs one."""

    kind: ProbeKind
    path: str | None = None
    pattern: str | None = None
    expect: str | bool | U32 | None = None
    note: str | None = None


class Truth(_Part, frozen=True, kw_only=True):
    """Why a record is held to be true, and for how long [P-45]."""

    basis: Basis
    confidence: float | None = None
    verified_by: str | None = None
    verified_at: Moment | None = None
    valid_from: Moment | None = None
    ttl: str | U32 | None = None
    on_expiry: OnExpiry | None = None
    review_every: str | U32 | None = None
    probe: Probe | None = None

    def __post_init__(self) -> None:
        """Refuse a confidence that is no number JSON could write."""
        if self.confidence is not None and not math.isfinite(self.confidence):
            raise ValueError("confidence: expected a finite number")


class Link(_Part, frozen=True, kw_only=True):
    """A record's word about another one; from a plugin it has no effect [P-62]."""

    relation: Relation
    target: str


class Record(_Part, frozen=True, kw_only=True):
    """One `[[record]]`, with its file's defaults filled in [P-45]."""

    lineage_id: str
    kind: Kind
    statement: str
    record_id: str | None = None
    record_hash: str | None = None
    tags: tuple[str, ...] | None = None
    origin: Origin | None = None
    sharing_scope: Sharing | None = None
    status: Status | None = None
    supersedes_record_id: str | None = None
    provenance: Provenance | None = None
    steering: Steering | None = None
    enforcement: Enforcement | None = None
    truth: Truth | None = None
    link: tuple[Link, ...] | None = None

    def __post_init__(self) -> None:
        """Refuse a lineage or a statement that says nothing."""
        for name, text in (("lineage_id", self.lineage_id), ("statement", self.statement)):
            if not visible(text):
                raise ValueError(f"{name}: it is blank")

    @property
    def active(self) -> bool:
        """Whether nobody took it back; a record that does not say so is active."""
        return self.status in (None, Status.ACTIVE)

    @property
    def guard(self) -> tuple[str | None, str | None, str | None] | None:
        """The concrete guard of a hard record, None for every other one [P-65]."""
        enforcement = self.enforcement
        hard = enforcement is not None and enforcement.mode is Mode.HARD
        return enforcement.guard if enforcement is not None and hard else None

    @property
    def pinned(self) -> bool:
        """Whether it stands in the prefix; all else is matched with each prompt [P-51]."""
        steering = self.steering
        return steering is not None and (
            steering.force in (Force.MUST, Force.SHOULD) or steering.tier is Tier.PINNED
        )

    @property
    def precedence(self) -> int:
        """What orders it among the records of its tier [P-63]."""
        return self.steering.precedence if self.steering is not None else 0


class Defaults(_Part, frozen=True, kw_only=True):
    """What the records of a file take where they say nothing themselves [P-45]."""

    sharing_scope: Sharing | None = None
    origin: Origin | None = None
    status: Status | None = None
    review_every: str | U32 | None = None
    provenance: Provenance | None = None


class RuleSet(_Part, frozen=True, kw_only=True, rename={"records": "record"}):
    """One rules file [P-45]; a `[[proposal]]` is kept as it stands and never steers."""

    schema: str
    set_id: str
    ingest_run_id: str | None = None
    defaults: Defaults = Defaults()
    records: tuple[Record, ...] = ()
    proposal: tuple[dict[str, object], ...] = ()

    def __post_init__(self) -> None:
        """Refuse a set without a name."""
        if not visible(self.set_id):
            raise ValueError("set_id: it is blank")


def read_rules(data: bytes) -> Reading[RuleSet]:
    """Return the records of a rules file, defaults filled in, or all that is wrong with it [P-45].

    Its first fault is that of the text itself: more than `limits.CONTENT_BYTES`, no UTF-8, no
    TOML, another `schema`. Unknown keys are notes.
    """
    if len(data) > limits.CONTENT_BYTES:
        return _nothing(f"the file has more than {limits.CONTENT_BYTES} bytes")
    try:
        tree = codec.parse_toml(data.removeprefix(BOM_UTF8).decode("utf-8"))
    except UnicodeDecodeError as error:
        return _nothing(f"byte {error.start} is not UTF-8")
    except codec.Refused as refused:
        return _nothing(*(brief(str(fault)) for fault in refused.reasons))
    schema = tree.get("schema")
    if isinstance(schema, str) and schema != SCHEMA:
        return _nothing(f'schema: expected "{SCHEMA}", got "{brief(schema)}"')
    kept, foreign = known(RuleSet, tree)
    notes = tuple(map(str, foreign[: limits.IGNORED_SHOWN]))
    if (more := len(foreign) - limits.IGNORED_SHOWN) > 0:
        notes = (*notes, f"{more} more keys are not known and passed over")
    try:
        rules = codec.decode(RuleSet, kept)
    except codec.Refused as refused:
        faults = tuple(str(fault) for fault in refused.reasons)
        return Reading(value=None, faults=faults, notes=notes)
    records = tuple(_filled(record, rules.defaults) for record in rules.records)
    return Reading(value=msgspec.structs.replace(rules, records=records), notes=notes)


def _nothing(*faults: str) -> Reading[RuleSet]:
    return Reading(value=None, faults=faults)


def _filled(record: Record, given: Defaults) -> Record:
    """Return a record with what its file says for all of them."""
    truth = record.truth
    if truth is not None and truth.review_every is None:
        truth = msgspec.structs.replace(truth, review_every=given.review_every)
    return msgspec.structs.replace(
        record,
        sharing_scope=record.sharing_scope or given.sharing_scope,
        origin=record.origin or given.origin,
        status=record.status or given.status,
        provenance=_joined(record.provenance, given.provenance),
        truth=truth,
    )


def _joined(own: Provenance | None, shared: Provenance | None) -> Provenance | None:
    """Return a record's provenance, each missing key taken from the file's."""
    if own is None or shared is None:
        return own or shared
    keys = Provenance.__struct_fields__
    missing = {key: getattr(shared, key) for key in keys if getattr(own, key) is None}
    return msgspec.structs.replace(own, **missing)
