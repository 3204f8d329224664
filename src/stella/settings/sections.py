"""Every section and key that settings have, and what becomes of each now [S2-20 to S2-28].

The table is the whole vocabulary: what is not in it is unknown, and near misses come from it.
"""

from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from itertools import islice
from typing import Any
from typing import Final

from stella import limits
from stella.codec import Word
from stella.escape import brief
from stella.near import clause
from stella.near import near


class Scope(Word):
    """Whose file it is [S2-1]."""

    USER = "user"
    MANAGED = "managed"
    PROJECT = "project"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """One thing wrong with a file: where, as a dotted path or a line and column, and what."""

    message: str
    section: str = ""
    at: str = ""
    line: int | None = None
    column: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Section:
    """A section: its keys, empty where they are free, and what of them this release acts on.

    `scopes` are the files it may stand in; elsewhere it is a fault in a file of the person's and
    ignored in a project's [S2-28]. `trusted` marks what a project's file says to no effect
    while the workspace is not trusted [A-70]. With `free` keys all of them are acted on.
    """

    keys: tuple[str, ...] = ()
    acted: tuple[str, ...] = ()
    scopes: tuple[Scope, ...] = (Scope.USER, Scope.MANAGED, Scope.PROJECT)
    trusted: bool = False
    free: bool = False

    def acts_on(self, key: str) -> bool:
        """Return whether something comes of a key now."""
        return self.free or key in self.acted


MODEL_NAMES: Final = ("worker", "cheap", "verifier", "plan", "research")
"""The names that `[tiers]` and `--tier` know [M2-51]."""

_OWN: Final = (Scope.USER, Scope.MANAGED)
_PIPELINE: Final = ("default", "max_holds", "test_timeout_secs", "tiers")
_META: Final = ("schema_version", "scope")
_UI: Final = ("live", "color", "theme")

SECTIONS: Final[Mapping[str, _Section]] = {
    "meta": _Section(keys=_META, acted=_META),
    "model": _Section(
        keys=("default", "silence_timeout_secs", "temperature", "effort"),
        acted=("default",),
        trusted=True,
    ),
    "providers": _Section(scopes=_OWN),
    "prices": _Section(scopes=_OWN),
    "tiers": _Section(keys=MODEL_NAMES, acted=MODEL_NAMES, trusted=True),
    "budget": _Section(
        keys=("run_usd", "session_usd", "run_tokens", "run_seconds", "max_steps"),
    ),
    "permissions": _Section(keys=("mode", "rules")),
    "hooks": _Section(trusted=True),
    "tools": _Section(),
    "plugins": _Section(free=True),
    "pipeline": _Section(keys=_PIPELINE, acted=_PIPELINE),
    "engine": _Section(keys=("stop_holds", "compaction_tokens", "summarize"), scopes=_OWN),
    "agent": _Section(keys=("prompt",), scopes=_OWN),
    "workspace": _Section(keys=("allowed_dirs",), scopes=_OWN),
    "redaction": _Section(keys=("patterns",)),
    "reward": _Section(scopes=(Scope.USER,)),
    "detect": _Section(scopes=_OWN),
    "serve": _Section(keys=("port", "permissions", "principal"), scopes=(Scope.USER,)),
    "ui": _Section(keys=_UI, acted=_UI, scopes=(Scope.USER, Scope.PROJECT), trusted=True),
    "authority": _Section(scopes=(Scope.MANAGED,)),
}
SETTABLE: Final[Mapping[str, type[bool] | tuple[str, ...]]] = {
    "ui.live": bool,
    "ui.color": ("auto", "never"),
    "ui.theme": ("default", "plain", "high-contrast"),
}
"""The keys a plugin's `[[configure]]` may set, each with what it may hold [S2-15, S2-27, Q-24]."""

_NO_SERVERS: Final = "mcp"
_LATER: Final = "this release does not act on it yet; take it out, so that nobody relies on it"


@dataclass(slots=True, kw_only=True)
class Looked:
    """A file's tables with only what can be decoded left, and what is wrong with the rest.

    `ignored` never has a say in a file of its scope; `later` is what a trusted project may say
    and this release does not act on yet.
    """

    tree: dict[str, Any] = field(default_factory=dict)
    troubles: list[Trouble] = field(default_factory=list)
    ignored: tuple[str, ...] = ()
    later: tuple[str, ...] = ()
    lookups: int = 0

    def unknown(self, word: str, legal: Iterable[str]) -> str:
        """Return what ends a message about an unknown word: the near ones, or all [M-8].

        Somebody else may have written very many, and long ones: the first few are looked up.
        """
        self.lookups += 1
        known = tuple(legal)
        few = self.lookups <= limits.NEAR_LOOKUPS and len(word) <= limits.NEAR_CHARS
        hint = clause(near(word, known) if few else (), known)
        return f'"{brief(word)}"; {hint}' if hint else f'"{brief(word)}"'


def looked_over(tree: Mapping[str, Any], scope: Scope) -> Looked:
    """Return what of a file is acted on, what is ignored in its scope, and what is a fault.

    Past `limits.FAULTS_TOLD` faults nothing more is looked at.
    What a project's file says to no effect while its workspace is not trusted is acted on here:
    who merges the files decides on that.
    """
    looked = Looked()
    for name, table in tree.items():
        if len(looked.troubles) >= limits.FAULTS_TOLD:
            break
        section = SECTIONS.get(name)
        if section is None:
            looked.troubles.append(_unknown_section(looked, name))
        else:
            _look(looked, name, section, table, scope)
    return looked


def _look(looked: Looked, name: str, section: _Section, table: object, scope: Scope) -> None:
    acted = scope in section.scopes
    used = section.free or bool(section.acted)
    if used and not isinstance(table, dict):
        looked.tree[name] = table  # what it should be is the codec's to say
        return
    keys = table if isinstance(table, dict) else {}
    unknown = (key for key in keys if section.keys and key not in section.keys)
    looked.troubles += [
        Trouble(
            section=name,
            at=f"{name}.{brief(key)}",
            message=f"unknown key {looked.unknown(key, section.keys)}",
        )
        for key in islice(unknown, limits.FAULTS_TOLD)
    ]
    project = scope is Scope.PROJECT
    if project and not acted:
        looked.ignored += (name,)
    elif project and section.trusted and not used:
        looked.later += (name,)
    elif not acted:
        scopes = " and ".join(each.value for each in section.scopes)
        message = f"it may not stand in the {scope.value} file; it belongs to: {scopes}"
        looked.troubles.append(Trouble(section=name, at=name, message=message))
    elif not used:
        looked.troubles.append(Trouble(section=name, at=name, message=_LATER))
    else:
        _keys(looked, name, section, keys, project=project)


def _keys(
    looked: Looked, name: str, section: _Section, keys: Mapping[str, Any], *, project: bool
) -> None:
    """Sort the keys of a section that is acted on at least in part."""
    later = [key for key in keys if key in section.keys and not section.acts_on(key)]
    if project and section.trusted:
        looked.later += tuple(f"{name}.{key}" for key in later)
    else:
        looked.troubles += [
            Trouble(section=name, at=f"{name}.{key}", message=_LATER) for key in later
        ]
    looked.tree[name] = {key: value for key, value in keys.items() if section.acts_on(key)}


def _unknown_section(looked: Looked, name: str) -> Trouble:
    if name == _NO_SERVERS:
        said = "there is no such section; servers are declared in mcp.toml, beside this file"
    else:
        said = f"unknown section {looked.unknown(name, SECTIONS)}"
    return Trouble(section=name, at=brief(name), message=said)
