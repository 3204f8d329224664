"""The settings file that belongs to a tier, read and written as a whole [I-21, I-22].

Whoever writes it holds the tier alone. What the text says is not this module's business.
"""

import os
import stat
from dataclasses import dataclass
from typing import Final

from stella import limits
from stella.errors import RosterError
from stella.escape import visible
from stella.files import tree
from stella.files.kind import Kind
from stella.files.kind import kind_of
from stella.files.write import READ
from stella.files.write import sync_directory
from stella.files.write import write_atomic
from stella.roster.lock import digest
from stella.roster.scope import SETTINGS
from stella.roster.scope import Scope
from stella.roster.scope import Tier
from stella.roster.scope import anchored
from stella.roster.scope import naming

_OTHER: Final = "settings.json"
_MODES: Final = {Scope.USER: 0o600, Scope.PROJECT: 0o644}


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A settings file as it stands: its text, None without one, and its mode.

    The mode of a file that is not there is the one it would be made with [I-22].
    """

    text: str | None
    mode: int

    @property
    def digest(self) -> str:
        """What tells the file from any other; empty when there is none."""
        return digest(None if self.text is None else self.text.encode())


def read_target(tier: Tier) -> Target:
    """Return the settings file of a tier. Raises `RosterError` for what is no such file."""
    path = tier.settings_path
    with naming(path):
        try:
            found = path.lstat()
        except FileNotFoundError:
            return Target(text=None, mode=_MODES[tier.scope])
        if (kind := kind_of(found.st_mode)) is not Kind.FILE:
            raise RosterError(
                f"{visible(str(path))}: expected a regular file, got a {kind.value}; "
                "settings are changed in no other"
            )
        with tree.held(os.open(path, READ)) as file:
            found = os.fstat(file)
            data = tree.content(file, limits.SETTINGS_BYTES + 1)
    if len(data) > limits.SETTINGS_BYTES:
        raise RosterError(f"{visible(str(path))}: holds more than {limits.SETTINGS_BYTES} bytes")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise RosterError(f"{visible(str(path))}: byte {error.start} is not UTF-8") from error
    return Target(text=text, mode=stat.S_IMODE(found.st_mode))


def refuse_other_format(tier: Tier) -> None:
    """Refuse a place where a file of another format seems to be in force [I-21]."""
    path = tier.settings_path
    other = path.with_name(_OTHER)
    if os.path.lexists(other) and not os.path.lexists(path):
        raise RosterError(
            f"{visible(str(other))} is there and {visible(str(path))} is not; Stella reads only "
            f"the latter, so make it, empty if need be, before a plugin changes settings"
        )


def write_target(tier: Tier, text: str | None, mode: int, *, mark: str) -> None:
    """Put a text into the settings file with exactly `mode`, or take the file away for None.

    By temporary file, sync and rename [I-22]. Raises `RosterError`.
    """
    path = tier.settings_path
    data = None if text is None else text.encode()
    if data is not None and len(data) > limits.SETTINGS_BYTES:
        raise RosterError(
            f"{visible(str(path))}: would have {len(data)} bytes, "
            f"the limit is {limits.SETTINGS_BYTES}"
        )
    with anchored(tier) as directory, naming(path):
        if data is not None:
            write_atomic(directory, SETTINGS, data, mode, token=f"{tier.key}-{mark}")
            return
        os.unlink(SETTINGS, dir_fd=directory)
        sync_directory(directory)
