"""Write the tables of the reference pages from the types they describe.

`python docs/generate.py` rewrites every region between `<!-- generated: NAME -->` and
`<!-- end -->`; the prose around them is left as it is. With `--check` nothing is written, and
a region that differs is named with its page. Pages other than the two may be given.
"""

import re
import sys
import tomllib
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from enum import Enum
from functools import partial
from pathlib import Path
from types import ModuleType
from types import NoneType
from types import UnionType
from typing import Annotated
from typing import Any
from typing import Final
from typing import get_args
from typing import get_origin

import msgspec

from stella import limits
from stella.codec import JsonFault
from stella.manifest import capability
from stella.manifest import codes
from stella.manifest import driver as drivers
from stella.manifest import events
from stella.manifest import loop
from stella.manifest import oracle
from stella.manifest import package
from stella.manifest import plugin
from stella.manifest import runtime
from stella.manifest import stages as programs
from stella.manifest import subloop
from stella.manifest.fault import Reason
from stella.manifest.fault import report
from stella.manifest.grammar import kind_of
from stella.manifest.read import examine
from stella.process import environment
from stella.wire import after_turn
from stella.wire import before_turn
from stella.wire import driver
from stella.wire import event
from stella.wire import evidence
from stella.wire import grant
from stella.wire import hook
from stella.wire import host_call
from stella.wire import host_result
from stella.wire import occasion
from stella.wire import points
from stella.wire.grade import Grade
from stella.wire.silence import FaultCode

HERE: Final = Path(__file__).resolve().parent
PAGES: Final = (HERE / "manifest.md", HERE / "wire.md")
REFUSED: Final = HERE.parent / "tests" / "vectors" / "manifest"
MEANINGS: Final[dict[str, Any]] = tomllib.loads((HERE / "meanings.toml").read_text("utf-8"))
REGION: Final = re.compile(
    r"(?P<open><!-- generated: (?P<name>[\w -]+) -->\n)(?P<body>.*?)(?P<close><!-- end -->)",
    re.DOTALL,
)

Lines = Iterable[str]


class Unwritable(Exception):
    """The pages or the meanings do not fit the types; the text says where."""


# ── types as an author reads them ─────────────────────────────────────────────────────

ROOMS: Final[tuple[ModuleType, ...]] = (
    *(plugin, loop, drivers, oracle, subloop, programs, runtime, capability, package),
    *(before_turn, after_turn, grant, evidence, host_call, host_result, event, driver),
)
"""The modules whose public tables an author writes or reads."""

INTERNAL: Final = {"Artifact", "Tampered", "EvidenceSet", "Served", "Dropped"}
"""Tables without a key, told in prose, or of the host's own that no message carries."""

TABLES: Final[tuple[type[msgspec.Struct], ...]] = (
    *(
        kind
        for room in ROOMS
        for name, kind in vars(room).items()
        if isinstance(kind, type)
        and issubclass(kind, msgspec.Struct)
        and kind.__module__ == room.__name__
        and not name.startswith("_")
        and name not in INTERNAL
    ),
    occasion.Called,
    hook.DenyEvidence,
)
"""Those of the rooms; of hooks only what is no row of the one table they have."""

VOCABULARIES: Final[tuple[type[Enum], ...]] = (
    *(Grade, evidence.Flip, grant.TestBaseline, points.Refusal),
    *(JsonFault, FaultCode, Reason),
)
"""The vocabularies whose words have a meaning each."""

