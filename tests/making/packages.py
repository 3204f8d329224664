"""Packages, homes and tiers on a real disk, and an install answered in advance."""

import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

from stella.clock import Clock
from stella.roster.install import Declined
from stella.roster.install import Installed
from stella.roster.install import Proposal
from stella.roster.install import Wish
from stella.roster.install import install
from stella.roster.lock import AcceptedBy
from stella.roster.scope import Places
from stella.roster.scope import Scope
from stella.roster.scope import places
from stella.roster.start import Lookup
from stella.settings.sections import SETTABLE
from tests.making.clocks import HandClock
from tests.making.plugins import executable

_LARGE = 2**20
NOTES = 'name = "{name}"\n'
METER = """\
name = "{name}"
[loop]
participation = "observer"
events = ["agent.turn.*"]
[runtime]
argv = ["${{plugin_dir}}/bin/meter"]
timeout_secs = 30
"""


def notes(folder: Path, name: str = "notes", manifest: str = NOTES) -> Path:
    """Write the smallest package with one file beside the manifest."""
    folder.mkdir(parents=True)
    (folder / "plugin.toml").write_text(manifest.format(name=name), "utf-8")
    (folder / "main.py").write_text("print(1)\n", "utf-8")
    return folder


def meter(folder: Path, name: str = "meter", program: str = "#!/bin/sh\n") -> Path:
    """Write a package that is started from a program of its own."""
    notes(folder, name, METER)
    (folder / "bin").mkdir()
    executable(folder / "bin" / "meter", program)
    return folder


def skin(folder: Path, name: str = "skin", *, theme: str = "plain", more: str = "") -> Path:
    """Write a package that sets a setting; `more` are further tables of its manifest."""
    manifest = (
        f'name = "{{name}}"\n[[configure]]\nkey = "ui.theme"\nvalue = "{theme}"\n'
        f'purpose = "To read."\n{more}'
    )
    return notes(folder, name, manifest)


def settled(root: Path) -> Places:
    """Make a home and a workspace beside each other."""
    (root / "home").mkdir(parents=True)
    (root / "shop").mkdir()
    return places(root / "home", root / "shop")


def programs(place: Path) -> str:
    """Make a `PATH` whose `python3` is a script that leaves a mark, and return it."""
    place.mkdir(parents=True, exist_ok=True)
    executable(place / "python3", f"#!/bin/sh\n: > {place}/was-started\n")
    return str(place)


def lookup(here: Places, path_value: str | None = None) -> Lookup:
    """Where programs are looked up for a workspace."""
    return Lookup(path_value=path_value, workspace=here.workspace)


def yes(proposal: Proposal) -> AcceptedBy | None:
    """Accept whatever is shown, as a person at a terminal."""
    del proposal
    return AcceptedBy.TTY


def wish(
    source: Path, here: Places, scope: Scope = Scope.PROJECT, *, upgrade: bool = False
) -> Wish:
    """A wish that finds no program anywhere."""
    return Wish(
        source=source,
        scope=scope,
        places=here,
        path_value=None,
        settable=SETTABLE,
        upgrade=upgrade,
    )


def put(
    source: Path,
    here: Places,
    scope: Scope = Scope.PROJECT,
    *,
    ask: Callable[[Proposal], AcceptedBy | None] = yes,
    clock: Clock | None = None,
    upgrade: bool = False,
) -> Installed:
    """Install and return what came of it; a no is a failure of the test."""
    done = install(wish(source, here, scope, upgrade=upgrade), ask, clock or HandClock())
    assert not isinstance(done, Declined)
    return done


def seen(root: Path) -> dict[str, tuple[int, bytes]]:
    """Everything below `root`: the path with its whole mode and its bytes or link text.

    Of a file too large to be meant as text the size stands for the bytes.
    """
    found: dict[str, tuple[int, bytes]] = {}
    for path in sorted(root.rglob("*")):
        mode = path.lstat().st_mode
        data = b""
        if stat.S_ISLNK(mode):
            data = os.fsencode(path.readlink())
        elif stat.S_ISREG(mode):
            size = path.stat().st_size
            data = path.read_bytes() if size < _LARGE else str(size).encode()
        found[str(path.relative_to(root))] = (mode, data)
    return found


def swap(path: Path, other: Path) -> None:
    """Put `other` where `path` is, whatever both are."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()
    other.rename(path)
