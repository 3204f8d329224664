"""What version control holds of a tree: questions to git, asked so that the tree cannot answer.

A repository's own configuration can name programs that git starts. Here every such name is
overridden or has nothing to act on: no repository is discovered by git itself, no hook, no
monitor, no pager, no filter, no fetch, no lock [attacks D95, N349].
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from stella import limits
from stella.escape import excerpt
from stella.process.ending import Ending
from stella.process.program import find_program
from stella.process.run import run

_HARDENED: Final = (
    "--no-pager",
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.untrackedCache=false"),
    *("-c", "core.excludesFile=/dev/null"),
    *("-c", "core.attributesFile=/dev/null"),
    *("-c", "safe.bareRepository=explicit"),
    *("-c", "protocol.allow=never"),
    *("-c", "gc.auto=0"),
    *("-c", "maintenance.auto=false"),
    *("-c", "submodule.recurse=false"),
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """What git is told of a work tree, so that nothing in the tree can tell it otherwise.

    `top` is the top of the work tree and `directory` where the repository is; `fence` is the
    tree whose programs are never used, the person's own.
    """

    top: Path
    directory: Path
    fence: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Unanswered:
    """Git gave no answer, and why, in words a person may be shown."""

    reason: str


def repository(root: Path) -> Repository | None:
    """Return the repository of the nearest directory at or above `root` that holds a `.git`.

    It is told to git rather than found by it: git would follow `core.worktree` of the
    repository out of the tree, and would refuse one that another user owns.
    """
    above = (at for at in (root, *root.parents) if os.path.lexists(at / ".git"))
    top = next(above, None)
    return None if top is None else Repository(top=top, directory=top / ".git", fence=top)


async def listed(
    root: str,
    *,
    env_path: str,
    seconds: float = limits.TREE_SECS,
    within: Repository | None = None,
) -> tuple[bytes, ...] | None:
    """Return the paths under `root` that version control holds or does not ignore, sorted.

    `root` is a real path. The paths are relative to it, in the bytes the file system knows; a
    tracked one need not exist any more. A repository inside this one is one entry, not its
    files: `sub` when it is tracked as a submodule, `sub/` when it is not. `env_path` is where
    git is looked up, without what lies in the repository. With `within` that repository is
    asked, whatever lies at or above `root`. None: `root` is in no repository, there is no git,
    or git failed or took longer than `seconds` [T2-16, T2-52].
    """
    within = within or repository(Path(root))
    if within is None:
        return None
    question = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    said = await asked(within, *question, env_path=env_path, cwd=root, seconds=seconds)
    if isinstance(said, Unanswered):
        return None
    names = tuple(sorted(set(said.split(b"\0")) - {b""}))
    # A root that a repository around it ignores is a tree of its own, not an empty one.
    return names if names or within.top == Path(root) else None


async def asked(
    within: Repository,
    *question: str,
    env_path: str,
    cwd: str | None = None,
    seconds: float = limits.TREE_SECS,
) -> bytes | Unanswered:
    """Return what git says on its standard output, or why it did not.

    This is the only way to git. `cwd` is the top of the work tree when it is not given.
    """
    git = find_program("git", env_path, cwd=within.top, skip_under=within.fence)
    if git is None:
        return Unanswered(reason="there is no git outside the workspace on PATH")
    where = (f"--git-dir={within.directory}", f"--work-tree={within.top}")
    done = await run(
        (str(git), *_HARDENED, *where, *question),
        env=_ENVIRONMENT | {"PATH": str(git.parent)},
        cwd=cwd or within.top,
        timeout=seconds,
        cap=limits.GIT_LIST_BYTES,
    )
    if done.ending is Ending.EXITED and done.code == 0:
        return done.stdout
    said = excerpt(done.stderr.decode(errors="replace").strip())
    return Unanswered(reason=f"git {question[0]}: {said or done.reason or done.ending.value}")
