"""What an adoption is about to do, on disk before it does it, and how it is undone [D-57, N346].

Undoing looks at the disk only, so it is the same after a failure and after a kill: a new content
that still lies in the staging directory was not put into the tree. What somebody changed after
the adoption wrote it is theirs and is left alone; what it replaced is then kept and named.
"""

import os
from typing import Final

import msgspec

from stella import codec
from stella import limits
from stella.candidates.candidate import Item
from stella.candidates.look import item_at
from stella.candidates.look import kind_at
from stella.codec import Refused
from stella.codec import Word
from stella.escape import listed
from stella.files.tree import content
from stella.files.tree import held
from stella.files.way import Way
from stella.files.write import READ
from stella.files.write import sync_directory
from stella.files.write import write_atomic

PLAN: Final = "plan.json"
_MODE: Final = 0o600


class Deed(Word):
    """What a row does to its path."""

    CREATE = "create"
    MODIFY = "modify"
    DELETE = "delete"


class Row(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One path, as the hex of its bytes, with what is put there, empty for nothing."""

    path: str
    deed: Deed
    digest: str
    program: bool


class Folder(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One directory that is taken away, as the hex of its bytes, and its permissions."""

    path: str
    mode: int


class Plan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Every row in the order in which it is done; a row's number names its staged files.

    `taken` are directories that give way to a file, `made` those that are new, parents first.
    """

    rows: tuple[Row, ...]
    taken: tuple[Folder, ...] = ()
    made: tuple[str, ...] = ()


def row_of(path: str, deed: Deed, after: Item | None) -> Row:
    """Return the row of one change."""
    return Row(
        path=hexed(path),
        deed=deed,
        digest="" if after is None else after.digest,
        program=after is not None and after.program,
    )


def hexed(path: str) -> str:
    """Return a path in a spelling that any document can hold."""
    return os.fsencode(path).hex()


def plain(path: str) -> str:
    """Return a path as Python spells it. Raises ValueError for what `hexed` never wrote."""
    return os.fsdecode(bytes.fromhex(path))


def fresh(number: int) -> str:
    """Return the name under which a row's new content is staged."""
    return f"new-{number}"


def kept(number: int) -> str:
    """Return the name under which what a row replaces is kept."""
    return f"old-{number}"


def write(stage: int, plan: Plan, token: str) -> bool:
    """Make a plan durable in the staging directory; False when it is too large to be read back."""
    data = codec.encode(plan)
    if len(data) > limits.ADOPTION_PLAN_BYTES:
        return False
    write_atomic(stage, PLAN, data, _MODE, token=token)
    return True


def done(stage: int) -> None:
    """Say, durably, that nothing is to be undone any more."""
    os.unlink(PLAN, dir_fd=stage)
    sync_directory(stage)


def undo(root: int, stage: int) -> str | None:
    """Put back what an adoption changed beneath the open `root`; why that was not possible.

    Without a plan in the staging directory nothing had been changed. Raises `OSError`; nothing
    that was kept is lost then.
    """
    try:
        file = os.open(PLAN, READ, dir_fd=stage)
    except FileNotFoundError:
        return None
    with held(file):
        data = content(file, limits.ADOPTION_PLAN_BYTES)
    try:
        plan = codec.read(Plan, data)
        paths = [plain(row.path) for row in plan.rows]
    except (Refused, ValueError):
        return "what an adoption noted cannot be read"
    way = Way(root)
    try:
        stuck = _undone(way, stage, plan, paths)
    finally:
        way.close()
    if stuck:
        shown = listed(stuck, limits.CHANGED_PATHS_SHOWN)
        return f"changed by somebody since an adoption that was not finished: {shown}"
    done(stage)
    return None


def _undone(way: Way, stage: int, plan: Plan, paths: list[str]) -> list[str]:
    stuck = []
    numbered = list(enumerate(zip(plan.rows, paths, strict=True)))
    creations = [each for each in numbered if each[1][0].deed is Deed.CREATE]
    for number, (row, path) in reversed(creations):
        _uncreate(way, stage, number, row, path)
    for made in reversed(plan.made):
        _unmade(way, plain(made))
    for folder in plan.taken:
        _remade(way, plain(folder.path), folder.mode)
    for number, (row, path) in reversed(numbered):
        if row.deed is not Deed.CREATE and not _restored(way, stage, number, row, path):
            stuck.append(path)
    return stuck


def _uncreate(way: Way, stage: int, number: int, row: Row, path: str) -> None:
    """Take a new file away, unless it was never put there or somebody has changed it since."""
    here, name = way.parent(path), path.rpartition("/")[2]
    if kind_at(stage, fresh(number)) is not None and not _one(way, stage, number, path):
        return
    if here is not None and _is(item_at(here, name), row):
        os.unlink(name, dir_fd=here)
        sync_directory(here)


def _restored(way: Way, stage: int, number: int, row: Row, path: str) -> bool:
    old = kept(number)
    if kind_at(stage, old) is None or kind_at(stage, fresh(number)) is not None:
        return True  # what was there is there still
    here, name = way.parent(path), path.rpartition("/")[2]
    now = item_at(here, name)
    if here is None or not (now is None if row.deed is Deed.DELETE else _is(now, row)):
        return False
    os.rename(old, name, src_dir_fd=stage, dst_dir_fd=here)
    sync_directory(here)
    return True


def _one(way: Way, stage: int, number: int, path: str) -> bool:
    """Return whether the staged content and what stands at the path are one and the same file."""
    here = way.parent(path)
    if here is None:
        return False
    try:
        there = os.stat(path.rpartition("/")[2], dir_fd=here, follow_symlinks=False)
    except FileNotFoundError:
        return False
    staged = os.stat(fresh(number), dir_fd=stage, follow_symlinks=False)
    return (there.st_dev, there.st_ino) == (staged.st_dev, staged.st_ino)


def _unmade(way: Way, path: str) -> None:
    here = way.parent(path)
    if here is not None:
        try:
            os.rmdir(path.rpartition("/")[2], dir_fd=here)
        except OSError:  # never made, or somebody has put something into it: then it stays
            return


def _remade(way: Way, path: str, mode: int) -> None:
    here, name = way.parent(path), path.rpartition("/")[2]
    if here is None or kind_at(here, name) is not None:
        return
    os.mkdir(name, mode, dir_fd=here)
    os.chmod(name, mode, dir_fd=here)


def _is(item: Item | None, row: Row) -> bool:
    return item is not None and (item.digest, item.program) == (row.digest, row.program)
