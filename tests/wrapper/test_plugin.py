"""A plugin as a real process: every way in which it can fail is one named silence [W-50]."""

import asyncio
import os
import time
import uuid
from dataclasses import replace
from pathlib import Path

import pytest

from stella import limits
from stella.process.program import Program
from stella.wire.after_turn import AfterTurnAnswer
from stella.wire.after_turn import AfterTurnRequest
from stella.wire.after_turn import TurnOutcome
from stella.wire.evidence import Flip
from stella.wire.silence import FaultCode
from stella.wire.silence import Silence
from stella.wrapper.plugin import PluginProcess
from stella.wrapper.plugin import Spoken
from tests.making.plugins import ACHIEVED
from tests.making.plugins import alive

REQUEST = AfterTurnRequest(
    protocol_version=1,
    wrapper="judge",
    round=0,
    goal="go",
    turn=TurnOutcome(completed=True),
)
ANSWER = f"print({ACHIEVED!r})\n"


def plugin(folder: Path, program: str, *, timeout: int = 20, mark: str = "") -> PluginProcess:
    (folder / "main.py").write_text(program, "utf-8")
    return PluginProcess(
        name="judge",
        arguments=("python3", "-I", "-S", str(folder / "main.py"), mark),
        directory=folder,
        env={"PATH": os.environ["PATH"]},
        timeout_secs=timeout,
        cleared=lambda: Program(path="/usr/bin/env"),
    )


def version(number: int) -> str:
    return "print(" + repr(ACHIEVED.replace('_version":1', f'_version":{number}')) + ")\n"


def asked(process: PluginProcess) -> Spoken:
    return asyncio.run(process.ask(REQUEST))


def silence(process: PluginProcess) -> Silence:
    answer = asked(process).answer
    assert isinstance(answer, Silence), answer
    return answer


def test_a_good_answer_is_heard(tmp_path: Path) -> None:
    spoken = asked(plugin(tmp_path, ANSWER))
    assert isinstance(spoken.answer, AfterTurnAnswer)
    assert spoken.answer.evidence.flip is Flip.ACHIEVED
    assert spoken.notice is None


@pytest.mark.behaviour("T-18")
@pytest.mark.behaviour("W-15")
def test_every_request_has_a_process_of_its_own(tmp_path: Path) -> None:
    """[T-4, D-15] It tells its number; nothing it kept is there the second time."""
    told = ACHIEVED.replace('"test-command-exit-code":0', '"process":%d')
    process = plugin(tmp_path, f"import os\nprint({told!r} % os.getpid())\n")
    answers = [asked(process).answer for _ in range(2)]
    numbers = set()
    for answer in answers:
        assert isinstance(answer, AfterTurnAnswer)
        numbers.add(answer.evidence.measurements["process"])
    assert len(numbers) == 2


@pytest.mark.behaviour("K-39", "B11")
def test_a_plugin_that_reads_to_the_end_of_stdin_gets_it(tmp_path: Path) -> None:
    """[T-18]"""
    program = f"import sys\nassert sys.stdin.read().endswith('\\n')\n{ANSWER}"
    assert isinstance(asked(plugin(tmp_path, program)).answer, AfterTurnAnswer)


@pytest.mark.behaviour("K-38", "E109")
def test_a_plugin_that_never_reads_is_heard(tmp_path: Path) -> None:
    """[T-16, T-21]"""
    assert isinstance(asked(plugin(tmp_path, ANSWER)).answer, AfterTurnAnswer)


@pytest.mark.behaviour("B8", "E107")
def test_an_unread_request_of_many_megabytes_is_no_failure(tmp_path: Path) -> None:
    process = plugin(tmp_path, ANSWER)
    request = AfterTurnRequest(
        protocol_version=1,
        wrapper="judge",
        round=0,
        goal="x" * limits.CONVERSATION_BYTES,
        turn=TurnOutcome(completed=True),
    )
    assert isinstance(asyncio.run(process.ask(request)).answer, AfterTurnAnswer)


@pytest.mark.behaviour("K-37")
def test_what_follows_the_answer_is_drained_and_ignored(tmp_path: Path) -> None:
    """[T-20, W-54]"""
    program = f"{ANSWER}print('x' * 200_000)\nprint({ACHIEVED!r})\n"
    assert isinstance(asked(plugin(tmp_path, program)).answer, AfterTurnAnswer)


