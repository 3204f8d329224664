"""Workspaces with files in them, and resolved test plans over them."""

import os
from pathlib import Path

from stella.witness.command import parse_test_command
from stella.witness.plan import ResolvedPlan
from stella.witness.plan import resolve
from stella.witness.plan import root_of
from stella.witness.snapshot import Watch
from stella.witness.snapshot import pin

NAMES = ("pytest", "python3", "python", "sh", "cargo", "go", "make", "uv", "env")


def workspace(place: Path, *files: str, **texts: str) -> Path:
    """Make a root with the named files, each holding its own name, and return it canonical."""
    place.mkdir(parents=True, exist_ok=True)
    fill(place, *files, **texts)
    return root_of(place)


def fill(root: Path, *files: str, **texts: str) -> None:
    """Write files beneath `root`; in the name of a keyword `__` stands for `/` and `_` for `.`."""
    named = {name.replace("__", "/").replace("_", "."): text for name, text in texts.items()}
    for name, text in {**{file: f"{file}\n" for file in files}, **named}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(os.fsencode(text))


def relink(link: Path, target: Path | str) -> None:
    """Put a symbolic link in the place of whatever stands there."""
    link.unlink(missing_ok=True)
    link.symlink_to(target)


def program(place: Path, text: str = "#!/bin/sh\nexit 0\n") -> Path:
    """Write an executable script."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    place.chmod(0o755)
    return place


def programs(folder: Path, *names: str) -> str:
    """Make a folder of programs that do nothing and return it as a PATH."""
    for name in names or NAMES:
        program(folder / name)
    return str(folder)


def planned(root: Path, command: str) -> ResolvedPlan:
    """Resolve a command in `root`, with a PATH that holds the usual runners."""
    path = programs(root.parent / f"{root.name}-programs")
    return resolve(parse_test_command(command), root, path)


def watching(root: Path, command: str, *globs: str) -> Watch:
    """Pin what a command's plan has watched beneath `root`."""
    return pin(root, planned(root, command), globs)
