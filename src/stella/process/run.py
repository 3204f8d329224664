"""The one place where a child process starts, and the one place where it is certain to end.

Every child of every kind comes through `run`: no shell, an exact environment, a session of
its own, all pipes served at once, one deadline, and nothing of its tree left when it returns
[T-3 to T-8, T-16 to T-32, T2-40 to T2-44].
"""

import asyncio
import errno
from collections.abc import Mapping
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from stella import limits
from stella.escape import visible
from stella.process.door import DOOR
from stella.process.ending import Completed
from stella.process.ending import Ending
from stella.process.life import Life
from stella.process.life import Terms
from stella.process.line import request
from stella.process.pipes import Meter
from stella.process.pipes import connect
from stella.process.talk import Child
from stella.process.talk import Talk


async def run(  # noqa: PLR0913 - each is a term of one contract, and all but two have a default
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: str | Path,
    timeout: float | None,  # noqa: ASYNC109 - it bounds the child, not the waiting: T-22
    stdin: bytes = b"",
    talk: Talk | None = None,
    cap: int = limits.CONVERSATION_BYTES,
    polite: bool = False,
    merge: bool = False,
    keep: int | None = None,
    umask: int = limits.UMASK,
    grace: float = limits.KILL_GRACE_SECS,
) -> Completed:
    """Run one child to its end and return how that came and what it said.

    `argv[0]` is an absolute path [T-3]; `env` is the whole environment [T-10]; `timeout` are
    seconds from the start to the exit [T-22], after which everything is killed, when `polite`
    after SIGTERM and `grace` seconds [T2-44]; None is no deadline [D-73]. `talk` runs beside the
    child; without one `stdin` is written and closed. All output is drained; more than `cap`
    bytes of it end the child [T-24]. With `keep` there is no cap and the last `keep` bytes of
    each stream stay. `merge` sends stderr into stdout; `umask` is what files the child makes are
    not [T-7]. The result is taken at the child's own exit, plus at most a second for what is in
    the pipes, whoever else holds them [T-26].

    Raises ValueError for an `argv[0]` that is not absolute; what the talk raises; and
    CancelledError, after SIGTERM, the grace and SIGKILL [T-25, D-74]. Whatever the path, nothing of
    the child's tree runs any more [T-30].
    """
    if not argv or not argv[0].startswith("/"):
        raise ValueError("argv must begin with the absolute path of a program")
    loop = asyncio.get_running_loop()
    began = loop.time()
    try:
        wanted = request(str(cwd), argv, env.items(), umask)
    except ValueError as error:
        return _refused(argv[0], str(error), errno.EINVAL)
    terms = Terms(
        program=argv[0],
        cwd=str(cwd),
        request=wanted,
        talk=talk or partial(_feed, stdin),
        began=began,
        deadline=None if timeout is None else began + timeout,
        polite=polite,
        grace=grace,
    )
    cap_or_none = cap if keep is None else None
    for _ in range(2):
        try:
            done = await _attempt(terms, Meter(cap_or_none), keep=keep, merge=merge)
        except OSError as error:
            return _refused(argv[0], str(error), error.errno)
        if done is not None:
            return done
    return _refused(argv[0], "no guard took it: they were killed, or there are no descriptors")


async def _attempt(
    terms: Terms, meter: Meter, *, keep: int | None, merge: bool
) -> Completed | None:
    """Try once; None when no guard took the child: it never ran and may be tried again."""
    with ExitStack() as ours:
        warden = DOOR.warden()
        with ExitStack() as theirs:
            ends = connect(ours, theirs, meter=meter, keep=keep, merge=merge)
            life = Life(terms, ends, meter)
            ours.callback(life.close)
            try:
                await warden.hand_over(*ends.theirs)
            except ConnectionError:
                DOOR.replace(warden)
                return None
        done = await life.live(warden)
    if done is None:
        DOOR.replace(warden)
    return done


async def _feed(data: bytes, child: Child) -> None:
    """The talk of a child that is only told something."""
    await child.send(data)


def _refused(program: str, reason: str, number: int | None = None) -> Completed:
    return Completed(
        ending=Ending.NOT_STARTED,
        reason=f"{visible(program)}: could not be started: {visible(reason)}",
        errno=number,
    )
