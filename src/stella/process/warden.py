"""A program of its own: the fork server whose guards make sure that no child outlives the host.

The host starts it once, isolated, with one end of a socket pair as standard input. A message
of one byte and four descriptors (control socket, stdin, stdout, stderr) asks for one child. The
warden forks a *guard* for it, which starts the child, reports what becomes of it, adopts what it
leaves behind and ends all of it when the host says so or is gone: the end of the control socket
means both [T-30, T-33]. It imports nothing but the standard library and runs as a file.

A request on the control socket is its length, then NUL-separated: working directory, number of
arguments, arguments, `NAME=value` pairs. Then `TERMINATE` may follow. Reports are `REPORT` frames.
"""

import ctypes
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final
from typing import NoReturn

LENGTH: Final = struct.Struct("!Q")
REPORT: Final = struct.Struct("!cqqq")
TERMINATE: Final = b"T"

ACCEPTED: Final = b"A"  # the guard's process number; a child may come to be from here on
STARTED: Final = b"S"  # the child's process number, also that of its group and session
FAILED: Final = b"F"  # the system's error number; 1 when the working directory is at fault
EXITED: Final = b"X"  # the child is dead and not reaped: its number is still its own [T-31]
ENDED: Final = b"Z"  # raw wait status or UNKNOWN; others killed; others the system protects
UNKNOWN: Final = -1

PASSED: Final = 4  # control, stdin, stdout, stderr
UMASK: Final = 0o077  # [T-7]
PATIENCE_SECS: Final = 5.0  # how long guards may take once the host is gone

_ADOPT: Final = 36  # PR_SET_CHILD_SUBREAPER
_BLOCK: Final = 64 * 1024
_UNTOUCHED: Final = frozenset(
    (
        *(signal.SIGKILL, signal.SIGSTOP),
        # A handler would return into the faulting instruction, for ever.
        *(signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP),
    )
)


def shield() -> None:
    """Survive every signal that can be survived, in a way that children do not inherit.

    A handler becomes the default at exec while an ignored signal stays ignored; so this also
    undoes what the host ignores, such as SIGHUP under nohup [T-7].
    """
    for number in signal.valid_signals() - _UNTOUCHED:
        signal.signal(number, lambda *_: None)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def adopt() -> None:
    """Become the parent of every orphan below this process, where the system allows it [T-32]."""
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(_ADOPT, ctypes.c_ulong(1), *(ctypes.c_ulong(0),) * 3) != 0:
            raise OSError(ctypes.get_errno(), "this system does not let orphans be adopted")


def wakeups() -> socket.socket:
    """Return a socket that becomes readable when a signal arrives."""
    near, far = socket.socketpair()
    near.setblocking(False)
    far.setblocking(False)
    signal.set_wakeup_fd(far.detach(), warn_on_full_buffer=False)
    return near


def calm(wake: socket.socket) -> None:
    """Forget the wake-ups seen so far."""
    with suppress(BlockingIOError):
        while wake.recv(_BLOCK):
            pass


def descriptor_of(host: int) -> int | None:
    """Return a descriptor that is readable once `host`, our parent, is gone; None without one.

    It covers a host that forked: the copy holds its sockets open when the host dies.
    """
    with suppress(OSError):
        if sys.platform == "linux" and os.getppid() == host:
            return os.pidfd_open(host)
    return None


def listen(*sources: socket.socket | int | None) -> select.poll:
    """Return a poller of the sources that exist."""
    poller = select.poll()
    for source in sources:
        if source is not None:
            poller.register(source, select.POLLIN)
    return poller


def children() -> list[int]:
    """Return the process numbers of this process's own children, dead ones included."""
    me = os.getpid()
    # Not Linux, or a kernel without checkpoint support.
    with suppress(FileNotFoundError), open(f"/proc/{me}/task/{me}/children", "rb") as listed:  # noqa: PTH123 - pathlib would double the start-up time
        return [int(pid) for pid in listed.read().split()]
    with suppress(FileNotFoundError):
        return children_by_scan(me)
    return []


def children_by_scan(parent: int) -> list[int]:
    """Return the children of `parent` by reading the state of every process."""
    found: list[int] = []
    for name in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208 - as above
        # A process may be gone since it was listed.
        with suppress(FileNotFoundError, ProcessLookupError):
            with open(f"/proc/{name}/stat", "rb") as stat:  # noqa: PTH123 - as above
                after_name = stat.read().rpartition(b")")[2].split()
            found += [int(name)] * (int(after_name[1]) == parent)
    return found


