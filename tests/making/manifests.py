"""Manifests in a line or two, and what the loader says of them."""

from pathlib import Path

from stella import codec
from stella.codec import Refused
from stella.manifest.fault import ManifestFault
from stella.manifest.plugin import PluginManifest
from stella.manifest.read import Loaded
from stella.manifest.read import Unloadable
from stella.manifest.read import examine
from stella.manifest.sheet import Sheet

VECTORS = Path(__file__).parents[1] / "vectors"

ARBITER = """\
name = "probe"
[loop]
participation = "arbiter"
hooks = ["Stop"]
points = ["after_turn"]
[requirements]
fast = "it is fast"
[oracle]
flip = "required"
measurements = ["p50", "p99"]
[runtime]
argv = ["probe"]
timeout_secs = 30
"""
"""A whole arbiter that a table of tables can follow."""


def manifest_vectors(kind: str) -> list[Path]:
    """Return the `plugin.toml` vectors of a kind, of which there must be some."""
    found = sorted((VECTORS / kind).glob("*.toml"))
    assert found, f"{kind} holds no vector"
    return found


def steering(body: str, loop: str = "") -> str:
    """Return a steering plugin with more keys in `[loop]` and more tables."""
    return f'name = "probe"\n[loop]\nparticipation = "steering"\n{loop}\n{body}'


def check(text: str, requirement: str = "fast") -> str:
    """Return one check."""
    return f'[[oracle.checks]]\nrequirement = "{requirement}"\ncheck = "{text}"\n'


def wrapper(*stages: tuple[str, str | None]) -> str:
    """Return a steering plugin with a program of named stages and their conditions."""
    text = '[wrapper]\nid = "w"\n'
    for name, condition in stages:
        text += f'[[wrapper.stages]]\nname = "{name}"\n'
        text += "" if condition is None else f'if = "{condition}"\n'
    return steering(text)


def loaded(text: str) -> PluginManifest:
    """Return the manifest in a text, which must load."""
    found = examine(text.encode())
    assert isinstance(found, Loaded), found
    return found.manifest


def faults(text: str) -> tuple[ManifestFault, ...]:
    """Return what is wrong with a text, nothing when it loads."""
    found = examine(text.encode())
    return found.faults if isinstance(found, Unloadable) else ()


def broken(text: str) -> list[str]:
    """Return the rules a text breaks, in order; R-1 with its reason."""
    return [
        fault.rule if fault.reason is None else f"{fault.rule} {fault.name}"
        for fault in faults(text)
    ]


def warned(text: str) -> list[str]:
    """Return the rules of the warnings about a text."""
    return [warning.rule for warning in examine(text.encode()).warnings]


def sheet(text: str) -> Sheet:
    """Return what could be established of a text that is TOML."""
    tree = codec.parse_toml(text)
    try:
        codec.decode(PluginManifest, tree)
    except Refused as refused:
        return Sheet(tree, frozenset(fault.path for fault in refused.reasons))
    return Sheet(tree, frozenset())
