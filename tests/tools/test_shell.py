"""`bash`: how a command starts, what is told of it, and that it has an end."""

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from stella import limits
from stella.authority.risk import Risk
from stella.message import ErrorClass
from stella.process.environment import inherited
from stella.tools.toolbox import Prepared
from tests.making.hands import SESSION
from tests.making.hands import hands
from tests.making.hands import permit_for
from tests.making.processes import PATH
from tests.making.processes import eventually
from tests.making.processes import marked
from tests.making.processes import new_mark
from tests.making.processes import none_left


@pytest.mark.parametrize(
    ("command", "text", "code"),
    [
        ("echo out", "out", 0),
        ("true", "", 0),
        ("echo out; echo err >&2", "out\n[stderr]\nerr", 0),
        ("echo err >&2; exit 7", "[stderr]\nerr\n[exit code: 7]", 7),
        ("printf 'no end'; false", "no end\n[exit code: 1]", 1),
        ("printf '\\n\\nx\\n\\n'", "\n\nx\n", 0),
        ("nowhere-to-be-found 2>/dev/null", "[exit code: 127]", 127),
    ],
)
def test_output_errors_and_exit_code_are_told_in_this_order(
    tmp_path: Path, command: str, text: str, code: int
) -> None:
    """T2-18: a command that fails is information, not a failed tool."""
    with hands(tmp_path) as own:
        output = own.do("bash", command=command)
    assert output.ok is not None
    assert output.ok.content == text
    assert output.ok.data is not None
    assert output.ok.data["exit_code"] == code
    assert output.ok.data["signal"] is None
    assert 0 <= output.ok.data["duration_ms"] < 60_000


def test_bytes_are_counted_and_those_that_are_not_utf8_too(tmp_path: Path) -> None:
    """T2-3, T2-18."""
    with hands(tmp_path) as own:
        output = own.do("bash", command="printf 'a\\377b'; printf '\\376' >&2")
    assert output.ok is not None
    assert output.ok.content == "a\ufffdb\n[stderr]\n\ufffd"
    assert output.ok.data is not None
    assert (output.ok.data["bytes_out"], output.ok.data["invalid_bytes"]) == (4, 2)


def test_a_signal_is_told(tmp_path: Path) -> None:
    """T2-18."""
    with hands(tmp_path) as own:
        output = own.do("bash", command="echo before; kill -SEGV $$")
    assert output.ok is not None
    assert output.ok.content == f"before\n[killed by signal {int(signal.SIGSEGV)}]"
    assert output.ok.data is not None
    assert (output.ok.data["exit_code"], output.ok.data["signal"]) == (None, 11)


def test_it_starts_in_the_root_with_no_input_and_no_start_up_files(tmp_path: Path) -> None:
    """T2-18: bash --noprofile --norc -c, in the workspace root, standard input closed."""
    home = tmp_path / "home"
    root = tmp_path / "ws"
    home.mkdir()
    root.mkdir()
    for name in (".bashrc", ".bash_profile", ".profile"):
        (home / name).write_text("echo STARTED\n")
    with hands(root, environment={"PATH": PATH, "HOME": str(home)}) as own:
        assert own.text("bash", command="pwd -P; cat; echo $-") == f"{root}\nhBc"
        words = own.text("bash", command='tr "\\0" "\\n" < /proc/$$/cmdline')
    assert words.splitlines()[1:4] == ["--noprofile", "--norc", "-c"]


def test_a_command_is_one_argument_whatever_is_in_it(tmp_path: Path) -> None:
    """K287, B20."""
    with hands(tmp_path) as own:
        assert own.text("bash", command="printf %s '$x `y`' \"; \"\nprintf é") == "$x `y`; é"
        assert own.text("bash", command="") == ""