@pytest.mark.parametrize(
    ("program", "code", "words"),
    [
        ("raise SystemExit(7)\n", FaultCode.EXIT, ("code 7",)),
        ("import os\nos.kill(os.getpid(), 9)\n", FaultCode.EXIT, ("signal 9",)),
        ("import sys\nsys.exit('no luck')\n", FaultCode.EXIT, ("code 1", "stderr: no luck")),
        (f"{ANSWER}raise SystemExit(3)\n", FaultCode.EXIT, ("code 3", "after a valid answer")),
        ("", FaultCode.NO_RESPONSE, ("without an answer",)),
        ("print('{\"point\":')\n", FaultCode.NO_RESPONSE, ("cut off",)),
        (
            f"import sys\nprint({ACHIEVED!r}, file=sys.stderr)\n",
            FaultCode.NO_RESPONSE,
            ("your answer went to stderr",),
        ),
        ("print('starting')\n" + ANSWER, FaultCode.DECODE, ("starting",)),
        ("print('{\"a\":1}')\n", FaultCode.DECODE, ("mixed-message",)),
        ("print('[' * 65)\n", FaultCode.DECODE, ("too-deep",)),
        (
            f"print({ACHIEVED.replace('achieved', 'met')!r})\n",
            FaultCode.DECODE,
            ("unknown-token", "body.evidence.flip"),
        ),
        (
            f"print({ACHIEVED.replace('flip', 'verdict')!r})\n",
            FaultCode.DECODE,
            ("unknown-key", "body.evidence.verdict"),
        ),
        (
            'print(\'{"point":"before_turn","body":{"protocol_version":1}}\')\n',
            FaultCode.POINT_MISMATCH,
            ("asked after_turn", "answered before_turn"),
        ),
        (
            version(99),
            FaultCode.PROTOCOL_VERSION,
            ("99", "speaks 1"),
        ),
        (
            (
                'print(\'{"call":"recall","id":1,"args":{"goal":"x"}}\', flush=True)\n'
                "import time\ntime.sleep(60)\n"
            ),
            FaultCode.UNANNOUNCED_CALL,
            ("recall",),
        ),
        (
            "print('garbage', flush=True)\nimport time\ntime.sleep(60)\n",
            FaultCode.DECODE,
            ("garbage",),
        ),
    ],
)
@pytest.mark.behaviour(
    *("K-30", "K-36", "K-40", "A16", "C11", "D1", "D4"),
    *("E110", "E121", "E122", "F142", "F143"),
)
def test_every_failure_is_one_named_silence(
    tmp_path: Path, program: str, code: FaultCode, words: tuple[str, ...]
) -> None:
    """[W-50, W-52]"""
    heard = silence(plugin(tmp_path, program))
    assert heard.code is code
    assert heard.message.startswith("judge after_turn: ")
    for word in words:
        assert word in heard.message


def test_version_zero_is_accepted(tmp_path: Path) -> None:
    """[W-11]"""
    program = version(0)
    assert isinstance(asked(plugin(tmp_path, program)).answer, AfterTurnAnswer)


@pytest.mark.behaviour("T-4")
def test_every_point_has_a_process_of_its_own(tmp_path: Path) -> None:
    """[T-4] Nothing of one asking is there in the next."""
    program = (
        "import os\nASKED = globals().get('ASKED', 0) + 1\n"
        f'print({ACHIEVED!r}.replace(\'code":0\', f\'code":0,"pid":{{os.getpid()}},'
        '"asked":{ASKED}\'))\n'
    )
    process = plugin(tmp_path, program)
    heard = [asked(process).answer for _ in range(3)]
    found = [a.evidence.measurements for a in heard if isinstance(a, AfterTurnAnswer)]
    assert [numbers["asked"] for numbers in found] == [1, 1, 1]
    assert len({numbers["pid"] for numbers in found}) == 3


@pytest.mark.behaviour("T-29")
def test_the_end_of_what_it_printed_is_kept_for_the_message(tmp_path: Path) -> None:
    """[T-29] limits.STDERR_CHARS, decoded with replacement and made visible."""
    tail = limits.STDERR_CHARS - len("XX?\x1b[2J.")
    program = (
        "import sys\n"
        f"sys.stderr.buffer.write(b'HEAD' + b'X' * 2 + b'\\xff\\x1b[2J' + b'y' * {tail} + b'.')\n"
        "sys.exit(1)\n"
    )
    heard = silence(plugin(tmp_path, program))
    kept = "XX\N{REPLACEMENT CHARACTER}\\u{1B}[2J" + "y" * tail + "."
    assert heard.message == f"judge after_turn: code 1; stderr: {kept}"


@pytest.mark.behaviour("C13")
def test_bytes_that_are_no_text_are_refused_and_kept(tmp_path: Path) -> None:
    program = 'import sys\nsys.stdout.buffer.write(b\'{"a":"\\xff"}\')\n'
    heard = silence(plugin(tmp_path, program))
    assert heard.code is FaultCode.DECODE
    assert b"\xff" in heard.raw


def test_raw_output_is_kept_up_to_its_limit(tmp_path: Path) -> None:
    """[J2-13] limits.RAW_BYTES."""
    program = f"print('x' * {limits.RAW_BYTES + 1}, end='')\n"
    heard = silence(plugin(tmp_path, program))
    assert 0 < len(heard.raw) <= limits.RAW_BYTES


