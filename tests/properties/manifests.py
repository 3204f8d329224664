"""Manifests that load, as plain trees, and what each of them grants.

The words lean towards characters that stand between words in a consent text, because a law
that no two grants look alike says little about words that could not be confused anyway.
"""

from collections.abc import Iterator
from typing import Any
from typing import Final

import tomli_w
from hypothesis import HealthCheck
from hypothesis import settings
from hypothesis import strategies as st

from stella.manifest.grammar import OPERATORS
from stella.manifest.grammar import parse_check
from stella.manifest.plugin import PluginManifest
from stella.wire.points import HOST_STAGES
from stella.wire.points import Call
from stella.wire.points import DriverVerb
from stella.wire.points import Hook
from stella.wire.points import Point

PROOF: Final = settings(
    max_examples=200,
    deadline=None,
    database=None,  # a run leaves no files behind
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

Tree = dict[str, Any]
Place = tuple[str | int, ...]

_CHARS: Final = 'ab ,:;()`"\\=.-\n\t\u00a0\u202e\u200b\x1b'
WORDS: Final = st.text(_CHARS, min_size=1, max_size=5).filter(lambda text: bool(text.strip()))
"""Non-blank author text."""

NAMES: Final = st.text("abcxyz-_0", min_size=1, max_size=4)
_ASKS: Final = st.integers(1, 12)
_LEAVES: Final = (
    WORDS
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([0.0, 1.0, 1.5, float("inf")])
    | st.dates()
    | st.times()
)


def _some(words: list[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(words), unique=True, max_size=4)


def _unique(words: st.SearchStrategy[str], least: int = 0) -> st.SearchStrategy[list[str]]:
    return st.lists(words, unique_by=str.strip, min_size=least, max_size=3)


def _env() -> st.SearchStrategy[list[str]]:
    names = WORDS.map(lambda text: text.strip().replace("=", "-"))
    return st.lists(names, unique=True, max_size=3)


@st.composite
def loops(draw: st.DrawFn, grade: str, *, runs: bool, evidence: bool) -> Tree:
    """Return a `[loop]` of a grade that asks for no more than the grade holds."""
    loop: Tree = {"participation": grade}
    if runs and draw(st.booleans()):
        loop["events"] = draw(st.lists(st.sampled_from(["*", "a.b", "a.*", "a.b.*"]), unique=True))
    if grade in {"none", "observer"}:
        return loop
    loop["hooks"] = draw(_some([hook.value for hook in Hook if hook is not Hook.STOP]))
    loop["points"] = draw(_some([point.value for point in Point]))
    if evidence and Point.AFTER_TURN.value not in loop["points"]:
        loop["points"].append(Point.AFTER_TURN.value)
    if loop["points"]:
        loop["calls"] = draw(_some([call.value for call in Call]))
        if loop["calls"] and draw(st.booleans()):
            loop["max_calls"] = draw(_ASKS)
        if Call.CANDIDATE_FANOUT.value in loop["calls"] and draw(st.booleans()):
            loop["max_fanout_width"] = draw(_ASKS)
    if grade == "arbiter":
        loop["hooks"].append(Hook.STOP.value)
        if draw(st.booleans()):
            loop["max_holds"] = draw(_ASKS)
    return loop


@st.composite
def oracles(draw: st.DrawFn, requirements: list[str], *, runs: bool) -> Tree:
    """Return an `[oracle]` that decides every requirement."""
    measurements = draw(_unique(NAMES, 1))
    checks = st.builds(
        "{} {} {}".format,
        st.sampled_from(measurements),
        st.sampled_from(OPERATORS),
        st.integers(0, 3),
    )
    pairs = [(key, draw(checks)) for key in requirements]
    pairs += draw(st.lists(st.tuples(st.sampled_from(requirements), checks), max_size=2))
    oracle: Tree = {
        "flip": draw(st.sampled_from(["required", "not-applicable"])),
        "measurements": measurements,
        "checks": [{"requirement": key, "check": text} for key, text in pairs],
    }
    if not runs or draw(st.booleans()):
        argv = draw(st.lists(st.text(_CHARS, max_size=4), min_size=1, max_size=3))
        oracle["command"] = {"argv": argv, "timeout_secs": draw(_ASKS)}
    return oracle


@st.composite
def wrappers(draw: st.DrawFn) -> Tree:
    """Return a `[wrapper]` whose conditions read facts of the host."""
    names = draw(st.lists(st.sampled_from([*HOST_STAGES, "lint", "x-1"]), unique=True, min_size=1))
    stages: list[Tree] = []
    for name in names:
        condition = draw(st.sampled_from([None, "test-command", "no-budget-metered"]))
        stages.append({"name": name} if condition is None else {"name": name, "if": condition})
    return {"id": draw(WORDS), "stages": stages}


@st.composite
def content(draw: st.DrawFn) -> Tree:
    """Return the tables any grade may have, each perhaps."""
    tree: Tree = {}
    if draw(st.booleans()):
        tree["driver"] = {"calls": draw(_some([verb.value for verb in DriverVerb]))}
        if tree["driver"]["calls"] and draw(st.booleans()):
            tree["driver"]["max_calls"] = draw(_ASKS)
    risks = st.sampled_from(["low", "medium", "high", "destructive", "hgh"])
    tree["capabilities"] = [
        {"tool": tool, "risk": draw(risks), "purpose": draw(WORDS), "scope": draw(_unique(WORDS))}
        for tool in draw(_unique(WORDS))
    ]
    tree["tools"] = [{"name": name, "description": draw(WORDS)} for name in draw(_unique(WORDS))]
    tree["skills"] = [{"slug": name, "description": draw(WORDS)} for name in draw(_unique(WORDS))]
    tree["records"] = [
        {"lineage": name, "statement": draw(WORDS), "enforcement": "advisory"}
        for name in draw(_unique(WORDS))
    ]
    tree["configure"] = [
        {
            "key": f"ui.{name}",
            "value": draw(_LEAVES | st.lists(_LEAVES, max_size=3)),
            "purpose": draw(WORDS),
        }
        for name in draw(_unique(NAMES))
    ]
    return tree


@st.composite
def manifests(draw: st.DrawFn) -> Tree:
    """Return the tree of a manifest that loads."""
    grade = draw(st.sampled_from(["none", "observer", "steering", "arbiter"]))
    tree: Tree = {"name": draw(WORDS)} | draw(content())
    if draw(st.booleans()):
        tree["description"] = draw(WORDS)
    runs = grade != "none" and draw(st.booleans())
    if runs:
        tree["runtime"] = {
            "argv": draw(st.lists(WORDS, min_size=1, max_size=3)),
            "timeout_secs": draw(_ASKS | st.integers(599, 602)),
            "env": draw(_env()),
        }
    if grade in {"steering", "arbiter"}:
        if draw(st.booleans()):
            tree["subloop"] = {"stages": draw(_unique(WORDS, 1))}
            tree["roles"] = {name: {"tier": draw(WORDS)} for name in draw(_unique(WORDS))}
        if draw(st.booleans()):
            tree["wrapper"] = draw(wrappers())
    decides = grade == "arbiter" and draw(st.booleans())
    if grade == "arbiter":
        tree["requirements"] = {key: draw(WORDS) for key in draw(_unique(WORDS, 1))}
    if decides:
        tree["oracle"] = draw(oracles(list(tree["requirements"]), runs=runs))
    tree["loop"] = draw(loops(grade, runs=runs, evidence=decides))
    return tree


def as_toml(tree: Tree) -> bytes:
    """Return a tree as the bytes of a manifest."""
    return tomli_w.dumps(tree).encode()


def places(node: object, path: Place = ()) -> Iterator[tuple[Place, object]]:
    """Yield every value of a tree with its path, the root first."""
    yield path, node
    if isinstance(node, dict):
        for key, value in node.items():
            yield from places(value, (*path, key))
    elif isinstance(node, list):
        for number, value in enumerate(node):
            yield from places(value, (*path, number))


def put(tree: Any, path: Place, value: object) -> None:
    """Set the value at a path of a tree."""
    for step in path[:-1]:
        tree = tree[step]
    tree[path[-1]] = value


def authority(manifest: PluginManifest) -> dict[str, object]:
    """Return what a manifest grants: all that M-63 says is shown and that binds the host.

    Words that only explain (descriptions, purposes, statements, limits) are left out; order
    is left out where it means nothing.
    """
    loop, oracle = manifest.loop, manifest.oracle
    checks = () if oracle is None else oracle.checks
    return {
        "name": manifest.name,
        "grade": loop.participation,
        "hooks": set(loop.hooks),
        "points": set(loop.points),
        "calls": set(loop.calls),
        "bounds": (loop.max_calls, loop.max_fanout_width, loop.max_holds),
        "events": set(loop.events),
        "driver": manifest.driver and (set(manifest.driver.calls), manifest.driver.max_calls),
        "requirements": {
            key: {parse_check(each.check) for each in checks if each.requirement == key}
            for key in manifest.requirements
        },
        "oracle": oracle and (oracle.command,),
        "runtime": manifest.runtime
        and (manifest.runtime.argv, manifest.runtime.timeout_secs, set(manifest.runtime.env)),
        "subloop": manifest.subloop,
        "roles": manifest.roles,
        "wrapper": manifest.wrapper
        and (manifest.wrapper.id, [stage.name for stage in manifest.wrapper.stages]),
        "capabilities": {each.tool: each.grade for each in manifest.capabilities},
        "tools": {each.name for each in manifest.tools},
        "skills": {each.slug for each in manifest.skills},
        "records": {each.lineage for each in manifest.records},
        "configure": {each.key: repr(each.value) for each in manifest.configure},
    }
