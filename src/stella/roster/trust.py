"""Whether what the project itself brings may be used here: by a record or by the variable [I-50].

The question is about this very directory and these very bytes. Nothing in the workspace can
answer it: the variable is the process's own, and the records lie in the person's home [I-56].
"""

import os
from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from stella import limits
from stella.codec import Word
from stella.escape import brief
from stella.escape import visible
from stella.roster.items import SETTINGS
from stella.roster.items import differing
from stella.roster.items import items_of
from stella.roster.scope import Places
from stella.roster.trust_file import Trusted
from stella.roster.trust_file import path_text
from stella.roster.trust_file import read_trust_file

VARIABLE: Final = "STELLA_TRUST_PROJECT"
WAY_OUT: Final = "`stella trust` shows it and asks"

_TRUE: Final = frozenset({"1", "true", "yes", "on"})


class By(Word):
    """What a workspace is trusted by [I-50]."""

    VARIABLE = "variable"
    RECORD = "record"


class Standing(Word):
    """What `trust --list` says of a record [I-57]."""

    VALID = "valid"
    CHANGED = "changed"
    MISSING = "missing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """Whether a workspace is trusted, and what there is to tell about it.

    Without trust `why` says in one line why not, and `changes` are the paths that differ from
    what was trusted, each with `added`, `removed` or `changed` before it [I-54]. `settings` is
    the hex SHA-256 that the settings file had, None without one and where it does not matter.
    `files` are the very files that a record is about, each with mode and digest by its path in
    the workspace; None where any would do.
    """

    by: By | None = None
    why: str = "nobody trusted this workspace"
    changes: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    settings: str | None = None
    files: Mapping[str, str] | None = None

    def without(self, workspace: Path, kinds: Iterable[str]) -> tuple[str, ...]:
        """Return one notice that names each kind not used for lack of trust, and the way to it.

        None when there is trust, or nothing that lacks it [I-51, A-72].
        """
        where = visible(str(workspace))
        told = "" if self.trusted else "; ".join(k.removeprefix(f"{where}/") for k in kinds)
        if not told:
            return ()
        return (f"{where}: {told}; because it is not trusted ({self.why}); {WAY_OUT}",)

    def covers(self, settings: str | None) -> bool:
        """Return whether the settings file that was read is the one that was trusted."""
        return self.by is not By.RECORD or self.settings == settings

    @property
    def trusted(self) -> bool:
        """Whether what the project brings may be used."""
        return self.by is not None

    @property
    def by_variable(self) -> bool:
        """Whether the variable lets the project's plugins run [I-34]."""
        return self.by is By.VARIABLE


UNTRUSTED: Final = Trust()


def read_trust(places: Places, env: Mapping[str, str]) -> Trust:
    """Return whether a workspace is trusted now. Raises nothing and writes nothing [I-50 to I-56].

    `env` is the process's own environment.
    """
    given = env.get(VARIABLE, "").strip()
    said = given.casefold() in _TRUE
    if given and not said:
        why = f'{VARIABLE} is "{brief(given)}", which trusts nothing, whatever was recorded'
        return Trust(why=why)
    file = read_trust_file(places.home)
    record = file.by_path.get(path_text(places.workspace))
    if not said and record is None:
        return Trust(notices=file.notices)
    items = items_of(places.workspace)
    if items.fault is not None:
        return Trust(why=f"it cannot be trusted: {items.fault}", notices=file.notices)
    if said:
        unnamed = () if record is not None else (_unnamed(places.workspace),)
        return Trust(by=By.VARIABLE, why="", notices=(*file.notices, *unnamed))
    assert record is not None  # noqa: S101  # told above: not said and no record
    if not _same(places.workspace, record):
        why = "another directory stood at this path when it was trusted"
        return Trust(why=why, notices=file.notices)
    if changes := differing(record.files, items.files):
        shown = ", ".join(_first(changes))
        why = f"it is not what was trusted on {record.trusted_at}: {shown}"
        return Trust(why=why, changes=changes, notices=file.notices)
    _, _, settings = items.files.get(SETTINGS, "").partition("sha256:")
    return Trust(
        by=By.RECORD,
        why="",
        notices=file.notices,
        settings=settings or None,
        files=record.files,
    )


def standing(record: Trusted) -> Standing:
    """Return whether a record still holds, for the list; nothing is written [I-57]."""
    workspace = Path(record.path)
    if not workspace.is_dir():
        return Standing.MISSING
    # A session enters the directory itself, whatever link leads there now.
    if os.path.realpath(workspace) != record.path:
        return Standing.CHANGED
    items = items_of(workspace)
    same = _same(workspace, record) and items.fault is None and record.files == items.files
    return Standing.VALID if same else Standing.CHANGED


def _same(workspace: Path, record: Trusted) -> bool:
    """Return whether the directory is the very one of the record [D88]."""
    try:
        found = workspace.stat()
    except OSError:
        return False
    return (found.st_dev, found.st_ino) == (record.device, record.inode)


def _first(changes: tuple[str, ...]) -> tuple[str, ...]:
    more = len(changes) - limits.CHANGED_PATHS_SHOWN
    rest = (f"and {more} more",) if more > 0 else ()
    return (*changes[: limits.CHANGED_PATHS_SHOWN], *rest)


def _unnamed(workspace: Path) -> str:
    return (
        f"{VARIABLE} trusts every workspace that stella is started in; "
        f"{visible(str(workspace))} was never trusted by itself: `stella trust` does that, and "
        "then the variable is not needed"
    )
