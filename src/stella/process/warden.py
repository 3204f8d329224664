"""A program of its own: the fork server whose guards make sure that no child outlives the host.

The host starts it once with one end of a socket pair as standard input. A message of one byte and
four descriptors (control socket, stdin, stdout, stderr) asks for one child. A *guard*, forked ahead
when there is time, starts it, reports what becomes of it, adopts what it leaves and ends all of it
at the end of the control socket: the host said so or is gone [T-30, T-33]. Standard library only.

A request on the control socket is its length, then NUL-separated: working directory, umask,
number of arguments, arguments, `NAME=value` pairs. `TERMINATE` may follow. Reports: `REPORT`.
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
EXITED: Final = b"X"  # the child is dead; it is not reaped while something of it is left [T-31]
ENDED: Final = b"Z"  # raw wait status or UNKNOWN; others killed; others the system protects
UNKNOWN: Final = -1
PASSED: Final = 4  # control, stdin, stdout, stderr
ADOPT: Final = 36  # PR_SET_CHILD_SUBREAPER: be the parent of every orphan below [T-32]
FOLLOW: Final = 1  # PR_SET_PDEATHSIG: get this signal when the parent dies
_BLOCK: Final = 64 * 1024
_LIBC: Final = ctypes.CDLL(None)
# A handler of these would return into the faulting instruction, for ever.
_FAULTS: Final = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP}


def shield() -> None:
    """Survive every signal that can be. Handlers, not SIG_IGN, become defaults at exec [T-7]."""
    for number in signal.valid_signals() - _FAULTS - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, lambda *_: None)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def demand(option: int, value: int) -> None:
    """Have the system treat this process so. Only Linux can; there it must."""
    words = map(ctypes.c_ulong, (value, 0, 0, 0))
    if sys.platform == "linux" and _LIBC.prctl(option, *words):
        raise OSError(f"this system refuses the process option {option}")


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
        wake.recv(_BLOCK)


def descriptor_of(host: int) -> int | None:
    """Return what is readable once our parent `host` is gone: its sockets may live in a copy."""
    with suppress(OSError):
        if sys.platform == "linux" and os.getppid() == host:
            return os.pidfd_open(host)
    return None


def listen(*sources: socket.socket | int | None) -> select.poll:
    """Return a poller of the sources that exist."""
    poller = select.poll()
    for source in (each for each in sources if each is not None):
        poller.register(source, select.POLLIN)
    return poller


def children() -> list[int]:
    """Return our own children, dead ones included. macOS has no such list, and no orphans."""
    with suppress(FileNotFoundError), open("/proc/thread-self/children", "rb") as listed:  # noqa: PTH123 - pathlib would double the start-up time
        return [int(pid) for pid in listed.read().split() if ours(int(pid))]
    return children_by_scan() if os.path.isdir("/proc") else []  # noqa: PTH112 - as above


def children_by_scan() -> list[int]:
    """Return the same as `children`, by asking about every process there is."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and ours(int(name))]  # noqa: PTH208 - as above


def ours(pid: int) -> bool:
    """Return whether `pid` is our child: the numbers in /proc may be those of another container."""
    with suppress(ChildProcessError):
        if sys.platform != "darwin":
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            return True
    return False


def reap(*, wait: bool) -> list[tuple[int, int]]:
    """Reap the dead and return them with their raw status; ChildProcessError: no children."""
    found = [os.waitpid(-1, 0 if wait else os.WNOHANG)]
    with suppress(ChildProcessError):
        while found[-1][0]:
            found.append(os.waitpid(-1, os.WNOHANG))
    return [(pid, status) for pid, status in found if pid]


def strike(pid: int, kill: Callable[[int, int], None] = os.kill) -> bool:
    """Kill our unreaped child `pid` and its group; return False when the system refuses.

    Being unreaped, the child keeps both numbers its own. The group first: that stops what forks
    faster than it can be followed. macOS refuses a dead group: the second signal decides.
    """
    with suppress(PermissionError, ProcessLookupError):
        if (group := os.getpgid(pid)) != os.getpgrp():
            kill(-group, signal.SIGKILL)
    with suppress(PermissionError):
        kill(pid, signal.SIGKILL)
        return True
    return False


