"""What a settings file may say, and what of it this release acts on [S2-4, S2-20 to S2-28].

Bytes in, values or every fault out; nothing here opens a file. A section or key that is defined
but not acted on yet is a fault that says so, so that nobody relies on what has no effect.
"""

from codecs import BOM_UTF8
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from types import MappingProxyType
from typing import Annotated
from typing import Any
from typing import Final
from typing import TypeVar

import msgspec

from stella import codec
from stella import limits
from stella.codec import Refused
from stella.codec import Word
from stella.escape import brief
from stella.manifest.scan import halted
from stella.manifest.scan import overreach
from stella.settings.sections import MODEL_NAMES
from stella.settings.sections import Scope
from stella.settings.sections import Trouble
from stella.settings.sections import looked_over
from stella.turn.seats import Seat

_VERSION: Final = 1
_SPELT: Final = '"on" or "off"'
_SWITCHES: Final = ("on", "off")

T = TypeVar("T")


MODEL_OF: Final[Mapping[str, str]] = MappingProxyType(
    {
        Seat.WORKER.value: "worker",
        Seat.TRIAGE.value: "cheap",
        Seat.RESEARCH.value: "research",
        Seat.PLAN.value: "plan",
        Seat.VERDICT.value: "verifier",
    }
)
"""Which entry of `[tiers]` names the model of a seat [M2-53]."""