def test_the_environment_is_what_was_handed_in_and_two_names(tmp_path: Path) -> None:
    """T2-45, T2-47, J1, J2: read back by a child of the child."""
    host = {
        "PATH": PATH,
        "LANG": "C.UTF-8",
        "KEPT": "1",
        "MY_TOKEN": "secret",
        "db_password": "secret",
        "MODEL_KEY_X": "secret",
        "SSH_AUTH_SOCK": "secret",
        "GIT_DIR": "secret",
        "BASH_ENV": "/nowhere",
        "HTTPS_PROXY": "http://u:p@h",
        "HTTP_PROXY": "http://h",
        "STELLA_HOME": "secret",
        "FORCE_COLOR": "1",
    } | {f"SERVICE_{number}_API_KEY": "secret" for number in range(50)}
    child = inherited(host, frozenset({"MODEL_KEY_X"}), frozenset())
    with hands(tmp_path, environment=child) as own:
        text = own.text("bash", command="env -0 | tr '\\0' '\\n'")
    found = dict(line.split("=", 1) for line in text.splitlines())
    for name in ("_", "SHLVL", "PWD", "OLDPWD"):  # bash's own
        found.pop(name, None)
    assert found == {
        "PATH": PATH,
        "LANG": "C.UTF-8",
        "KEPT": "1",
        "HTTP_PROXY": "http://h",
        "STELLA_SESSION_ID": SESSION,
        "STELLA_WORKSPACE": str(tmp_path),
    }


def test_a_bash_of_the_workspace_is_not_the_one_that_runs(tmp_path: Path) -> None:
    """E131, O358: the person's PATH may lead into the workspace; the command keeps it."""
    planted = tmp_path / "bin" / "bash"
    planted.parent.mkdir()
    planted.write_text("#!/bin/sh\ntouch planted\n")
    planted.chmod(0o755)
    path = f"{tmp_path}/bin::.:bin:{PATH}"
    with hands(tmp_path, environment={"PATH": path}) as own:
        assert own.text("bash", command="echo $PATH") == path
    assert not (tmp_path / "planted").exists()
    with hands(tmp_path, environment={"PATH": f"{tmp_path}/bin"}) as own:
        error = own.fault("bash", command="true")
        assert error.kind is ErrorClass.ENVIRONMENT
        assert "inside the workspace" in error.message
    with hands(tmp_path, environment={}) as own:
        assert own.fault("bash", command="true").kind is ErrorClass.ENVIRONMENT
    assert not (tmp_path / "planted").exists()


def test_what_is_left_in_the_background_is_ended_and_counted(tmp_path: Path) -> None:
    """T2-43, B2: within a second of the exit, although it holds the pipe."""
    mark = new_mark()
    with hands(tmp_path) as own:
        output = own.do(
            "bash", command=f"MARK={mark} sleep 600 & MARK={mark} sleep 600 & echo done"
        )
        none_left(mark)
    assert output.ok is not None
    assert output.ok.content == "done\n[processes left running and ended: 2]"
    assert output.ok.data is not None
    assert output.ok.data["survivors"] == 2


def test_a_command_that_does_not_end_is_ended(tmp_path: Path) -> None:
    """T2-18, T2-44, E103: with all it started, although it ignores the polite signal."""
    mark = new_mark()
    command = f"trap '' TERM; echo begun; MARK={mark} sleep 600 & MARK={mark} sleep 600; wait"
    with hands(tmp_path) as own:
        error = own.fault("bash", command=command, timeout_secs=1)
        none_left(mark)
    assert error.kind is ErrorClass.TIMEOUT
    assert error.message.startswith(
        "the command was ended after 1 second; its effect is unknown\nbegun"
    )
    assert error.data is not None
    assert error.data["effect"] == "unknown"


def test_a_command_is_asked_to_end_before_it_is_killed(tmp_path: Path) -> None:
    """T2-44."""
    command = "trap 'echo bye; exit 3' TERM; sleep 600 & wait"
    with hands(tmp_path) as own:
        error = own.fault("bash", command=command, timeout_secs=1)
    assert "bye" in error.message


