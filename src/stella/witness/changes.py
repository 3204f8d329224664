"""What changed between two measurements of a tree, never what a tool said [T2-50 to T2-55].

Pure over the trees. A change that the host cannot count is said to be unknown, which is not
the same as none.
"""

import hashlib
import os

from stella import limits
from stella.escape import visible
from stella.turn.questions import Change
from stella.witness.artifact import readable
from stella.witness.lines import Steps
from stella.witness.lines import spans
from stella.witness.lines import split
from stella.witness.lines import unified
from stella.witness.tree import File
from stella.witness.tree import Tree
from stella.witness.tree import Unmeasured


def changes(before: Tree, after: Tree) -> tuple[Change, ...]:
    """Return what changed from one tree to the next, in path order [T2-50, T2-54].

    `kind` is `created`, `modified` or `deleted`; a file with equal content is unchanged,
    whatever its times and mode say [T2-52, T2-55]. `added` and `removed` count lines; they and
    `diff` are None when the old or the new text is too large to be kept for comparison. A
    binary file has no lines and no diff. `bytes` is the size now, 0 after a deletion.
    """
    steps = Steps()
    return tuple(_change(path, before, after, steps) for path in _differing(before, after))


def digest(origin: Tree | Unmeasured, now: Tree | Unmeasured) -> str | None:
    """Return the digest of everything that differs from `origin`, None when unmeasured [D-43].

    Every differing path counts with its kind of change and the hash of its content.
    """
    if isinstance(origin, Unmeasured) or isinstance(now, Unmeasured):
        return None
    whole = hashlib.sha256()
    for path in _differing(origin, now):
        row = f"\0{_kind(path, origin, now)}\0{_digest(path, now) or ''}\0"
        # A path holds no NUL, so the rows cannot be read in two ways.
        whole.update(os.fsencode(path) + row.encode())
    return f"sha256:{whole.hexdigest()}"


def _differing(before: Tree, after: Tree) -> list[str]:
    paths = before.files.keys() | after.files.keys()
    return sorted(
        (path for path in paths if _digest(path, before) != _digest(path, after)), key=os.fsencode
    )


def _digest(path: str, tree: Tree) -> str | None:
    file = tree.files.get(path)
    return None if file is None else file.digest


def _kind(path: str, before: Tree, after: Tree) -> str:
    if path not in before.files:
        return "created"
    return "modified" if path in after.files else "deleted"


def _change(path: str, before: Tree, after: Tree, steps: Steps) -> Change:
    old, new = before.files.get(path), after.files.get(path)
    binary = any(file is not None and file.binary for file in (old, new))
    shown = readable(path)
    lines = (0, 0, None) if binary else _lines(shown, (old, new), (before, after), steps)
    return Change(
        path=shown,
        kind=_kind(path, before, after),
        before=_digest(path, before),
        after=_digest(path, after),
        added=lines[0],
        removed=lines[1],
        bytes=0 if new is None else new.stamp.size,
        diff=lines[2],
    )


def _lines(
    path: str, files: tuple[File | None, File | None], trees: tuple[Tree, Tree], steps: Steps
) -> tuple[int | None, int | None, str | None]:
    """Return lines added, lines removed and the diff of a text file that changed [T2-54]."""
    old, new = (_text(file, tree) for file, tree in zip(files, trees, strict=True))
    if old is None or new is None:
        return None, None, None
    left, right = split(old), split(new)
    found = spans(left, right, steps)
    added = sum(span.new_to - span.new_from for span in found)
    removed = sum(span.old_to - span.old_from for span in found)
    if not found:
        return added, removed, None
    shown = visible(path)
    names = (
        "/dev/null" if files[0] is None else f"a/{shown}",
        "/dev/null" if files[1] is None else f"b/{shown}",
    )
    return added, removed, _fitting(unified(names, left, right, found))


def _text(file: File | None, tree: Tree) -> bytes | None:
    """Return a file's bytes, empty where there is no file, None when they were not kept."""
    if file is None:
        return b""
    return tree.texts.get(file.digest)


def _fitting(diff: str) -> str:
    """Return a diff of at most 65,536 bytes, cut with a marker [T2-54]."""
    whole = diff.encode()
    if len(whole) <= limits.DIFF_BYTES:
        return diff
    # The marker's length depends on its number; the most it can need is set aside.
    room = limits.DIFF_BYTES - len(_cut(len(whole)).encode())
    head = whole[:room].decode(errors="ignore")
    return head + _cut(len(whole) - len(head.encode()))


def _cut(removed: int) -> str:
    return f"\n[{removed} more bytes of the diff were cut]\n"
