"""What version control holds of a tree: one question to git, asked so that the tree cannot answer.

A repository's own configuration can name programs that git starts. Here every such name is
overridden or has nothing to act on: no repository is discovered by git itself, no hook, no
monitor, no pager, no filter, no fetch, no lock [attacks D95, N349].
"""

import os
from pathlib import Path
from typing import Final

from stella import limits
from stella.process.ending import Ending
from stella.process.program import find_program
from stella.process.run import run

_HARDENED: Final = (
    "--no-pager",
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.excludesFile=/dev/null"),
    *("-c", "core.attributesFile=/dev/null"),
    *("-c", "safe.bareRepository=explicit"),
    *("-c", "protocol.allow=never"),
)
_ENVIRONMENT: Final = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    # A partial clone would fetch what is missing, by the program its configuration names.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",
    "LC_ALL": "C",
}


async def listed(
    root: str, *, env_path: str, seconds: float = limits.TREE_SECS
) -> tuple[bytes, ...] | None:
    """Return the paths under `root` that version control holds or does not ignore, sorted.

    `root` is a real path. The paths are relative to it, in the bytes the file system knows; a
    tracked one need not exist any more. A repository inside this one is one entry, not its
    files: `sub` when it is tracked as a submodule, `sub/` when it is not. `env_path` is where
    git is looked up, without what lies in the repository. None: `root` is in no repository,
    there is no git, or git failed or took longer than `seconds` [T2-16, T2-52].
    """
    top = _repository(root)
    git = find_program("git", env_path, cwd=root, skip_under=top)
    if top is None or git is None:
        return None
    where = (f"--git-dir={top / '.git'}", f"--work-tree={top}")
    question = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    done = await run(
        (str(git), *_HARDENED, *where, *question),
        env=_ENVIRONMENT | {"PATH": str(git.parent)},
        cwd=root,
        timeout=seconds,
        cap=limits.GIT_LIST_BYTES,
    )
    if done.ending is not Ending.EXITED or done.code != 0:
        return None
    names = tuple(sorted(set(done.stdout.split(b"\0")) - {b""}))
    # A root that a repository around it ignores is a tree of its own, not an empty one.
    return names if names or top == Path(root) else None


def _repository(root: str) -> Path | None:
    """Return the nearest directory at or above `root` that holds a `.git`.

    It is told to git rather than found by it: git would follow `core.worktree` of the
    repository out of the tree, and would refuse one that another user owns.
    """
    here = Path(root)
    return next((at for at in (here, *here.parents) if os.path.lexists(at / ".git")), None)
