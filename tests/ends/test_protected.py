"""[T2-32, attacks D92] What steers later sessions is out of reach of the agent's file tools."""

import json
from pathlib import Path

import pytest

from stella.roster.items import items_of
from stella.roster.trust_file import put_trusted
from stella.roster.trust_file import trusted_now
from tests.making.clocks import NOON
from tests.making.ends import Json
from tests.making.ends import Place
from tests.making.ends import asks
from tests.making.ends import place
from tests.making.ends import says
from tests.making.repositories import git

INSIDE = (
    ".git/config",
    ".git/hooks/pre-commit",
    ".git/info/attributes",
    "vendor/.git/hooks/post-checkout",
    ".stella/private/caches/index",
)
"""Never written by a file tool, whatever a person allows."""

STEERING = (
    ".stella/tools/new.toml",
    ".stella/plugins/guard/main.py",
    ".stella/mcp.toml",
    ".stella/trust.toml",
    ".Stella/rules/r.toml",
    ".mcp.json",
    "stella.toml",
)
"""Written only where a person allows what cannot be undone."""

HOME = (
    "trust.toml",
    "plugins.lock.toml",
    "consent/0.lock.toml",
    "plugins/guard/main.py",
    "stella.toml",
)
PERSON = (".bashrc", ".profile", ".zshrc", ".gitconfig", ".config/git/config", ".stella/trust.toml")


def outside(where: Place) -> tuple[str, ...]:
    """Files of the person's, by their absolute paths and by a way out of the workspace."""
    paths = [where.home / name for name in HOME] + [where.person / name for name in PERSON]
    return (*map(str, paths), "../home/trust.toml", "way/trust.toml", "a/../../person/.profile")


def lived_in(tmp_path: Path, *, there: bool) -> Place:
    """A workspace with a repository and a way out of it; with `there` the files exist."""
    where = place(tmp_path)
    where.home.mkdir(mode=0o700)
    git(where.root, "init", "--quiet")
    (where.root / "way").symlink_to(where.home)
    (where.root / ".stella/private").mkdir(parents=True, mode=0o700)
    if there:
        inside = [where.root / name for name in STEERING if not name.startswith(".Stella")]
        theirs = [where.home / name for name in HOME] + [where.person / name for name in PERSON]
        for path in (*inside, *theirs):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("", "utf-8")
    return where


def tries(path: str) -> Json:
    """A reply that calls every file tool that changes something, at one path."""
    new = {"path": path, "content": "mine\n"}
    calls = (
        ("write_file", new),
        ("write_file", {"files": [new]}),
        ("read_file", {"path": path}),
        ("write_file", new),
        ("edit_file", {"path": path, "old_string": "a", "new_string": "b"}),
        ("delete_file", {"path": path}),
    )
    return {"tool_calls": [{"name": name, "input": given} for name, given in calls]}


OWN = (".stella/private", ".stella/.gitignore")
"""What the host writes in a workspace in each session."""

CHANGES = 5
"""How many calls of a reply would change something."""


def kept(where: Place) -> dict[str, bytes]:
    """All that must stay: the person's, and the workspace but for the host's own records."""
    found = {}
    for top in (where.home, where.person, where.root):
        for path in top.rglob("*"):
            if not str(path.relative_to(top)).startswith(OWN):
                found[str(path)] = path.read_bytes() if path.is_file() else b""
    return found


def causes(where: Place, paths: tuple[str, ...], *words: str) -> list[list[str]]:
    """Let the agent try all of `paths`, and return why the calls were refused, path by path.

    Every call that would change something failed; those that no rule refused were none at all,
    such as one with a path that cannot be meant.
    """
    where.scripted(*map(tries, paths), says())
    done = where.run(*words)
    assert done.code == 0, done.err
    rows = {row["name"]: row for row in done.result["tools"]}
    changing = [row for name, row in rows.items() if name != "read_file"]
    assert sum(row["calls"] for row in changing) == CHANGES * len(paths)
    assert sum(row["errors"] for row in changing) == CHANGES * len(paths)
    assert done.result["changed_files"] == []
    by_step: list[list[str]] = [[] for _ in paths]
    asked = [call["call_id"] for call in where.told("call_requested")]
    for row in done.result["refusals"]:
        if row["tool"] != "read_file":
            by_step[asked.index(row["call_id"]) // (CHANGES + 1)].append(row["cause"])
    return by_step


@pytest.mark.behaviour("D92")
@pytest.mark.parametrize("there", [False, True])
def test_the_agents_file_tools_change_nothing_that_steers_later_sessions(
    tmp_path: Path, *, there: bool
) -> None:
    """[T2-32, I-26, attacks D92] Whether it is there already or would be new."""
    where = lived_in(tmp_path, there=there)
    before = kept(where)
    paths = (*INSIDE, *STEERING, *outside(where))
    refused = dict(zip(paths, causes(where, paths), strict=True))
    assert {cause for path in STEERING for cause in refused[path]} == {"mode"}
    absolute = [path for path in outside(where) if path.startswith("/")]
    both = {"protected_path", "mode"}  # to delete is more than this mode allows
    assert {frozenset(refused[path]) for path in absolute} == {frozenset(both)}
    assert all(refused[path] for path in (*INSIDE, *STEERING, *absolute))
    assert kept(where) == before


@pytest.mark.behaviour("D92.all")
def test_what_is_the_hosts_or_gits_is_not_even_changed_where_all_is_allowed(tmp_path: Path) -> None:
    """[T2-32, I-26, attacks D92] A mode widens what is risked, never whose records these are."""
    where = lived_in(tmp_path, there=True)
    before = kept(where)
    paths = (*INSIDE, *outside(where))
    refused = dict(zip(paths, causes(where, paths, "--permissions", "all"), strict=True))
    assert all(refused[path] for path in INSIDE)
    assert {cause for found in refused.values() for cause in found} == {"protected_path"}
    assert kept(where) == before


@pytest.mark.behaviour("D92.ends-trust")
def test_what_a_person_lets_the_agent_write_ends_the_trust(tmp_path: Path) -> None:
    """[T2-32, I-54] So it waits for a yes of its own before it steers anything."""
    where = lived_in(tmp_path, there=False)
    put_trusted(where.home, trusted_now(where.root, items_of(where.root), NOON), mark="m")
    assert "valid" in where.stella("trust", "--list").out
    where.scripted(asks("write_file", path=".stella/tools/new.toml", content="x = 1\n"), says())
    done = where.run("--permissions", "all")
    assert done.code == 0, done.err
    assert done.result["changed_files"] == [".stella/tools/new.toml"]
    assert "changed" in where.stella("trust", "--list").out
    before = set(where.journals())
    where.scripted(says())
    assert where.run().code == 0
    (last,) = set(where.journals()) - before
    opened = json.loads(last.read_text("utf-8").splitlines()[0])
    assert (opened["type"], opened["data"]["trusted"]) == ("session_opened", False)