NAMED: Final[dict[type, tuple[str, str]]] = {
    points.Hook: ("hook", "manifest.md#hooks"),
    points.DriverVerb: ("verb", "manifest.md#verbs"),
    points.Signal: ("signal", "#signals"),
}
ANCHORS: Final[dict[type, str]] = {
    loop.Loop: "loop",
    drivers.Driver: "driver",
    oracle.Oracle: "oracle",
    oracle.Command: "oraclecommand",
    oracle.Check: "oraclechecks",
    subloop.Subloop: "subloop-and-roles",
    subloop.Role: "subloop-and-roles",
    programs.Wrapper: "wrapper",
    programs.Stage: "wrapperstages",
    runtime.Runtime: "runtime",
    capability.Capability: "capabilities",
    package.ShippedTool: "tools-skills-records",
    package.ShippedSkill: "tools-skills-records",
    package.ShippedRecord: "tools-skills-records",
    package.Configure: "configure",
}
FIRST_KEYS: Final = ("tool", "toolResult", "finalText")
"""Keys of hooks that stand before those that say what the hook belongs to."""
NOTHING: Final = "\N{EN DASH}"
WIDTHS: Final = {limits.U8_MAX: "u8", limits.U32_MAX: "u32", limits.U64_MAX: "u64"}
SIMPLE: Final = {str: "string", bool: "boolean", object: "any value"}
ANYTHING: Final = (object, Any)


def shown(kind: Any, page: str, *, many: bool = False) -> str:
    """Return a type as the tables write it; `many` in a list."""
    origin, args = get_origin(kind), get_args(kind)
    if origin is Annotated:
        meta = args[1]
        top = meta.le if meta.le is not None else meta.extra["le"]
        return WIDTHS[top]
    if origin is UnionType or (origin is not None and NoneType in args):
        arms = [arm for arm in args if arm is not NoneType]
        return shown(arms[0], page, many=many) if len(arms) == 1 else "object"
    if origin is tuple:
        return f"list of {shown(args[0], page, many=True)}"
    if origin is dict:
        held = "" if args[1] in ANYTHING else f" of {shown(args[1], page, many=True)}"
        return f"table{held}" if page == "manifest.md" else f"object{held}"
    plural = "s" if many else ""
    if isinstance(kind, type) and issubclass(kind, Enum):
        return word(kind, page, plural)
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return linked(kind, page, plural)
    return f"{SIMPLE[kind]}{plural}"


def word(kind: type[Enum], page: str, plural: str) -> str:
    """Return a vocabulary: its words when they are few, else its name and where it is."""
    if kind in NAMED:
        name, place = NAMED[kind]
        return f"[{name}{plural}]({place.removeprefix(page)})"
    return " \\| ".join(f"`{member.value}`" for member in kind)


def linked(kind: type, page: str, plural: str) -> str:
    """Return a table inside another one, with where it is described."""
    if page == "manifest.md":
        return f"[table{plural}](#{ANCHORS[kind]})"
    return f"[{kind.__name__}](#{kind.__name__.lower()})"


def default(field: msgspec.structs.FieldInfo) -> str:
    """Return what an absent optional key means, in TOML or JSON spelling."""
    value = field.default
    if value is msgspec.NODEFAULT:
        value = field.default_factory() if callable(field.default_factory) else None
    if value is None or isinstance(value, msgspec.Struct):
        return ""
    if isinstance(value, Enum):
        return f"`{value.value}`"
    empty = {(): "`[]`", "": '`""`'}
    return "" if value == {} else empty[value]


# ── tables ────────────────────────────────────────────────────────────────────────────


def rows(head: Lines, body: Iterable[Lines]) -> Iterator[str]:
    """Yield a table line by line."""
    titles = tuple(head)
    yield f"| {' | '.join(titles)} |"
    yield f"|{'---|' * len(titles)}"
    for cells in body:
        yield f"| {' | '.join(cells)} |"


def keys(kind: type[msgspec.Struct], page: str) -> Iterator[str]:
    """Yield the table of a struct: its keys in the order they are written."""
    meanings = MEANINGS["keys"][kind.__name__]
    fields = msgspec.structs.fields(kind)
    yield from rows(
        ("Key", "Type", "Required", "Default", "Meaning"),
        (
            (
                f"`{field.encode_name}`",
                shown(field.type, page),
                "yes" if field.required else "no",
                default(field),
                meanings[field.encode_name],
            )
            for field in fields
        ),
    )


def words(kind: type[Enum], page: str) -> Iterator[str]:
    """Yield a vocabulary with the meaning of each word."""
    del page
    meanings = MEANINGS["words"][kind.__name__]
    yield from rows(("Word", "Meaning"), ((f"`{it.value}`", meanings[it.value]) for it in kind))


