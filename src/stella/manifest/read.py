"""Bytes of `plugin.toml` in, a manifest or every fault in it out [M-3, M-4].

The result depends on the bytes alone. Nothing here opens a file, and nothing raises but
`ManifestError`, which holds all faults in order.
"""

from codecs import BOM_UTF8
from collections.abc import Iterable
from dataclasses import dataclass
from dataclasses import replace
from itertools import islice

from stella import codec
from stella import limits
from stella.codec import Refused
from stella.errors import ManifestError
from stella.manifest.cautions import cautions
from stella.manifest.decoding import decoding_fault
from stella.manifest.decoding import has_a_rule
from stella.manifest.fault import ManifestFault
from stella.manifest.fault import Reason
from stella.manifest.plugin import PluginManifest
from stella.manifest.positions import Positions
from stella.manifest.rules import broken_rules
from stella.manifest.scan import halted
from stella.manifest.scan import overreach
from stella.manifest.scan import position
from stella.manifest.sheet import Sheet


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A manifest that passed every rule, and what was worth a warning [M-9]."""

    manifest: PluginManifest
    warnings: tuple[ManifestFault, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Unloadable:
    """A manifest that must not load: every fault and warning, and its name where known [I-64]."""

    faults: tuple[ManifestFault, ...]
    warnings: tuple[ManifestFault, ...] = ()
    name: str | None = None


def read_manifest(data: bytes) -> Loaded:
    """Return the manifest in `data`, or raise `ManifestError` with every fault [M-3, M-4].

    The faults are `ManifestFault`s: decoding faults in the order of the file, then rule
    faults in the order of section 17, of each at most `limits.FAULTS_TOLD`.
    """
    found = examine(data)
    if isinstance(found, Unloadable):
        raise ManifestError(found.faults)
    return found


def examine(data: bytes) -> Loaded | Unloadable:
    """Return the manifest in `data`, or all that is wrong with it, as a value [I-64]."""
    text = _text(data)
    if isinstance(text, ManifestFault):
        return Unloadable(faults=(text,))
    if fault := overreach(text):
        return Unloadable(faults=(fault,))
    try:
        tree = codec.parse_toml(text)
    except Refused as refused:
        return Unloadable(faults=(_syntax(text, refused.reasons[0].message),))
    return _judged(text, tree)


def _judged(text: str, tree: dict[str, object]) -> Loaded | Unloadable:
    manifest: PluginManifest | None = None
    refusals: tuple[codec.Fault, ...] = ()
    try:
        manifest = codec.decode(PluginManifest, tree)
    except Refused as refused:
        refusals = tuple(fault for fault in refused.reasons if not has_a_rule(fault))
    decoding = tuple(map(decoding_fault, refusals))
    rules: tuple[ManifestFault, ...] = ()
    warnings: tuple[ManifestFault, ...] = ()
    # Past the bound nobody knows what decoded, and a rule would invent faults [M-5].
    if len(refusals) < limits.FAULTS_TOLD:
        sheet = Sheet(tree, frozenset(fault.path for fault in refusals))
        rules = tuple(islice(broken_rules(sheet), limits.FAULTS_TOLD))
        warnings = tuple(islice(cautions(sheet), limits.FAULTS_TOLD))
    if decoding or rules or warnings:
        places = Positions(text)  # read for a text that needs it alone
        decoding = tuple(sorted(_placed(places, decoding), key=_in_file))
        rules, warnings = tuple(_placed(places, rules)), tuple(_placed(places, warnings))
    faults = (*decoding, *rules)
    if manifest is None or faults:
        name = tree.get("name")
        return Unloadable(
            faults=faults, warnings=warnings, name=name if isinstance(name, str) else None
        )
    return Loaded(manifest=manifest, warnings=warnings)


def _placed(places: Positions, faults: Iterable[ManifestFault]) -> Iterable[ManifestFault]:
    """Yield each fault with its line and column, where it has a place in the file [M-6]."""
    for fault in faults:
        place = places.of(fault.path) or places.of(fault.anchor)
        yield fault if place is None else replace(fault, line=place[0], column=place[1])


def _in_file(fault: ManifestFault) -> tuple[bool, int, int]:
    """Return where a fault stands among the others: by its place, without one last [M-4]."""
    return fault.line is None, fault.line or 0, fault.column or 0


def _text(data: bytes) -> str | ManifestFault:
    """Return the text of a file that is small enough and UTF-8 without a mark [M-1]."""
    if len(data) > limits.MANIFEST_BYTES:
        says = f"the file holds {len(data)} bytes, and the limit is {limits.MANIFEST_BYTES}."
        return _whole(Reason.TOO_LARGE, says)
    if data.startswith(BOM_UTF8):
        return _unreadable("a byte-order mark stands at byte 0", "")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        return _unreadable(f"byte {error.start} is not UTF-8", before)


def _unreadable(says: str, before: str) -> ManifestFault:
    """Return the fault of bytes that are no text, behind the text `before` [M-11]."""
    message = f"{says}; save the file as UTF-8 without a mark."
    return _whole(Reason.ENCODING, message, position(before, len(before)))


def _syntax(text: str, detail: str) -> ManifestFault:
    """Return the fault of a text that is no TOML [K-81].

    It stands where the reader says, else at the end of the text, up to which it read.
    """
    said, place = halted(detail)
    where = place or position(text, len(text))
    return _whole(Reason.SYNTAX, f"the file is not TOML: {said}.", where)


def _whole(reason: Reason, message: str, place: tuple[int, int] | None = None) -> ManifestFault:
    """Return the one fault of a file that could not be read at all."""
    line, column = place or (None, None)
    return ManifestFault(
        rule="R-1", path=(), message=message, reason=reason, line=line, column=column
    )
