"""The test plan: a command's words, the program they really start, and how long it may take.

The program is resolved once and the host runs what was resolved [G-9]; a plugin is told the
words as typed and nothing else [G-10, W-23]. Nothing is run here.
"""

import os
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from stella import limits
from stella.errors import TestCommandError
from stella.errors import UsageError
from stella.escape import visible
from stella.near import near
from stella.process.program import find_program
from stella.process.program import searched
from stella.wire.grant import HOST_TREE
from stella.wire.grant import CandidateGrant
from stella.wire.grant import TestBaseline
from stella.wire.grant import TestPlan
from stella.witness.runners import unwrapped


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedPlan:
    """A plan that can be run.

    `program` and `args` are as typed, `path` is absolute and is what runs, `timeout` is in
    seconds. `shims` are paths beneath the root at which a program of that name would be found
    first by somebody who searches `PATH` again. `started` is the program behind the launchers,
    None where it is not found. `notices` are lines for the person.
    """

    program: str
    args: tuple[str, ...]
    path: Path
    timeout: int
    shims: tuple[str, ...] = ()
    started: Path | None = None
    notices: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """The command as typed."""
        return (self.program, *self.args)

    def argv(self, root: Path) -> tuple[str, ...]:
        """Return what to start in `root`, which runs its own copy of a relative program [G-13]."""
        program = root / self.program if "/" in self.program else self.path
        return (str(program), *self.args)

    def on_wire(self, baseline: TestBaseline) -> TestPlan:
        """Return what a plugin is told of the plan [W-22, W-23]."""
        return TestPlan(program=self.program, args=self.args, baseline=baseline)


def resolve(
    words: Sequence[str],
    root: Path,
    path_value: str | None,
    timeout: int = limits.TEST_SECS_DEFAULT,
) -> ResolvedPlan:
    """Return the plan for the words of a test command, at least one [G-8, G-9, G-11].

    `root` is canonical, `path_value` the person's `PATH`. Raises `TestCommandError` for a
    bare name that is not on it and for a timeout outside 1 to 600 seconds. A program with a
    `/` that does not exist yet is a notice: the worker may be about to write it.
    """
    if not limits.TEST_SECS_MIN <= timeout <= limits.TEST_SECS_MAX:
        bounds = f"{limits.TEST_SECS_MIN} to {limits.TEST_SECS_MAX}"
        raise TestCommandError(f"test timeout: expected {bounds} seconds, got {timeout}")
    program, *args = words
    path = find_program(program, path_value, cwd=root)
    if path is None:
        raise TestCommandError(_not_found(program, path_value))
    notices = [] if os.path.lexists(path) else [_missing(program, path)]
    notices += [_outside(word) for word in args if leaves(root, word)]
    return ResolvedPlan(
        program=program,
        args=tuple(args),
        path=path,
        timeout=timeout,
        started=find_program(unwrapped(words)[0], path_value, cwd=root),
        shims=() if "/" in program else tuple(_shims(program, path, root, path_value or "")),
        notices=tuple(notices),
    )


def root_of(workspace: Path) -> Path:
    """Return the canonical root of a grant, or raise `UsageError` [G-1]."""
    shown = visible(os.fsencode(workspace).decode("utf-8", "replace"))
    try:
        root = workspace.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise UsageError(f"workspace {shown}: it cannot be resolved: {error}") from error
    try:
        str(root).encode()
    except UnicodeEncodeError as error:
        raise UsageError(
            f"workspace {shown}: its path is not UTF-8, so no plugin can be told of it; rename it"
        ) from error
    return root


def grant(root: Path, plan: ResolvedPlan | None, baseline: TestBaseline) -> CandidateGrant:
    """Return what a run grants: the real tree and the plan, when there is one [G-1, G-12]."""
    test = None if plan is None else plan.on_wire(baseline)
    return CandidateGrant(handle=HOST_TREE, root=str(root), test=test)


def leaves(root: Path, word: str) -> bool:
    """Return whether an argument names a path outside `root`, as written or as resolved [G-8].

    Of `--option=value` the value is looked at, of `path::node` the path.
    """
    if word.startswith("-"):
        word = word.partition("=")[2]
    name = word.partition("::")[0]
    if not name:
        return False
    typed = root / name
    # Either way in is enough: a link that leads out is unwatched for another reason [G-41].
    places = (os.path.normpath(typed), os.path.realpath(typed))
    return not any(Path(spot).is_relative_to(root) for spot in places)


def _not_found(program: str, path_value: str | None) -> str:
    message = f"test command: {searched(program, path_value)}"
    if found := near(program, _programs(path_value or "")):
        message += f"; did you mean {' or '.join(map(visible, found))}?"
    return message


def _programs(path_value: str) -> Iterator[str]:
    for entry in filter(os.path.isabs, path_value.split(os.pathsep)):
        try:
            listing = os.scandir(entry)
        except OSError:  # an entry that cannot be listed names no program
            continue
        with listing:
            yield from (i.name for i in listing if os.access(i.path, os.X_OK) and i.is_file())


def _missing(program: str, path: Path) -> str:
    return (
        f"test command: {visible(program)} does not exist yet ({visible(str(path))}); "
        "the run goes on, and the test was not seen before it"
    )


def _outside(word: str) -> str:
    return f"test command: {visible(word)} lies outside the workspace and is not watched"


def _shims(program: str, found: Path, root: Path, path_value: str) -> Iterator[str]:
    for entry in filter(os.path.isabs, path_value.split(os.pathsep)):
        if Path(entry) == found.parent:
            return
        spot = Path(os.path.realpath(entry), program)
        if spot.is_relative_to(root):
            yield str(spot.relative_to(root))
