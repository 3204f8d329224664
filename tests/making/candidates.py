"""Real repositories with candidates in them, and what one sees of both from outside."""

import asyncio
import os
import shutil
import stat
import threading
from dataclasses import dataclass
from pathlib import Path

from stella.candidates.candidate import Adopted
from stella.candidates.candidate import Bounds
from stella.candidates.candidate import Candidate
from stella.candidates.candidate import Changed
from stella.candidates.candidate import Discarded
from stella.candidates.candidate import Failed
from stella.candidates.candidate import Leaked
from stella.candidates.landing import changes_of
from stella.candidates.landing import landed
from stella.candidates.patch import Change
from stella.candidates.place import NAME_CHARS
from stella.candidates.place import WORK
from stella.candidates.place import entered
from stella.candidates.place import path_of
from stella.candidates.tree import Copied
from stella.candidates.tree import Terms
from stella.candidates.tree import copied
from stella.candidates.workspaces import Workspaces
from stella.clock import SystemClock
from stella.files.tree import DIRECTORY
from stella.files.tree import held
from stella.process.git import Repository
from tests.making.repositories import PATH
from tests.making.repositories import git
from tests.making.repositories import repository

PLUGIN = "solver"
FILES = {"a": "one\n", "sub/b": "two\n", "sub/deep/c": "three\n"}


def project(place: Path, **files: str) -> Path:
    """A repository with the host's own directory ignored, as every session leaves it."""
    root = repository(place.resolve(), files or FILES)
    (root / ".stella").mkdir(mode=0o755)
    (root / ".stella" / ".gitignore").write_text("private/\ncandidates/\n")
    return root


def spaces(root: Path, path: str = PATH, bounds: Bounds | None = None) -> Workspaces:
    return Workspaces(root, path_value=path, clock=SystemClock(), bounds=bounds)


def made(here: Workspaces, plugin: str = PLUGIN) -> Candidate:
    """A candidate that must come to be."""
    candidate = asyncio.run(here.create(plugin))
    assert isinstance(candidate, Candidate), candidate
    return candidate


def unmade(here: Workspaces) -> str:
    """Why a candidate could not be made."""
    failed = asyncio.run(here.create(PLUGIN))
    assert isinstance(failed, Failed), failed
    return failed.reason


def adopted(here: Workspaces, candidate: Candidate) -> dict[str, str]:
    """What was adopted: kinds by path."""
    done = asyncio.run(here.adopt(candidate))
    assert isinstance(done, Adopted), done
    return kinds(done.changes)


def refused(here: Workspaces, candidate: Candidate) -> Failed:
    """Why it was not adopted, when nothing at all was changed by that."""
    before = snapshot(here.root)
    done = asyncio.run(here.adopt(candidate))
    assert isinstance(done, Failed), done
    assert snapshot(here.root) == before
    assert here.find(candidate.plugin, candidate.handle) == candidate
    return done


def changed(here: Workspaces, candidate: Candidate) -> dict[str, str]:
    found = asyncio.run(here.changed(candidate))
    assert isinstance(found, tuple), found
    return kinds(found)


def kinds(changes: tuple[Changed, ...]) -> dict[str, str]:
    return {each.path: each.kind.value for each in changes}


def gone(told: tuple[Discarded | Leaked, ...]) -> list[str]:
    """The handles of what was taken away; nothing may have leaked."""
    assert all(isinstance(each, Discarded) for each in told), told
    return [each.handle for each in told]


def discarded(here: Workspaces) -> list[str]:
    return gone(asyncio.run(here.discard_all()))


def reclaimed(root: Path) -> list[str]:
    return gone(asyncio.run(spaces(root).reclaim()))


def snapshot(root: Path, *, without: tuple[str, ...] = (".git", ".stella")) -> dict[str, object]:
    """Every path of a tree with its permissions and bytes, or the text of a link."""
    found: dict[str, object] = {}
    for folder, folders, files in os.walk(root):
        here = Path(folder)
        folders[:] = [name for name in folders if here != root or name not in without]
        for name in (*folders, *files):
            path = here / name
            mode = path.lstat().st_mode
            if stat.S_ISLNK(mode):
                what: object = str(path.readlink())
            else:
                what = path.read_bytes() if stat.S_ISREG(mode) else None
            if here != root or name not in without:
                found[str(path.relative_to(root))] = (oct(mode), what)
    return found