def listed(names: Iterable[str], page: str) -> Iterator[str]:
    """Yield names in their order, on one line."""
    del page
    yield " ".join(f"`{name}`" for name in names)


def ladder(page: str) -> Iterator[str]:
    """Yield the grades and what each may ask for."""
    del page
    powers = (
        (power.value if power.value.startswith(("[", "the")) else f"`{power.value}`", power)
        for power in loop.Power
    )
    yield from rows(
        ("Asks for", *(f"`{grade.value}`" for grade in Grade)),
        (
            (
                f"`{name}`" if name.startswith("[") else name,
                *("yes" if loop.may(grade, power) else "" for grade in Grade),
            )
            for name, power in powers
        ),
    )


def signals(page: str) -> Iterator[str]:
    """Yield the signals with their kind and who publishes them."""
    del page
    yield from rows(
        ("points.Signal", "Kind", "Published by"),
        (
            (
                f"`{it.value}`",
                kind_of(it).value,
                f"`{at}`" if (at := points.PUBLISHER[it]) else "the host",
            )
            for it in points.Signal
        ),
    )


def stages(page: str) -> Iterator[str]:
    """Yield the host's stages and the spellings it refuses for them."""
    del page
    other = {
        stage: " ".join(f"`{it}`" for it, host in programs.BOUNDARY.items() if host == stage)
        for stage in points.HOST_STAGES
    }
    yield from rows(
        ("Stage", "Runs", "Refused spellings"),
        (
            (
                f"`{name}`",
                "after the turn" if name in points.POST_TURN_STAGES else "before the turn",
                other[name],
            )
            for name in points.HOST_STAGES
        ),
    )


def occasions(page: str) -> Iterator[str]:
    """Yield the hooks: when each comes, what it takes, its own keys, what a failure means."""
    del page
    yield from rows(
        ("Hook", "When", "May answer", "Its own keys", "When it fails to decide"),
        (
            (
                f"`{kind.event.value}`",
                MEANINGS["hooks"][kind.event.value]["when"],
                _decisions(kind.event),
                _own(kind),
                MEANINGS["hooks"][kind.event.value]["fails"],
            )
            for kind in occasion.OCCASIONS
        ),
    )


def _decisions(event: points.Hook) -> str:
    taken = hook.ACTIONS[event]
    if event is points.Hook.SESSION_START:
        return "text"
    if set(taken) == set(hook.Action):
        return "all four"
    return " ".join(f"`{action.value}`" for action in taken) or NOTHING


def _own(kind: type[occasion.Occasion]) -> str:
    names = (field.encode_name for field in msgspec.structs.fields(kind))
    return " ".join(f"`{name}`" for name in names if name not in FIRST_KEYS) or NOTHING


def sections(page: str) -> Iterator[str]:
    """Yield the sections no package may set."""
    del page
    yield from rows(
        ("Section", "What it governs"),
        ((f"`{it}`", why) for it, why in package.CLOSED_SECTIONS.items()),
    )


def rules(page: str) -> Iterator[str]:
    """Yield every load rule: its code, when it fires, and the way out it names."""
    del page
    fixes: dict[str, str] = {}
    for path in sorted(REFUSED.rglob("*.toml")):
        found = examine(path.read_bytes())
        for fault in (*getattr(found, "faults", ()), *found.warnings):
            fixes.setdefault(fault.rule, fault.fix)
    yield from rows(
        ("Rule", "Code", "Fires when", "Way out, for example"),
        (
            (rule, f"`{code}`", MEANINGS["rules"][rule], fixes.get(rule, "").replace("|", "\\|"))
            for rule, code in codes.CODES.items()
        ),
    )


def told(page: str) -> Iterator[str]:
    """Yield what the host says of a manifest with two faults."""
    del page
    found = examine((REFUSED / "refused" / "29-the-report-of-the-manual.toml").read_bytes())
    yield "```"
    yield report("plugin.toml", getattr(found, "faults", ()))
    yield "```"


def bounds(page: str) -> Iterator[str]:
    """Yield every number that bounds a plugin."""
    del page
    yield from rows(
        ("What is bounded", "At most", "Beyond it"),
        (
            (
                row["bounds"],
                f"{_number(row)} {row['unit']}".strip(),
                row["over"],
            )
            for row in MEANINGS["limits"]
        ),
    )