def strike(pid: int, kill: Callable[[int, int], None] = os.kill) -> bool:
    """Kill our unreaped child `pid` and its group; return False when the system refuses.

    Not being reaped, the child keeps both numbers from being anybody else's. The group comes
    first: that stops what forks faster than it can be followed.
    """
    # macOS refuses a group of dead processes; the single signal decides.
    with suppress(PermissionError, ProcessLookupError):
        group = os.getpgid(pid)
        if group != os.getpgrp():
            kill(-group, signal.SIGKILL)
    try:
        kill(pid, signal.SIGKILL)
    except PermissionError:
        return False
    return True


class Guard:
    """One child, from its request to the moment when nothing of it is left.

    `host` is a descriptor that is readable once the host is gone, or None.
    """

    def __init__(self, control: socket.socket, host: int | None) -> None:
        self.control = control
        self.host = host
        self.wake = wakeups()

    def serve(self, *pipes: int) -> None:
        """Start the child the host asks for, watch it, end it and say how that went."""
        request = self.request()
        leader = self.start(request, *pipes) if request else None
        for pipe in pipes:
            os.close(pipe)
        if leader is None:
            return
        try:
            self.tell(STARTED, leader)
            self.watch(leader)
        finally:
            status, killed, left = end(leader)
        self.tell(ENDED, status, killed, left)

    def request(self) -> list[bytes] | None:
        """Return the fields of the request, or None when the host does not want it any more."""
        head = self.read(LENGTH.size)
        body = self.read(*LENGTH.unpack(head)) if head else None
        # A host that says more by now, or nothing more, does not want the child any more.
        if not body or listen(self.control).poll(0) or not self.tell(ACCEPTED, os.getpid()):
            return None
        return body.split(b"\0")

    def read(self, size: int) -> bytes | None:
        """Return exactly `size` bytes, or None when the stream ends before."""
        found = bytearray()
        with suppress(ConnectionError):
            while len(found) < size and (
                block := self.control.recv(min(size - len(found), _BLOCK))
            ):
                found += block
        return bytes(found) if len(found) == size else None

    def tell(self, kind: bytes, *numbers: int) -> bool:
        """Send one report; return False when there is nobody to hear it."""
        try:
            self.control.sendall(REPORT.pack(kind, *numbers, *(0,) * (3 - len(numbers))))
        except ConnectionError:
            return False
        return True

    def start(self, request: list[bytes], *pipes: int) -> int | None:
        """Start the child in a session of its own [T-3, T-6, T-7, T-10]; None when that failed."""
        cwd, count, *rest = request
        argv, pairs = rest[: int(count)], rest[int(count) :]
        try:
            child = subprocess.Popen(  # noqa: S603 - no shell; what runs is the host's decision
                argv,
                stdin=pipes[0],
                stdout=pipes[1],
                stderr=pipes[2],
                cwd=cwd,
                env={name: value for name, _, value in (p.partition(b"=") for p in pairs)},
                start_new_session=True,
                umask=UMASK,
            )
        except OSError as error:
            self.tell(FAILED, error.errno or 0, int(error.filename == cwd != argv[0]))
            return None
        child.returncode = 0  # the status is ours to collect, in the right order [T-31]
        return child.pid

    def hear(self, leader: int) -> bool:
        """Do what the host says; return False when it says that this is the end."""
        try:
            word = self.control.recv(_BLOCK)
        except ConnectionError:
            return False
        if TERMINATE in word:
            # What may not be signalled is found out, and reported, at the end.
            with suppress(PermissionError, ProcessLookupError):
                os.killpg(leader, signal.SIGTERM)
        return bool(word)

    if sys.platform == "darwin":

        def watch(self, leader: int) -> None:
            """Report the child's exit; return when the host wants an end of it."""
            queue = select.kqueue()
            exits = select.kevent(leader, select.KQ_FILTER_PROC, fflags=select.KQ_NOTE_EXIT)
            try:
                queue.control([exits], 0)
            except ProcessLookupError:  # it is dead already
                self.tell(EXITED)
            queue.control([select.kevent(self.control, select.KQ_FILTER_READ)], 0)
            while True:
                for event in queue.control(None, 1):
                    if event.filter == select.KQ_FILTER_PROC:
                        self.tell(EXITED)
                    elif not self.hear(leader):
                        return

    else:

        def watch(self, leader: int) -> None:
            """Report the child's exit; return when the host wants an end of it."""
            poller = listen(self.control, self.wake, self.host)
            exited = False
            while True:
                ready = {number for number, _ in poller.poll()}
                calm(self.wake)
                if self.host in ready:
                    return
                if self.control.fileno() in ready and not self.hear(leader):
                    return
                if not exited and self.dead(leader):
                    exited = self.tell(EXITED)

        def dead(self, leader: int) -> bool:
            """Return whether `leader` is dead, not reaping it; reap dead orphans on the way."""
            while True:
                seen = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
                if seen is None or seen.si_pid == leader:
                    return seen is not None
                os.waitpid(seen.si_pid, 0)


