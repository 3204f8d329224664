"""The two places a plugin can be installed in, entered without following a link [I-1, S2-40].

A tier is the person's own or the workspace's. Whoever changes one holds it alone first; what
was accepted for either lies in the person's home, never in a workspace [I-26, I-56].
"""

import fcntl
import hashlib
import os
import stat
import time
from collections.abc import Iterator
from contextlib import ExitStack
from contextlib import contextmanager
from contextlib import suppress
from dataclasses import dataclass
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from stella import limits
from stella.codec import Word
from stella.errors import RosterError
from stella.errors import UsageError
from stella.escape import visible
from stella.files.kind import kind_of
from stella.files.tree import DIRECTORY
from stella.files.tree import lies_in
from stella.files.write import sync_directory

PLUGINS: Final = "plugins"
CONSENT: Final = "consent"
SETTINGS: Final = "stella.toml"

_ANCHOR: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_LOCK: Final = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
_OPEN_MODE: Final = 0o755
_PRIVATE_MODE: Final = 0o700
_FILE_MODE: Final = 0o600
_KEY_CHARS: Final = 32
_PAUSE_SECS: Final = 0.02


class Scope(Word):
    """Whose plugin it is; the project's copy goes before the person's [I-1, I-42]."""

    PROJECT = "project"
    USER = "user"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tier:
    """One scope's directory of plugins, and where what was accepted for it is kept [I-26].

    `anchor` is the workspace or the person's home. `steps` lead from there to `path`, each with
    the mode it is made with. `key` tells the tier from every other of the same home. With
    `by_variable` the records are those that the variable made, which are kept apart [Q-3].
    """

    scope: Scope
    home: Path
    anchor: Path
    steps: tuple[tuple[str, int], ...]
    key: str
    by_variable: bool = False

    @property
    def path(self) -> Path:
        """The directory that holds one directory per plugin."""
        return self.anchor.joinpath(*(name for name, _ in self.steps))

    @property
    def apart(self) -> "Tier":
        """The same tier with the records that the variable made [Q-3]."""
        return replace(self, by_variable=True)

    @property
    def kinds(self) -> "tuple[Tier, ...]":
        """The tier once for each file that can hold records about it [Q-3]."""
        return (self,) if self.scope is Scope.USER else (self, self.apart)

    @property
    def record_path(self) -> Path:
        """The file that holds what was accepted for this tier [I-26]."""
        if self.scope is Scope.USER:
            return self.home / "plugins.lock.toml"
        kind = "env.lock" if self.by_variable else "lock"
        return self.home / CONSENT / f"{self.key}.{kind}.toml"

    @property
    def settings_path(self) -> Path:
        """The settings file that belongs to this scope [I-21]."""
        return self.anchor / SETTINGS


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The person's home for Stella and a workspace, both canonical."""

    home: Path
    workspace: Path

    def tier(self, scope: Scope) -> Tier:
        """Return the tier of a scope [I-1, I-26]."""
        if scope is Scope.USER:
            return Tier(
                scope=scope,
                home=self.home,
                anchor=self.home,
                steps=((PLUGINS, _OPEN_MODE),),
                key=scope.value,
            )
        key = hashlib.sha256(os.fsencode(self.workspace)).hexdigest()[:_KEY_CHARS]
        return Tier(
            scope=scope,
            home=self.home,
            anchor=self.workspace,
            steps=((".stella", _OPEN_MODE), (PLUGINS, _OPEN_MODE)),
            key=key,
        )

    @property
    def tiers(self) -> tuple[Tier, ...]:
        """Both tiers, the project's first [I-66]."""
        return tuple(map(self.tier, Scope))


def places(home: Path, workspace: Path) -> Places:
    """Return the places of a session; raises `UsageError` when one lies in the other [I-56]."""
    here = Path(os.path.realpath(home))
    there = Path(os.path.realpath(workspace))
    if lies_in(here, there) or lies_in(there, here):
        raise UsageError(
            f"{visible(str(here))}: what a person accepted must lie apart from the workspace "
            f"{visible(str(there))}; set STELLA_HOME to a directory outside it"
        )
    return Places(home=here, workspace=there)