def _number(row: dict[str, str]) -> str:
    value = getattr(limits, row["name"])
    return f"{value:g}" if isinstance(value, float) else str(value)


def withheld(page: str) -> Iterator[str]:
    """Yield the variables a plugin never inherits, whatever its manifest lists."""
    del page
    yield from rows(
        ("Kind", "Names"),
        (
            ("exactly", " ".join(f"`{it}`" for it in sorted(environment.EXACT))),
            ("ending with", " ".join(f"`{it}`" for it in environment.SUFFIXES)),
            ("of a cloud", " ".join(f"`{it}`" for it in sorted(environment.CLOUD))),
            ("of a model provider", "every variable a configured provider reads its key from"),
        ),
    )


REGIONS: Final[dict[str, Callable[[str], Lines]]] = {
    **{f"keys {kind.__name__}": partial(keys, kind) for kind in TABLES},
    **{f"words {kind.__name__}": partial(words, kind) for kind in VOCABULARIES},
    "hooks": partial(listed, [it.value for it in points.Hook]),
    "points": partial(listed, [it.value for it in points.Point]),
    "calls": partial(listed, [it.value for it in points.Call]),
    "verbs": partial(listed, [it.value for it in points.DriverVerb]),
    "events": partial(listed, events.CATALOGUE),
    "ladder": ladder,
    "signals": signals,
    "stages": stages,
    "occasions": occasions,
    "closed sections": sections,
    "rules": rules,
    "report": told,
    "limits": bounds,
    "withheld": withheld,
}


# ── pages ─────────────────────────────────────────────────────────────────────────────


def complete() -> None:
    """Raise `Unwritable` when a key, word or rule has no meaning, or a meaning no key."""
    wanted = {
        "keys": {
            kind.__name__: {field.encode_name for field in msgspec.structs.fields(kind)}
            for kind in TABLES
        },
        "words": {kind.__name__: {it.value for it in kind} for kind in VOCABULARIES},
    }
    for part, groups in wanted.items():
        for name in groups.keys() | MEANINGS[part].keys():
            _same(f"{part}.{name}", groups.get(name, set()), set(MEANINGS[part].get(name, ())))
    _same("rules", set(codes.CODES), set(MEANINGS["rules"]))
    _same("hooks", {it.value for it in points.Hook}, set(MEANINGS["hooks"]))


def _same(place: str, types: set[str], meanings: set[str]) -> None:
    if types != meanings:
        names = ", ".join(sorted(types ^ meanings))
        raise Unwritable(f"docs/meanings.toml [{place}] and the types differ in: {names}")


def written(page: Path) -> tuple[str, list[str]]:
    """Return a page with its regions made anew, and the names of those that differ."""
    text = page.read_text("utf-8")
    marks = text.count("<!-- generated:"), text.count("<!-- end -->")
    found = list(REGION.finditer(text))
    if marks != (len(found), len(found)):
        raise Unwritable(f"{page.name}: a region is not closed, or its mark is not a line")
    changed: list[str] = []

    def made(region: re.Match[str]) -> str:
        name = region["name"]
        if name not in REGIONS:
            raise Unwritable(f'{page.name}: no region is called "{name}"')
        body = "".join(f"{line}\n" for line in REGIONS[name](page.name))
        if body != region["body"]:
            changed.append(name)
        return f"{region['open']}{body}{region['close']}"

    return REGION.sub(made, text), changed


def main(arguments: list[str]) -> int:
    """Write or check the pages; 1 when a region differs or cannot be made."""
    check = "--check" in arguments
    pages = [Path(it) for it in arguments if it != "--check"] or list(PAGES)
    stale = False
    try:
        complete()
        for page in pages:
            text, changed = written(page)
            if check:
                for name in changed:
                    print(f"{page.name}: the region {name} differs; run make docs")
            elif changed:
                page.write_text(text, "utf-8")
            stale = stale or bool(changed)
    except Unwritable as wrong:
        print(wrong)
        return 1
    return int(check and stale)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