def end(leader: int, kill: Callable[[int, int], None] = os.kill) -> tuple[int, int, int]:
    """Kill and reap the child's group and all that came to us as its parents died [T-30, T-32].

    Returns the child's raw wait status, how many others died of it, and how many the system
    did not let us kill. The group is hit before the child is reaped [T-31].
    """
    status, killed = UNKNOWN, 0
    while True:
        mine = children() or [leader] * (status == UNKNOWN)
        refused = [pid for pid in mine if not strike(pid, kill)]
        # With one of ours dying, waiting ends; otherwise it might not.
        patience = os.WNOHANG if len(refused) == len(mine) else 0
        try:
            pid, raw = os.waitpid(-1, patience)
        except ChildProcessError:
            return status, killed, 0
        if pid == leader:
            status = raw
        elif pid:
            killed += os.WIFSIGNALED(raw) and os.WTERMSIG(raw) == signal.SIGKILL
        else:
            return status, killed, len(refused)


class Warden:
    """Forks a guard for each request, and cleans up after a guard that was murdered."""

    def __init__(self, requests: socket.socket, host: int | None) -> None:
        self.requests = requests
        self.host = host
        self.wake = wakeups()
        self.guards: dict[int, int] = {}  # process number: our copy of its control socket
        self.bereft: list[int] = []  # control sockets of guards that left something behind

    def serve(self) -> None:
        """Work until the host is gone."""
        poller = listen(self.requests, self.wake, self.host)
        while True:
            ready = {number for number, _ in poller.poll()}
            calm(self.wake)
            self.reap()
            if self.host in ready:
                return
            if self.requests.fileno() in ready and not self.take():
                return

    def take(self) -> bool:
        """Take one request; return False when the host has closed its side."""
        try:
            word, passed, _, _ = socket.recv_fds(self.requests, 1, PASSED)
        except ConnectionError:
            return False
        if len(passed) == PASSED:
            self.fork(*passed)
        else:  # out of descriptors; the loss of its control socket tells the host
            for number in passed:
                os.close(number)
        return bool(word)

    def fork(self, control: int, *pipes: int) -> None:
        """Fork the guard; of its child keep nothing but a copy of the control socket."""
        try:
            pid = os.fork()
        except OSError as error:
            with suppress(ConnectionError):  # the host may be gone as well
                os.write(control, REPORT.pack(FAILED, error.errno or 0, 0, 0))
            os.close(control)
        else:
            if pid == 0:
                self.guard(control, *pipes)
            self.guards[pid] = control
        for number in pipes:
            os.close(number)

    def guard(self, control: int, *pipes: int) -> NoReturn:
        """Be the guard: let go of everything that is the warden's, serve, exit."""
        code = 1
        try:
            os.setsid()  # so that no child can join our group
            adopt()
            os.close(signal.set_wakeup_fd(-1))
            self.wake.close()
            self.requests.close()
            for number in (*self.guards.values(), *self.bereft):
                os.close(number)
            Guard(socket.socket(fileno=control), self.host).serve(*pipes)
            code = 0
        finally:
            os._exit(code)

    def reap(self) -> None:
        """Reap what is dead; kill what a murdered guard left, which has come to us [T-32].

        Our copy of such a guard's control socket is closed only when nothing is left, so that
        the host hears of an end when it is one.
        """
        with suppress(ChildProcessError):
            while (reaped := os.waitpid(-1, os.WNOHANG))[0]:
                control = self.guards.pop(reaped[0], None)
                if control is not None and reaped[1] == 0:
                    os.close(control)
                elif control is not None:
                    self.bereft.append(control)
        if self.bereft and not self.sweep():
            while self.bereft:
                os.close(self.bereft.pop())

    def sweep(self) -> bool:
        """Kill our children that are no guards; return whether some are still dying."""
        struck = [strike(pid) for pid in children() if pid not in self.guards]
        return any(struck)

    def close(self) -> None:
        """Let the guards end what they guard, then kill whatever is left."""
        until = time.monotonic() + PATIENCE_SECS
        while self.guards and (left := until - time.monotonic()) > 0:
            listen(self.wake).poll(left * 1000)
            calm(self.wake)
            self.reap()
        self.guards.clear()
        while self.sweep():
            os.waitpid(-1, 0)


def main() -> NoReturn:
    """Serve the host whose process number is the only argument."""
    shield()
    adopt()
    requests = socket.socket(fileno=os.dup(0))
    os.dup2(1, 0)  # standard output leads nowhere, both ways
    warden = Warden(requests, descriptor_of(int(sys.argv[1])))
    warden.serve()
    requests.close()
    warden.close()
    os._exit(0)


if __name__ == "__main__":
    main()
