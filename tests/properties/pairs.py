"""Pairs of manifests that load, made from a seed: independent ones, and near copies.

Plain chance instead of a shrinking generator, because there are tens of thousands; a pair that
breaks a law is printed whole. The words lean towards what could be confused: characters that
stand between words, characters nobody sees, and lines of the host itself.
"""

import copy
import random
from collections.abc import Iterator
from typing import Any
from typing import Final

from stella import codec
from stella.codec import Refused
from stella.consent.page import OPENINGS
from stella.consent.page import PHRASES
from stella.consent.page import TITLES
from stella.manifest.grammar import OPERATORS
from stella.manifest.plugin import PluginManifest
from stella.manifest.rules import broken_rules
from stella.manifest.sheet import Sheet
from stella.wire.points import HOST_STAGES
from stella.wire.points import Call
from stella.wire.points import DriverVerb
from stella.wire.points import Hook
from stella.wire.points import Point
from tests.properties.manifests import Place
from tests.properties.manifests import Tree
from tests.properties.manifests import places
from tests.properties.manifests import put

CHARS: Final = (
    'ab ,:;()`"\\=.-{}u' + "\n\t\r\u00a0\u3000" + "\u202e\u2066\u061c\u200b\u200f\ufeff"
    "\u2028\u2029\x00\x07\x0b\x0c\x1b\x1c\x7f\x85\x9b\xad\u2800\u115f\ufe0f"
)
MIMICS: Final = (
    *OPENINGS,
    *PHRASES,
    *TITLES,
    "Grade: NONE. It is a bundle of content and never runs inside a turn.",
    "x\n  - hook points: none",
    "x\u2028Widest reach: LOW, easy to undo.",
    "\r      program: /bin/true",
    "hook points: none",
    "a [hidden characters]",
    "\\u{200B}",
    "nothing and nothing else",
    "none",
)
_PLAIN: Final = ("a", "b", "ab", "a b", "recall", "low", "PATH", "execute", "x", "10")
_RISKS: Final = ("low", "medium", "high", "destructive", "Low", "hgh", "low ")
_TRIES: Final = 40