class Meta(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """The optional header [S2-5]."""

    schema_version: int | None = None
    scope: str | None = None


class ModelTable(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """`[model]` [S2-20]."""

    default: str | None = None


class PipelineTable(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """`[pipeline]`; `test_timeout_secs` are seconds, `tiers` binds tiers to seats [D-7, S2-26]."""

    default: str | None = None
    max_holds: Annotated[int, msgspec.Meta(ge=0, le=limits.HOLDS_MAX)] | None = None
    test_timeout_secs: (
        Annotated[int, msgspec.Meta(ge=limits.TEST_SECS_MIN, le=limits.TEST_SECS_MAX)] | None
    ) = None
    tiers: dict[str, Seat] = msgspec.field(default_factory=dict)


class TiersTable(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """`[tiers]`: the model of each name [M2-50]."""

    worker: str | None = None
    cheap: str | None = None
    verifier: str | None = None
    plan: str | None = None
    research: str | None = None

    @property
    def given(self) -> dict[str, str]:
        """The names that have a model."""
        found = {name: getattr(self, name) for name in MODEL_NAMES}
        return {name: model for name, model in found.items() if model is not None}


class Color(Word):
    """When a terminal gets colour; this release never gives it any [S2-27]."""

    AUTO = "auto"
    NEVER = "never"


class Theme(Word):
    """How a terminal is drawn on; this release draws in one way [S2-27]."""

    DEFAULT = "default"
    PLAIN = "plain"
    HIGH_CONTRAST = "high-contrast"


class UiTable(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """`[ui]` [S2-27]: without colour, themes and redrawing, every value holds already."""

    live: bool | None = None
    color: Color | None = None
    theme: Theme | None = None


class Switch(Word):
    """What a name of `[plugins]` may say [S2-25]."""

    ON = "on"
    OFF = "off"


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsFile:
    """What one file says; `ignored` are places that have no say in a file of its scope [A-70].

    `later` are places that need trust and that this release does not act on yet. `plugins` are
    the names that are switched, and how [I-43]. `hooks` counts the entries of `[hooks]`.
    """

    model: ModelTable
    pipeline: PipelineTable
    tiers: TiersTable
    ui: UiTable = field(default_factory=UiTable)
    plugins: Mapping[str, Switch]
    ignored: tuple[str, ...] = ()
    later: tuple[str, ...] = ()
    hooks: int = 0

    @property
    def off(self) -> frozenset[str]:
        """The plugins that it switches off."""
        return frozenset(name for name, said in self.plugins.items() if said is Switch.OFF)

    @property
    def names(self) -> tuple[str, ...] | None:
        """The members of the default pipeline, None without one [D-5]."""
        text = self.pipeline.default
        return None if text is None else names_of(text)

    @property
    def worker(self) -> str | None:
        """The model that this file chooses for the session [M2-51]."""
        return self.model.default if self.model.default is not None else self.tiers.worker


def names_of(text: str) -> tuple[str, ...] | None:
    """Return the members a pipeline's text names, None when a part of it is empty [D-1]."""
    names = tuple(part.strip() for part in text.split(","))
    return names if all(names) else None


def read_settings(data: bytes, scope: Scope) -> SettingsFile | tuple[Trouble, ...]:
    """Return what the bytes of a settings file say, or all that is wrong with them [S2-4].

    The faults are in the order of the sections in the file, at most `limits.FAULTS_TOLD`.
    """
    tree = _tree(data)
    if isinstance(tree, Trouble):
        return (tree,)
    looked = looked_over(tree, scope)
    troubles = list(looked.troubles)
    meta = _decoded(Meta, "meta", looked.tree, troubles)
    model = _decoded(ModelTable, "model", looked.tree, troubles)
    pipeline = _decoded(PipelineTable, "pipeline", looked.tree, troubles)
    tiers = _decoded(TiersTable, "tiers", looked.tree, troubles)
    ui = _decoded(UiTable, "ui", looked.tree, troubles)
    plugins = _switches("plugins", looked.tree, troubles)
    troubles += [*_meta(meta, scope), *_pipeline(pipeline), *_models(model, tiers)]
    if troubles:
        order = {section: at for at, section in enumerate(tree)}
        inorder = sorted(troubles, key=lambda trouble: order[trouble.section])
        return tuple(inorder[: limits.FAULTS_TOLD])
    return SettingsFile(
        model=model,
        pipeline=pipeline,
        tiers=tiers,
        plugins=plugins,
        ui=ui,
        ignored=looked.ignored,
        later=looked.later,
        hooks=sum(1 for _ in hook_entries(tree.get("hooks"))),
    )


def hook_entries(table: object) -> Iterator[tuple[str, object]]:
    """Yield each entry of a `[hooks]` table with its event, whatever shape it has [H-45].

    For people and for counts; nothing is judged here, and nothing that is there is passed over.
    """
    if table is None:
        return
    events = table.items() if isinstance(table, dict) else (("hooks", table),)
    for event, groups in events:
        for group in groups if isinstance(groups, list) else (groups,):
            entries = group.get("hooks") if isinstance(group, dict) else None
            for entry in entries if isinstance(entries, list) and entries else (group,):
                yield str(event), entry


def _tree(data: bytes) -> dict[str, Any] | Trouble:
    if data.startswith(BOM_UTF8):
        return Trouble(message="a byte-order mark stands at byte 0; save it as UTF-8 without one")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return Trouble(message=f"byte {error.start} is not UTF-8; save the file as UTF-8")
    if fault := overreach(text):
        message = "more is nested, or a number is longer, than any setting is"
        return Trouble(message=message, line=fault.line, column=fault.column)
    try:
        return codec.parse_toml(text)
    except Refused as refused:
        return _syntax(refused.reasons[0].message)


def _syntax(detail: str) -> Trouble:
    said, place = halted(detail)
    line, column = place or (None, None)
    return Trouble(message=f"the file is not TOML: {said}", line=line, column=column)


def _decoded(kind: type[T], section: str, tree: dict[str, Any], troubles: list[Trouble]) -> T:
    """Return a section, an empty one when it is faulty: its faults join `troubles`."""
    try:
        return codec.decode(kind, tree.get(section, {}))
    except Refused as refused:
        for fault in refused.reasons:
            place = f"{section}.{fault.at}" if fault.path else section
            troubles.append(Trouble(section=section, at=place, message=fault.message))
    return kind()


def _switches(
    section: str, tree: Mapping[str, Any], troubles: list[Trouble]
) -> Mapping[str, Switch]:
    """Return what a section switches; a boolean is a fault with the right spelling [S2-25]."""
    table = tree.get(section, {})
    if not isinstance(table, dict):
        message = f"expected a table of names, each {_SPELT}"
        troubles.append(Trouble(section=section, at=section, message=message))
        return {}
    found: dict[str, Switch] = {}
    for name, said in table.items():
        if isinstance(said, str) and said in _SWITCHES:
            found[name] = Switch(said)
            continue
        if isinstance(said, bool):
            right = Switch.ON if said else Switch.OFF
            message = f'expected {_SPELT}, got a boolean; write "{right.value}"'
        else:
            got = f'"{brief(said)}"' if isinstance(said, str) else "another type"
            message = f"expected {_SPELT}, got {got}"
        troubles.append(Trouble(section=section, at=f"{section}.{brief(name)}", message=message))
        if len(troubles) >= limits.FAULTS_TOLD:
            break
    return found


def _meta(meta: Meta, scope: Scope) -> Iterator[Trouble]:
    if meta.schema_version not in (None, _VERSION):
        said = f"this release reads version {_VERSION}, got {meta.schema_version}"
        yield Trouble(section="meta", at="meta.schema_version", message=said)
    if meta.scope not in (None, scope.value):
        said = f'this is the {scope.value} file, got "{brief(meta.scope or "")}"'
        yield Trouble(section="meta", at="meta.scope", message=said)


def _pipeline(table: PipelineTable) -> Iterator[Trouble]:
    if table.default is not None and names_of(table.default) is None:
        said = f'"{brief(table.default)}" has an empty part; give names with one comma between'
        yield Trouble(section="pipeline", at="pipeline.default", message=said)
    if any(not tier.strip() for tier in table.tiers):
        said = "a tier has no name; give each row the name that plugins ask for"
        yield Trouble(section="pipeline", at="pipeline.tiers", message=said)


def _models(model: ModelTable, tiers: TiersTable) -> Iterator[Trouble]:
    rows = {("model", "default"): model.default}
    rows |= {("tiers", name): found for name, found in tiers.given.items()}
    for (section, key), named in rows.items():
        if named is not None and not named.strip():
            said = "the name of a model is blank; give one, or take the key out"
            yield Trouble(section=section, at=f"{section}.{key}", message=said)
    if None not in (model.default, tiers.worker) and model.default != tiers.worker:
        said = (
            f'"{brief(tiers.worker or "")}", but model.default says '
            f'"{brief(model.default or "")}"; both choose the session\'s model: keep one'
        )
        yield Trouble(section="tiers", at="tiers.worker", message=said)