def test_a_command_that_is_cancelled_leaves_nothing(tmp_path: Path) -> None:
    """T2-44, E-113."""
    mark = new_mark()
    with hands(tmp_path) as own:
        prepared = own.prepare("bash", command=f"MARK={mark} sleep 600")
        assert isinstance(prepared, Prepared)

        async def cancelled() -> None:
            running = asyncio.create_task(own.toolbox.run(prepared, permit_for(prepared)))
            await asyncio.to_thread(eventually, lambda: marked(mark))
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running

        asyncio.run(asyncio.wait_for(cancelled(), 30))
        none_left(mark)


def test_output_without_end_ends_the_command(tmp_path: Path) -> None:
    """T2-42, E115: at 8 MiB, both streams together."""
    assert limits.CONVERSATION_BYTES == 8 * limits.MIB
    with hands(tmp_path) as own:
        error = own.fault("bash", command="yes x & yes y >&2")
    assert (error.kind, error.cause) == (ErrorClass.OTHER, "output_cap")
    assert len(error.message.encode()) <= limits.RESULT_BYTES_SHELL
    assert error.data is not None
    assert error.data["bytes_out"] >= limits.CONVERSATION_BYTES


@pytest.mark.parametrize("over", [0, 1])
def test_the_middle_of_a_long_output_is_cut(tmp_path: Path, over: int) -> None:
    """T2-3."""
    size = limits.RESULT_BYTES_SHELL + over
    with hands(tmp_path) as own:
        text = own.text("bash", command=f"head -c {size} /dev/zero | tr '\\0' x")
    assert ("bytes removed here]" in text) == (over == 1)
    assert len(text) <= limits.RESULT_BYTES_SHELL


def test_a_command_that_is_too_long_for_the_system_is_an_answer(tmp_path: Path) -> None:
    """E136."""
    with hands(tmp_path) as own:
        error = own.fault("bash", command="true " + "x" * (4 * limits.MIB))
    assert error.kind is ErrorClass.ENVIRONMENT
    assert "larger than the system takes" in error.message


def test_a_child_has_no_terminal_and_a_session_of_its_own(tmp_path: Path) -> None:
    """T2-41, C74, B14."""
    with hands(tmp_path) as own:
        text = own.text("bash", command="(: < /dev/tty) 2>/dev/null || echo none; ps -o sid= $$")
    none, session = text.splitlines()
    assert none == "none"
    assert int(session) != os.getsid(0)


def test_an_answer_does_not_wait_for_whoever_holds_the_pipe(tmp_path: Path) -> None:
    """T2-43, E104: a daemon of its own session, after the command has exited."""
    mark = new_mark()
    with hands(tmp_path) as own:
        command = f"MARK={mark} setsid sleep 600 & sleep 0.1; echo answer"
        assert own.text("bash", command=command).startswith("answer")
        eventually(lambda: not marked(mark))


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"command": 1},
        {"command": "a\0b"},
        {"command": "\ud800"},
        {"command": "true", "timeout_secs": 0},
        {"command": "true", "timeout_secs": limits.BASH_SECS_MAX + 1},
        {"command": "true", "timeout_secs": 1.5},
        {"command": "true", "cwd": "/"},
    ],
)
def test_other_arguments_are_refused(tmp_path: Path, arguments: dict[str, Any]) -> None:
    """T2-10, T2-11."""
    with hands(tmp_path) as own:
        assert own.fault("bash", **arguments).kind is ErrorClass.INVALID_INPUT


def test_the_times_are_the_documented_ones(tmp_path: Path) -> None:
    """T2-10."""
    with hands(tmp_path) as own:
        [contract] = [c for c in own.toolbox.contracts if c.name == "bash"]
        assert isinstance(own.prepare("bash", command="", timeout_secs=600), Prepared)
        prepared = own.prepare("bash", command="rm -rf /")
        assert isinstance(prepared, Prepared)
    times = contract.input_schema["properties"]["timeout_secs"]
    assert (times["minimum"], times["maximum"]) == (1, limits.BASH_SECS_MAX) == (1, 600)
    assert str(limits.BASH_SECS_DEFAULT) in times["description"]
    assert (prepared.risk, prepared.paths, contract.read_only) == (Risk.HIGH, (), False)
