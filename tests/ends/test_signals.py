"""A signal ends a run in order: nothing goes on running, and the journal says who ended it.

What is being done at that moment is mostly of the stubborn kind: it ignores every polite signal
and has a child in a session of its own.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest

from tests.making.ends import HONEST
from tests.making.ends import STUBBORN
from tests.making.ends import TEST
from tests.making.ends import Json
from tests.making.ends import Place
from tests.making.ends import asks
from tests.making.ends import granted
from tests.making.ends import one_object
from tests.making.ends import place
from tests.making.ends import says
from tests.making.ends import works
from tests.making.plugins import arbiter
from tests.making.processes import eventually

WILLING: Final = """\
import pathlib, time
pathlib.Path({flag!r}).touch()
time.sleep(600)
"""
ON_TERMINAL: Final = """\
import fcntl, os, sys, termios
os.setsid()
terminal = os.open(sys.argv[1], os.O_RDWR)
fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
for number in (0, 1, 2):
    os.dup2(terminal, number)
os.close(terminal)
os.execv(sys.executable, [sys.executable, "-m", "stella", *sys.argv[2:]])
"""
"""The command, on a terminal that is its own."""
DELAYS: Final = 12
MOMENTS: Final = ("model", "tool", "plugin", "baseline")
SIGNALS: Final = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 143}


@contextmanager
def busy(where: Place, moment: str, program: str = STUBBORN) -> Iterator[subprocess.Popen[bytes]]:
    """Start a run and yield it when it is at the moment, at which `program` works."""
    flag = where.root.parent / "flag"
    stubborn = program.format(flag=str(flag))
    words: tuple[str, ...] = ()
    where.scripted(works(), says())
    match moment:
        case "model":
            where.scripted(works(), says(delay_ms=600_000))
        case "tool":
            (where.root / "stubborn.py").write_text(stubborn, "utf-8")
            where.scripted(asks("bash", command="python3 -S stubborn.py"), says())
        case "plugin":
            where.install(arbiter(where.root.parent / "judge", stubborn, timeout=60))
            words = granted("judge")
        case _:
            where.install(arbiter(where.root.parent / "judge", HONEST))
            (where.root / "check.py").write_text(stubborn, "utf-8")
            words = granted("judge")
    with (
        errors(where).open("wb") as log,
        where.started("run", "go", *where.asked, *words, stderr=log) as process,
    ):
        try:
            eventually(lambda: asked_twice(where) if moment == "model" else flag.exists())
            yield process
        finally:
            process.kill()


def errors(where: Place) -> Path:
    """Where standard error goes, so that it can be looked at while the run goes on."""
    return where.root.parent / "stderr"


def asked_twice(where: Place) -> bool:
    return any(path.read_bytes().count(b'"model_request"') == 2 for path in where.journals())


def ended(where: Place, process: subprocess.Popen[bytes], by: signal.Signals) -> Json:
    """Wait for the end, which must be in order, and return the result."""
    out, _ = process.communicate(timeout=15)
    assert where.left(process.pid) == []
    err = errors(where).read_text("utf-8")
    assert process.returncode == SIGNALS[by], err
    assert f"cancelling ({by.name}); once more ends at once" in err
    assert "Traceback" not in err
    assert where.whole()
    done = where.told("run_ended")[0]
    assert (done["status"], done["exit_code"]) == ("cancelled", SIGNALS[by])
    assert where.records()[-1]["type"] == "session_closed"
    result = one_object(out.decode())
    assert (result["status"], result["exit_code"]) == ("cancelled", SIGNALS[by])
    return result


@pytest.mark.behaviour("T-25", "T-34")
@pytest.mark.behaviour("K-149", "A8")
@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_run_whatever_it_is_doing(
    tmp_path: Path, moment: str, by: signal.Signals
) -> None:
    """[S-10, S-12, E-113, T-25]"""
    where = place(tmp_path)
    with busy(where, moment, STUBBORN if by is signal.SIGINT else WILLING) as process:
        process.send_signal(by)
        result = ended(where, process, by)
    outcome = (result["outcome"]["turn_status"], result["outcome"]["cause"])
    turns = [(turn["status"], turn.get("text")) for turn in where.told("turn_ended")]
    match moment:
        case "baseline":
            assert (outcome, turns) == ((None, None), [])
            assert result["rounds"] == 0
        case "plugin":
            assert (outcome, turns) == (("completed", None), [("completed", "Done.")])
            (fault,) = result["faults"]
            assert (fault["fault"], fault["point"]) == ("Cancelled", "after_turn")
            assert where.told("verdict") == []
        case _:
            assert outcome == ("cancelled", "cancel")
            assert turns == [("cancelled", f"cancelled by {by.name}")]
    if moment == "tool":
        (call,) = where.told("tool_finished")
        assert call["output"]["error"]["message"] == "cancelled; its effect is unknown"


@pytest.mark.parametrize("moment", ["tool", "plugin", "baseline"])
def test_a_second_signal_ends_at_once_and_as_orderly(tmp_path: Path, moment: str) -> None:
    """[S-12, E-115] While the model is asked the first has ended it already."""
    where = place(tmp_path)
    with busy(where, moment) as process:
        process.send_signal(signal.SIGINT)
        eventually(lambda: "cancelling" in errors(where).read_text("utf-8"))
        process.send_signal(signal.SIGINT)
        ended(where, process, signal.SIGINT)


def test_a_hang_up_is_a_termination(tmp_path: Path) -> None:
    """[S-12]"""
    where = place(tmp_path)
    with busy(where, "tool") as process:
        process.send_signal(signal.SIGHUP)
        ended(where, process, signal.SIGHUP)


def test_a_terminal_that_is_closed_ends_the_run_in_order(tmp_path: Path) -> None:
    """[S-12] Nothing can be said any more, and everything is written down all the same."""
    where = place(tmp_path)
    (where.root / "willing.py").write_text(WILLING.format(flag=str(tmp_path / "flag")), "utf-8")
    where.scripted(works(), asks("bash", command="python3 -S willing.py"), says())
    terminal, end = os.openpty()
    command = (sys.executable, "-c", ON_TERMINAL, os.ttyname(end))
    with where.started("run", "go", *where.asked, command=command) as process:
        os.close(end)
        eventually((tmp_path / "flag").exists)
        os.close(terminal)
        process.communicate(timeout=15)
    assert where.left(process.pid) == []
    assert process.returncode == 143
    assert where.told("turn_ended")[0]["text"] == "cancelled by SIGHUP"
    assert where.told("run_ended")[0]["exit_code"] == 143
    assert where.whole()


def test_the_first_of_two_different_signals_is_the_one_that_counts(tmp_path: Path) -> None:
    """[S-12]"""
    where = place(tmp_path)
    with busy(where, "plugin") as process:
        process.send_signal(signal.SIGTERM)
        eventually(lambda: "cancelling" in errors(where).read_text("utf-8"))
        process.send_signal(signal.SIGINT)
        ended(where, process, signal.SIGTERM)


def test_a_signal_at_any_time_is_told_as_what_it_was(tmp_path: Path) -> None:
    """[S-11, S-12] Before the run began there is nothing to tell; once it is over it is over."""
    where = place(tmp_path)
    where.install(arbiter(tmp_path / "judge", HONEST))
    where.scripted(works("41"), says(), works(), says())
    words = ("run", "go", *where.asked, *granted("judge"))
    began = time.monotonic()
    assert where.stella(*words).code == 0
    whole = time.monotonic() - began
    for number in range(DELAYS):
        (where.root / "answer.txt").unlink(missing_ok=True)
        with where.started(*words) as process:
            with suppress(subprocess.TimeoutExpired):
                process.wait(whole * number / (DELAYS - 1))
            process.send_signal(signal.SIGTERM)
            out, err = process.communicate(timeout=15)
        assert where.left(process.pid) == []
        status = one_object(out.decode())["status"] if out else None
        came = (process.returncode, status)
        assert came in {(-signal.SIGTERM, None), (143, "cancelled"), (0, "met")}, err.decode()
    assert where.whole()


def test_a_run_after_a_cancelled_one_works(tmp_path: Path) -> None:
    """[D-14]"""
    where = place(tmp_path)
    with busy(where, "tool") as process:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=15)
    where.install(arbiter(tmp_path / "judge", HONEST))
    where.scripted(works(), says())
    done = where.run("--pipeline", "judge", "--test-command", TEST)
    assert (done.code, done.result["status"]) == (0, "met")