class Maker:
    """Makes manifests by chance; the same seed makes the same ones again."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def word(self) -> str:
        """Author text that is not blank."""
        kind = self.random.random()
        if kind < 0.5:
            return self.random.choice(_PLAIN)
        if kind < 0.6:
            return self.random.choice(MIMICS)
        found = "".join(self.random.choices(CHARS, k=self.random.randint(1, 5)))
        return found if found.strip() else f"{found}a"

    def some(self, least: int = 0, most: int = 3) -> list[str]:
        """Different words."""
        found = {word.strip(): word for word in self.many(least, most)}
        return list(found.values())

    def many(self, least: int, most: int) -> list[str]:
        return [self.word() for _ in range(self.random.randint(least, most))]

    def maybe(self) -> bool:
        return self.random.random() < 0.5

    def of(self, words: list[str], least: int = 0) -> list[str]:
        """Some of these words, in any order."""
        return self.random.sample(words, self.random.randint(least, min(4, len(words))))

    def ask(self) -> int:
        return self.random.randint(1, 12)

    def manifest(self) -> Tree:
        """The tree of a manifest that loads."""
        grade = self.random.choice(("none", "observer", "steering", "arbiter"))
        tree: Tree = {"name": self.word(), **self.content()}
        if self.maybe():
            tree["description"] = self.word()
        runs = grade != "none" and self.maybe()
        if runs:
            env = [word.strip().replace("=", "-").replace("\0", "-") for word in self.some()]
            tree["runtime"] = {
                "argv": [word.replace("\0", "-") for word in self.many(1, 3)],
                "timeout_secs": self.random.choice((1, 30, 599, 600, 601)),
                "env": list(dict.fromkeys(env)),
            }
        loop = self.loop(grade, runs=runs)
        if grade in {"steering", "arbiter"}:
            if self.maybe():
                tree["subloop"] = {"stages": self.some(1)}
                tree["roles"] = {name: {"tier": self.word()} for name in self.some()}
            if self.maybe():
                names = self.of([*HOST_STAGES, "lint", "x-1"], 1)
                tree["wrapper"] = {"id": self.word(), "stages": [{"name": n} for n in names]}
        if grade == "arbiter":
            tree["requirements"] = {key: self.word() for key in self.some(1)}
            if self.maybe():
                tree["oracle"] = self.oracle(list(tree["requirements"]), runs=runs)
                loop["points"] = sorted({*loop["points"], Point.AFTER_TURN.value})
        tree["loop"] = loop
        return tree

    def content(self) -> Tree:
        """The tables that a manifest of any grade may have."""
        tree: Tree = {
            "capabilities": [
                {
                    "tool": tool,
                    "risk": self.random.choice(_RISKS),
                    "purpose": self.word(),
                    "scope": self.some(0, 2),
                }
                for tool in self.some()
            ],
            "tools": [{"name": name, "description": self.word()} for name in self.some(0, 2)],
            "skills": [{"slug": name, "description": self.word()} for name in self.some(0, 2)],
            "records": [{"lineage": name, "statement": self.word()} for name in self.some(0, 2)],
            "configure": [
                {"key": f"ui.{key}", "value": self.value(), "purpose": self.word()}
                for key in self.of(["a", "b", "a-b", "a_b"])
            ],
        }
        if self.maybe():
            calls = self.of([verb.value for verb in DriverVerb])
            tree["driver"] = {"calls": calls}
            if calls and self.maybe():
                tree["driver"]["max_calls"] = self.ask()
        return tree

    def value(self) -> Any:
        leaves = (self.word(), self.maybe(), self.random.randint(-2, 2), 1.0, "", "1", "true")
        if self.maybe():
            return self.random.choice(leaves)
        return [self.random.choice(leaves) for _ in range(self.random.randint(0, 2))]

    def loop(self, grade: str, *, runs: bool) -> Tree:
        loop: Tree = {"participation": grade}
        if runs and self.maybe():
            loop["events"] = self.of(["*", "agent.*", "tool.*", "tool.call.*"])
        if grade in {"none", "observer"}:
            return loop
        loop["hooks"] = self.of([hook.value for hook in Hook if hook is not Hook.STOP])
        loop["points"] = self.of([point.value for point in Point])
        if loop["points"]:
            loop["calls"] = self.of([call.value for call in Call])
            if loop["calls"] and self.maybe():
                loop["max_calls"] = self.ask()
            if Call.CANDIDATE_FANOUT.value in loop["calls"] and self.maybe():
                loop["max_fanout_width"] = self.ask()
        if grade == "arbiter":
            loop["hooks"].append(Hook.STOP.value)
            if self.maybe():
                loop["max_holds"] = self.ask()
        return loop

    def oracle(self, requirements: list[str], *, runs: bool) -> Tree:
        checks = [
            {"requirement": key, "check": f"m {self.random.choice(OPERATORS)} {self.ask()}"}
            for key in requirements
        ]
        oracle: Tree = {"flip": "required", "measurements": ["m"], "checks": checks}
        if not runs or self.maybe():
            argv = [word.replace("\0", "-") for word in self.many(1, 3)]
            oracle["command"] = {"argv": argv, "timeout_secs": self.ask()}
        return oracle

    def near(self, tree: Tree) -> Iterator[Tree]:
        """Copies of a tree with one thing in it changed, of which some do not load."""
        spots = [place for place in places(tree) if place[0]]
        for _ in range(_TRIES):
            path, value = self.random.choice(spots)
            other = copy.deepcopy(tree)
            self.change(other, path, value)
            yield other

    def change(self, tree: Tree, path: Place, value: object) -> None:
        """Change the value at a path: a character, a number, an entry."""
        match value:
            case bool():
                put(tree, path, not value)
            case int() | float():
                put(tree, path, value + self.random.choice((1, -1)))
            case str():
                put(tree, path, self.edited(value))
            case list() if value:
                put(tree, path, self.random.sample(value, len(value) - 1))
            case dict() if value:
                gone = self.random.choice(list(value))
                put(tree, path, {key: each for key, each in value.items() if key != gone})
            case _:
                put(tree, path, [self.word()])

    def edited(self, text: str) -> str:
        """Return a text with one character more, less or other."""
        at = self.random.randint(0, len(text))
        char: str = self.random.choice((*CHARS, ""))
        return text[:at] + char + text[at + self.random.randint(0, 1) :]


def manifest_of(tree: Tree) -> PluginManifest | None:
    """Return the manifest that a tree is, None when it does not load."""
    try:
        manifest = codec.decode(PluginManifest, tree)
    except Refused:
        return None
    return None if any(broken_rules(Sheet(tree, frozenset()))) else manifest