@contextmanager
def entered(tier: Tier, *, make: bool) -> Iterator[int | None]:
    """Hold a tier's directory open, or None when it is not there and not to be made.

    What is made is taken away again when the block fails. Raises `RosterError` for a link on
    the way and for what the system refuses [Q-11].
    """
    with ExitStack() as held:
        here = _entered(held, None, tier.anchor)
        path = tier.anchor
        for name, mode in tier.steps:
            path /= name
            if here is None:
                break
            if make:
                _make(held, here, path, mode)
            here = _entered(held, here, path)
        yield here


@contextmanager
def alone(tier: Tier, *, patience: float = limits.TIER_LOCK_SECS) -> Iterator[None]:
    """Hold a tier against every other process that would change it, its records included.

    The system lets go with the process, however that ends. Raises `RosterError` when another
    holds the tier for `patience` seconds [Q-15].
    """
    with claimed(tier.home, tier.key, "these plugins", patience=patience):
        yield


@contextmanager
def claimed(
    home: Path, key: str, what: str, *, patience: float = limits.TIER_LOCK_SECS
) -> Iterator[None]:
    """Hold something of the person's home against every other process, as `alone` does.

    `what` says in a refusal what another command is changing.
    """
    with ExitStack() as held:
        lock = held.enter_context(kept(home, CONSENT))
        path = home / CONSENT / f"{key}.lock"
        with naming(path):
            file = os.open(path.name, _LOCK, _FILE_MODE, dir_fd=lock)
            held.callback(os.close, file)
            _claim(file, path, what, patience)
        yield


@contextmanager
def kept(home: Path, *below: str) -> Iterator[int]:
    """Hold a private directory of the person's home open; it is made when missing [S2-40].

    Raises `RosterError` for a link below the home and for what the system refuses.
    """
    with ExitStack() as held:
        with naming(home):
            if not home.is_dir():
                home.mkdir(_PRIVATE_MODE, parents=True, exist_ok=True)
                home.chmod(_PRIVATE_MODE)
            here = os.open(home, _ANCHOR)
        held.callback(os.close, here)
        path = home
        for name in below:
            path /= name
            with naming(path):
                with suppress(FileExistsError):
                    os.mkdir(name, _PRIVATE_MODE, dir_fd=here)
                here = os.open(name, DIRECTORY, dir_fd=here)
            held.callback(os.close, here)
        yield here


@contextmanager
def anchored(tier: Tier) -> Iterator[int]:
    """Hold the workspace or the home of a tier open; a home is made when missing.

    Raises `RosterError` for what the system refuses.
    """
    if tier.scope is Scope.USER:
        with kept(tier.home) as here:
            yield here
        return
    with ExitStack() as held:
        with naming(tier.anchor):
            here = os.open(tier.anchor, _ANCHOR)
        held.callback(os.close, here)
        yield here


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Turn what the system refuses inside into a `RosterError` naming the path and the cause."""
    try:
        yield
    except OSError as error:
        raise RosterError(f"{visible(str(path))}: {error.strerror or error}") from error


def _entered(held: ExitStack, above: int | None, path: Path) -> int | None:
    place, flags = (path, _ANCHOR) if above is None else (path.name, DIRECTORY)
    with naming(path):
        try:
            found = os.stat(place, dir_fd=above, follow_symlinks=above is None)
        except FileNotFoundError:
            return None
        if not stat.S_ISDIR(found.st_mode):
            kind = kind_of(found.st_mode).value
            raise RosterError(f"{visible(str(path))}: expected a directory, got a {kind}")
        here = os.open(place, flags, dir_fd=above)
    held.callback(os.close, here)
    return here


def _make(held: ExitStack, above: int, path: Path, mode: int) -> None:
    with naming(path):
        try:
            os.mkdir(path.name, mode, dir_fd=above)
        except FileExistsError:
            return
        held.push(partial(_unmake, above, path.name))
        # The process's umask is not the person's wish for what others may read.
        os.chmod(path.name, mode, dir_fd=above)
        sync_directory(above)


def _unmake(above: int, name: str, kind: type[BaseException] | None, *_: object) -> None:
    if kind is not None:
        with suppress(OSError):  # somebody else uses it by now, which is well
            os.rmdir(name, dir_fd=above)


def _claim(file: int, path: Path, what: str, patience: float) -> None:
    left = int(patience / _PAUSE_SECS)
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if not left:
                raise RosterError(
                    f"{visible(str(path))}: another stella command has been changing {what} "
                    f"for {patience:g} s; wait for it to end and try again"
                ) from error
            left -= 1
            time.sleep(_PAUSE_SECS)
        else:
            return
