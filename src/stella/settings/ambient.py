"""Environment, home and working directory: read here, once, and handed in as values [law 4].

Nothing else in the package reads any of them, and a program that embeds the host never calls
this. Nothing is created and no file is read.
"""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import replace
from pathlib import Path
from typing import Final

from stella import limits
from stella.errors import UsageError
from stella.escape import visible
from stella.files.tree import lies_in

STELLA: Final = ".stella"

_SWITCH: Final = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off", ""), False),
}
_VERSION_CONTROL: Final = (".git", ".hg", ".jj", ".svn")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ambient:
    """What surrounds the process; paths are absolute and canonical.

    `home` is the person's directory for Stella [S2-40]. `person` is their own home directory,
    None when `HOME` is not set. `umask` is what files they make are not.
    """

    env: Mapping[str, str]
    home: Path
    person: Path | None
    cwd: Path
    umask: int = limits.UMASK


def ambient() -> Ambient:
    """Return the process's own surroundings.

    Raises `UsageError` when no home can be told or the working directory is gone [S2-43].
    """
    try:
        cwd = Path.cwd()
    except OSError as error:
        raise UsageError(f"the working directory cannot be read: {error.strerror}") from error
    return replace(surrounding(dict(os.environ), cwd), umask=_umask())


def _umask() -> int:
    """Return the process's umask; there is no way to ask for it but to set it."""
    own = os.umask(limits.UMASK)
    os.umask(own)
    return own


def surrounding(env: Mapping[str, str], cwd: Path) -> Ambient:
    """Return the surroundings that an environment and a working directory make [S2-30].

    An empty variable is an unset one. Raises `UsageError` without `HOME` and `STELLA_HOME`,
    and for either when it is not an absolute path [S2-43].
    """
    person = _directory(env, "HOME")
    home = _directory(env, "STELLA_HOME")
    if home is None:
        if person is None:
            raise UsageError("HOME is not set; set it, or STELLA_HOME to a directory of your own")
        home = _canonical(person / STELLA)
    return Ambient(env=env, home=home, person=person, cwd=_canonical(cwd))


def switched(env: Mapping[str, str], name: str) -> bool:
    """Return whether a boolean variable is on; an empty one is unset [S2-31].

    Raises `UsageError` naming the variable for any other text.
    """
    value = env.get(name, "")
    found = _SWITCH.get(value.strip().casefold())
    if found is None:
        raise UsageError(
            f'{name}: expected 1, true, yes or on, or 0, false, no or off, got "{visible(value)}"'
        )
    return found


def workspace_of(given: str | None, around: Ambient) -> Path:
    """Return the workspace: `given`, or the nearest parent that looks like one [S-7].

    That is a directory with `.stella/` or a version-control root, else the working directory.
    The search ends below the person's home, so that what they keep there never makes all of
    it a workspace. Raises `UsageError` for what is no directory, and as `refuse_overlap` does.
    """
    if given is None:
        workspace = _nearest(around)
    else:
        workspace = _canonical(around.cwd / given)
        if not given or not _is_real_directory(workspace):
            raise UsageError(f'--workspace: "{visible(given)}" is not a directory')
    refuse_overlap(workspace, around)
    return workspace


def refuse_overlap(workspace: Path, around: Ambient) -> None:
    """Refuse a workspace that holds, is or lies in a place of the person's [S2-43, S-7].

    `workspace` is canonical. Raises `UsageError`.
    """
    shown = visible(str(workspace))
    if around.person and lies_in(workspace, around.person) and lies_in(around.person, workspace):
        raise UsageError(
            f"{shown}: the home directory itself is no workspace; "
            "go to a directory below it, or name one with --workspace"
        )
    if lies_in(around.home, workspace) or lies_in(workspace, around.home):
        raise UsageError(
            f"{shown}: the workspace and STELLA_HOME ({visible(str(around.home))}) must lie "
            "apart; choose another workspace with --workspace, or set STELLA_HOME"
        )


def _nearest(around: Ambient) -> Path:
    for directory in (around.cwd, *around.cwd.parents):
        if directory == around.person:
            break
        if _is_root(directory, around.home):
            return directory
    return around.cwd


def _is_root(directory: Path, home: Path) -> bool:
    own = directory / STELLA
    if own != home and _is_real_directory(own):
        return True
    # In a linked worktree `.git` is a file.
    return any(os.path.lexists(directory / name) for name in _VERSION_CONTROL)


def _is_real_directory(path: Path) -> bool:
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False


def _directory(env: Mapping[str, str], name: str) -> Path | None:
    value = env.get(name)
    if not value:
        return None
    if not Path(value).is_absolute():
        raise UsageError(f'{name}: expected an absolute path, got "{visible(value)}"')
    return _canonical(Path(value))


def _canonical(path: Path) -> Path:
    return Path(os.path.realpath(path))