@pytest.mark.behaviour("T-27")
@pytest.mark.behaviour("K-150", "B1", "E103")
def test_a_plugin_that_answers_and_stays_runs_into_its_deadline(tmp_path: Path) -> None:
    """[T-22, T-27]"""
    mark = uuid.uuid4().hex
    program = (
        f"import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"print({ACHIEVED!r}, flush=True)\ntime.sleep(60)\n"
    )
    heard = silence(plugin(tmp_path, program, timeout=1, mark=mark))
    assert heard.code is FaultCode.TIMEOUT
    assert "1 s" in heard.message
    assert alive(mark) == []


@pytest.mark.behaviour("T-22")
@pytest.mark.behaviour("K-45")
def test_the_deadline_is_clamped(tmp_path: Path) -> None:
    """[D-45] limits.POINT_SECS, at the limit and one past it."""
    assert plugin(tmp_path, "", timeout=limits.POINT_SECS).deadline == limits.POINT_SECS
    assert plugin(tmp_path, "", timeout=limits.POINT_SECS + 1).deadline == limits.POINT_SECS


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
@pytest.mark.behaviour("K-43", "B10", "E115", "E116")
def test_endless_output_is_cut_and_its_stream_named(tmp_path: Path, stream: str) -> None:
    """[T-24]"""
    head = "print('{\"a\":\"', end='')\n" if stream == "stdout" else ""
    program = f"import sys\n{head}while True: sys.{stream}.write('x' * 65536)\n"
    heard = silence(plugin(tmp_path, program))
    assert heard.code is FaultCode.OUTPUT_CAP
    assert stream in heard.message


@pytest.mark.behaviour("K-148", "B2", "E104")
def test_a_daemon_that_holds_stdout_neither_delays_nor_survives(tmp_path: Path) -> None:
    """[T-26, T-30]"""
    mark = uuid.uuid4().hex
    program = (
        "import os, sys, time\n"
        f"print({ACHIEVED!r}, flush=True)\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        "        time.sleep(300)\n"
        "    os._exit(0)\n"
    )
    began = time.monotonic()
    spoken = asked(plugin(tmp_path, program, mark=mark))
    assert isinstance(spoken.answer, AfterTurnAnswer)
    assert spoken.notice is not None
    assert time.monotonic() - began < 15
    assert alive(mark) == []


def test_a_package_that_is_not_accepted_is_never_started(tmp_path: Path) -> None:
    """[T-2]"""
    touched = tmp_path / "ran"
    process = plugin(tmp_path, f"open({str(touched)!r}, 'w')\n{ANSWER}")
    barred = replace(process, cleared=lambda: "its package has changed")
    heard = silence(barred)
    assert heard.code is FaultCode.NOT_ACCEPTED
    assert "its package has changed" in heard.message
    assert not touched.exists()


def test_an_accepted_program_that_cannot_be_started_is_a_failed_start(tmp_path: Path) -> None:
    """[T-8, E131]"""
    process = plugin(tmp_path, ANSWER)
    gone = replace(process, cleared=lambda: Program(path="/gone", not_started="/gone: is gone"))
    heard = silence(gone)
    assert heard.code is FaultCode.SPAWN
    assert heard.message == "judge after_turn: /gone: is gone"


def test_a_missing_program_is_a_failed_start(tmp_path: Path) -> None:
    """[T-8]"""
    process = plugin(tmp_path, "")
    gone = replace(process, cleared=lambda: Program(path=str(tmp_path / "gone")))
    heard = silence(gone)
    assert heard.code is FaultCode.SPAWN
    assert "gone" in heard.message


@pytest.mark.behaviour("D-14", "T-25")
@pytest.mark.behaviour("K-149", "A8")
def test_a_cancel_ends_the_point_and_its_tree(tmp_path: Path) -> None:
    """[T-25]"""
    mark = uuid.uuid4().hex
    program = "import signal, time\nsignal.signal(15, signal.SIG_IGN)\ntime.sleep(60)\n"
    process = plugin(tmp_path, program, timeout=60, mark=mark)

    async def cancelled() -> float:
        asking = asyncio.create_task(process.ask(REQUEST))
        while not alive(mark):  # noqa: ASYNC110  # no event tells that a stranger's process began
            await asyncio.sleep(0.01)
        began = time.monotonic()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        return time.monotonic() - began

    assert asyncio.run(cancelled()) < 10
    assert alive(mark) == []


@pytest.mark.behaviour("G-3")
def test_a_process_stands_in_its_own_folder_and_before_no_terminal(tmp_path: Path) -> None:
    """[G-3, T-5, T-6] The request is its only way to a workspace."""
    program = (
        "import os, sys\n"
        "try:\n"
        "    terminal = os.open('/dev/tty', os.O_RDWR)\n"
        "except OSError:\n"
        "    terminal = None\n"
        "sys.exit(f'{os.getcwd()} {terminal}.')\n"
    )
    heard = silence(plugin(tmp_path, program))
    assert f"stderr: {tmp_path.resolve()} None." in heard.message