class Guard:
    """One child, from its request to the moment when nothing of it is left."""

    def __init__(self, host: int | None) -> None:
        self.host = host
        self.wake = wakeups()

    def serve(self, control: int, *pipes: int) -> None:
        """Start the child the host asks for, watch it, end it and say how that went."""
        self.control: socket.socket = socket.socket(fileno=control)
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
        # A host that has more to say, or nothing, does not want the child any more.
        if not body or listen(self.control).poll(0):
            return None
        self.tell(ACCEPTED, os.getpid())
        demand(FOLLOW, 0)  # from here on the host knows whom to wake
        return body.split(b"\0")

    def read(self, size: int) -> bytes | None:
        """Return exactly `size` bytes, or None when the stream ends before."""
        found = bytearray()
        with suppress(ConnectionError):
            while size > len(found) and (block := self.control.recv(size - len(found))):
                found += block
        return bytes(found) if len(found) == size else None

    def tell(self, kind: bytes, *numbers: int) -> None:
        """Send one report; a host that is gone is noticed elsewhere."""
        with suppress(ConnectionError):
            self.control.sendall(REPORT.pack(kind, *numbers, *(0,) * (3 - len(numbers))))

    def start(self, request: list[bytes], *pipes: int) -> int | None:
        """Start the child in a session of its own [T-3, T-6, T-7, T-10]; None when that failed."""
        cwd, umask, count, *rest = request
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
                umask=int(umask),
            )
        except OSError as error:
            self.tell(FAILED, error.errno or 0, int(error.filename == cwd != argv[0]))
            return None
        child.returncode = 0  # the status is ours to collect, in the right order [T-31]
        return child.pid

    def hear(self, leader: int) -> bool:
        """Do what the host says; return False when it says that this is the end."""
        word = b""
        with suppress(ConnectionError, PermissionError, ProcessLookupError):  # the end will tell
            word = self.control.recv(_BLOCK)
            if TERMINATE in word:
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
                if self.host in ready or (self.control.fileno() in ready and not self.hear(leader)):
                    return
                if not exited and self.dead(leader):
                    exited = True
                    self.tell(EXITED)
                    if children() == [leader]:  # nothing is left that could hold a pipe
                        return

        def dead(self, leader: int) -> bool:
            """Return whether `leader` is dead, not reaping it; reap dead orphans on the way."""
            while True:
                seen = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
                if seen is None or seen.si_pid == leader:
                    return seen is not None
                os.waitpid(seen.si_pid, 0)


def end(leader: int, kill: Callable[[int, int], None] = os.kill) -> tuple[int, int, int]:
    """Kill and reap a tree; return its raw status, others killed, others protected [T-30, T-32]."""
    status, killed, wait = UNKNOWN, 0, False
    strike(leader, kill)
    while True:
        try:
            found = dict(reap(wait=wait))
        except ChildProcessError:
            return status, killed, 0
        if found:
            status, wait = found.pop(leader, status), False
            killed += list(found.values()).count(signal.SIGKILL)  # it is a raw status as it is
            continue
        mine = children() or [leader] * (status == UNKNOWN)
        refused = [pid for pid in mine if not strike(pid, kill)]
        if not (wait := len(refused) < len(mine)):  # with one of ours dying, waiting ends
            return status, killed, len(refused)


