"""A further work tree of a repository, made so that nothing of the repository runs [D-54, N349].

Git only writes its own records here: it checks nothing out, so no filter is asked for, and the
branch, the index and the files of the person's own tree stay as they are.
"""

import os
from pathlib import Path
from typing import Final

from stella import limits
from stella.process.git import Repository
from stella.process.git import Unanswered
from stella.process.git import asked

_NO_COMMIT: Final = "the repository has no commit yet that a candidate could stand on"


async def commit_of(within: Repository, *, env_path: str) -> str | Unanswered:
    """Return the id of the commit that is checked out, or why there is none."""
    question = ("rev-parse", "--quiet", "--verify", "--end-of-options", "HEAD^{commit}")
    said = await asked(within, *question, env_path=env_path)
    if not isinstance(said, Unanswered):
        return said.decode("ascii", "replace").strip()
    # Without a commit git says nothing at all; whatever else went wrong, it says.
    there = await records_of(within, env_path=env_path)
    return there if isinstance(there, Unanswered) else Unanswered(reason=_NO_COMMIT)


async def records_of(within: Repository, *, env_path: str) -> Path | Unanswered:
    """Return the directory where git keeps what all work trees of a repository share."""
    said = await asked(within, "rev-parse", "--git-common-dir", env_path=env_path)
    if isinstance(said, Unanswered):
        return said
    return _resolved(within.top, said.removesuffix(b"\n"))


async def add_worktree(
    within: Repository, place: Path, commit: str, *, env_path: str
) -> Unanswered | None:
    """Make `place` an empty work tree that stands on `commit`, on no branch.

    None when it is there. After a failure, or a cancel, some of it may be left.
    """
    question = ("worktree", "add", "--quiet", "--no-checkout", "--detach")
    words = (*question, "--", str(place), commit)
    said = await asked(within, *words, env_path=env_path, seconds=limits.WORKTREE_SECS)
    return said if isinstance(said, Unanswered) else None


async def read_commit(within: Repository, commit: str, *, env_path: str) -> Unanswered | None:
    """Write the index of a work tree as `commit` has it, and touch no file of the tree."""
    words = ("read-tree", "--no-sparse-checkout", commit)
    said = await asked(within, *words, env_path=env_path, seconds=limits.WORKTREE_SECS)
    return said if isinstance(said, Unanswered) else None


def _resolved(top: Path, name: bytes) -> Path:
    return Path(os.path.realpath(top / os.fsdecode(name)))