@dataclass(frozen=True, kw_only=True)
class Standing:
    """What git says of a repository, and what the host has in it."""

    said: tuple[str, ...]
    index: bytes
    ours: frozenset[str]


def standing(root: Path) -> Standing:
    """What must be as before when all candidates are gone."""
    questions = (
        ("worktree", "list"),
        ("status", "--porcelain"),
        ("for-each-ref",),
        ("rev-parse", "HEAD"),
        ("config", "--list", "--local"),
    )
    index = (root / ".git" / "index").read_bytes()
    said = tuple(git(root, *question) for question in questions)
    (root / ".git" / "index").write_bytes(index)
    return Standing(said=said, index=index, ours=ours_in(root))


def ours_in(root: Path) -> frozenset[str]:
    """The names in the repository's directory and in the host's own, but for those that stay."""
    kept = ("objects", "index", "logs", "ORIG_HEAD")
    records = {path.name for path in (root / ".git").iterdir() if path.name not in kept}
    own = {str(path.relative_to(root)) for path in (root / ".stella").rglob("*")}
    return frozenset(records | own - {".stella/private", ".stella/private/candidates"})


def put(path: Path, text: str = "new\n", mode: int = 0o644) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


def never() -> threading.Event:
    return threading.Event()


def bare(place: Path) -> tuple[Path, Candidate]:
    """A tree and a candidate of it that git knows nothing of, for what needs no git."""
    root = place / "r"
    for name, text in BEFORE.items():
        put(root / name, text)
    (root / "run").chmod(0o755)
    (root / "link").symlink_to("same")
    (root / "turns").symlink_to("same")
    name = "a" * NAME_CHARS
    names = [os.fsencode(str(path.relative_to(root))) for path in root.rglob("*")]
    with entered(root, WORK, make=True) as work, held(os.open(root, DIRECTORY)) as source:
        os.mkdir(name, dir_fd=work)
        with held(os.open(name, DIRECTORY, dir_fd=work)) as target:
            files = [each for each in names if not (root / os.fsdecode(each)).is_dir()]
            copy = copied(files, source, target, terms())
    assert isinstance(copy, Copied), copy
    top = path_of(root, WORK) / name
    return root, Candidate(
        handle="c-" + "0" * 32,
        plugin=PLUGIN,
        name=name,
        root=top,
        repository=Repository(top=top, directory=root / ".git", fence=root),
        start=copy.items,
    )


BEFORE = {
    "same": "same\n",
    "text": "old\n",
    "run": "#!/bin/sh\n",
    "quiet": "#!/bin/sh\n",
    "gone/deep/x": "x\n",
    "stays/y": "y\n",
    "folder/z": "z\n",
    "folder/in/w": "w\n",
    "file": "a file\n",
}


def tried(candidate: Candidate) -> None:
    """Everything an attempt can do to a tree that may be adopted."""
    top = candidate.root
    put(top / "text", "new\n")
    (top / "run").chmod(0o644)
    (top / "quiet").chmod(0o755)
    shutil.rmtree(top / "gone")
    (top / "stays/y").rename(top / "stays/renamed")
    shutil.rmtree(top / "folder")
    put(top / "folder", "a file now\n")
    (top / "file").unlink()
    put(top / "file/is/a/folder", "now\n", 0o755)
    (top / "link").unlink()
    (top / "link").symlink_to("stays/renamed")
    (top / "turns").unlink()
    put(top / "turns", "a file now\n")
    put(top / os.fsdecode(b"new\n/\xff"), "odd\n")
    (top / "stays/added").symlink_to("../text")


def changes_in(
    root: Path, candidate: Candidate, names: tuple[bytes, ...] | None = None
) -> tuple[Change, ...]:
    """What differs in a candidate that git knows nothing of; `names` as git would name it."""
    every = (path for path in candidate.root.rglob("*") if path.is_symlink() or not path.is_dir())
    found_names = tuple(os.fsencode(str(path.relative_to(candidate.root))) for path in every)
    found = changes_of(root, candidate, names or found_names, terms())
    assert isinstance(found, tuple), found
    return found


def land(root: Path, candidate: Candidate, bounds: Bounds | None = None) -> Adopted | Failed:
    changes = changes_in(root, candidate)
    return landed(root, candidate, changes, bounds=bounds or Bounds(), stop=never())


def terms(prefix: str = "", bounds: Bounds | None = None) -> Terms:
    return Terms(prefix=prefix, bounds=bounds or Bounds(), clock=SystemClock(), stop=never())