class Warden:
    """Forks a guard for each request, and cleans up after a guard that was murdered."""

    def __init__(self, requests: socket.socket, host: int | None, patience: float) -> None:
        self.requests = requests
        self.host = host
        self.patience = patience  # seconds that guards have once the host is gone
        self.wake = wakeups()
        self.guards: dict[int, int] = {}  # process number: our copy of its control socket
        self.bereft: list[int] = []  # control sockets of guards that left something behind
        self.idle: dict[int, socket.socket] = {}  # a guard without a child yet: our line to it

    def serve(self) -> None:
        """Work until the host is gone and everything with it."""
        poller = listen(self.requests, self.wake, self.host)
        wanted = True
        while wanted:
            ready = {number for number, _ in poller.poll()}
            calm(self.wake)
            ended = self.reap()
            taken = self.requests.fileno() not in ready or self.take()
            wanted = taken and self.host not in ready
            if ended and wanted and not self.idle:  # the next child need not wait for a fork
                with suppress(OSError):
                    self.idle.update([self.spawn()])
        self.close()

    def take(self) -> bool:
        """Take one request; return False when the host has closed its side."""
        word, passed = b"", list[int]()
        with suppress(ConnectionError):
            word, passed, _, _ = socket.recv_fds(self.requests, 1, PASSED)
        try:
            if len(passed) == PASSED:
                self.hand_over(*passed)
        except OSError as error:
            with suppress(ConnectionError):  # the host may be gone as well
                os.write(passed[0], REPORT.pack(FAILED, error.errno or 0, 0, 0))
        for number in passed:  # without a guard, the loss of its control socket tells the host
            os.close(number)
        return bool(word)

    def hand_over(self, control: int, *pipes: int) -> None:
        """Give the child to a guard; of it keep nothing but a copy of the control socket."""
        pid, line = self.idle.popitem() if self.idle else self.spawn(control, *pipes)
        with line, suppress(ConnectionError):  # it was killed, which `reap` will see
            self.guards[pid] = os.dup(control)
            socket.send_fds(line, [b"+"], [control, *pipes])
            os.kill(pid, signal.SIGCONT)  # somebody may have stopped it while it waited

    def spawn(self, *open_here: int) -> tuple[int, socket.socket]:
        """Fork a guard that waits for its child; return its number and our line to it."""
        line, far = socket.socketpair()
        with far:
            if (pid := os.fork()) == 0:  # when it fails, `line` closes on its way out
                line.close()
                self.guard(far, *self.guards.values(), *self.bereft, *open_here)
        return pid, line

    def guard(self, line: socket.socket, *foreign: int) -> NoReturn:
        """Be a guard: let go of everything that is the warden's, wait, serve, exit."""
        code = 1
        try:
            demand(ADOPT, 1)
            demand(FOLLOW, signal.SIGKILL)  # which ends even one that somebody has stopped
            held = (self.wake, self.requests, *self.idle.values())
            for number in (signal.set_wakeup_fd(-1), *foreign, *(each.detach() for each in held)):
                os.close(number)
            guard = Guard(self.host)
            if not listen(line).poll(0):  # what a fork touches first is copied then: do it now
                with suppress(OSError):  # there is no such directory, and so nothing starts
                    subprocess.Popen("/", cwd="", umask=0, start_new_session=True)
            with line:
                passed = socket.recv_fds(line, 1, PASSED)[1]
            if len(passed) == PASSED:  # else there is nothing to guard any more
                guard.serve(*passed)
            code = 0
        finally:
            os._exit(code)

    def reap(self) -> bool:
        """Reap what is dead and return whether a guard is; kill what a murdered one left [T-32].

        Its control socket is closed only then, so that the host hears of an end when it is one.
        """
        before = len(self.guards)
        with suppress(ChildProcessError):
            for pid, status in reap(wait=False):
                if pid in self.idle:
                    self.idle.pop(pid).close()
                elif (control := self.guards.pop(pid, None)) is not None:
                    os.close(control) if status == 0 else self.bereft.append(control)
        if self.bereft and not self.sweep():
            while self.bereft:
                os.close(self.bereft.pop())
        return len(self.guards) < before

    def sweep(self) -> bool:
        """Kill our children that are no guards; return whether some are still dying."""
        guards = self.guards | self.idle
        return True in [strike(pid) for pid in children() if pid not in guards]

    def close(self) -> None:
        """Let the guards end what they guard, then kill whatever is left."""
        until = time.monotonic() + self.patience
        while self.guards and (left := until - time.monotonic()) > 0:
            listen(self.wake).poll(left * 1000)
            calm(self.wake)
            self.reap()
        self.guards, self.idle = {}, {}
        while self.sweep():
            reap(wait=True)


def main() -> NoReturn:
    """Serve the host. Arguments: its process number, our patience in seconds."""
    shield()
    demand(ADOPT, 1)
    requests = socket.socket(fileno=os.dup(0))
    os.dup2(1, 0)  # standard output leads nowhere, both ways
    Warden(requests, descriptor_of(int(sys.argv[1])), float(sys.argv[2])).serve()
    os._exit(0)


if __name__ == "__main__":
    main()
