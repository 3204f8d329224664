"""`stella plugin check` as a process: a person's terminal, a pipe, and nothing that starts."""

import fcntl
import json
import os
import re
import struct
import termios
from pathlib import Path

import pytest

from tests.making.ends import PATIENCE
from tests.making.ends import Place
from tests.making.ends import place
from tests.making.ends import tree
from tests.making.plugins import executable

BROKEN = """\
name = "broken"
[loop]
participation = "observer"
hooks = ["PreToolUse", "Stop"]
[runtime]
argv = ["${plugin_dir}/run"]
timeout_secs = 0
[[capabilities]]
tool = "bash"
risk = "hgh"
purpose = "\\u001b[2J\\u202e"
"""


def broken(where: Place, manifest: str = BROKEN) -> Path:
    """Write a package whose program leaves a mark when it is started."""
    folder = where.root.parent / "broken"
    folder.mkdir()
    (folder / "plugin.toml").write_text(manifest, "utf-8")
    executable(folder / "run", f"#!/bin/sh\n: > {where.root}/was-started\n")
    return folder


def on_terminal(where: Place, columns: int, *words: str, **env: str) -> tuple[int, list[str]]:
    """Return the exit code and the rows that a terminal of that width is sent."""
    terminal, end = os.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with where.started(*words, stdout=end, env=env) as process:
        os.close(end)
        shown = b""
        while more := some(terminal):
            shown += more
        _, err = process.communicate(timeout=PATIENCE)
    os.close(terminal)
    assert err == b""
    return process.returncode, shown.decode().replace("\r\n", "\n").splitlines()


def some(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:
        return b""  # its last user has gone


@pytest.mark.behaviour("I-64")
def test_a_broken_package_is_told_whole_and_left_alone(tmp_path: Path) -> None:
    """[I-64, I-67, I-70, Q-13]"""
    where = place(tmp_path)
    folder = broken(where)
    (folder / "link").symlink_to("run")
    before = tree(tmp_path)
    done = where.stella("plugin", "check", str(folder))
    assert (done.code, done.err) == (1, "")
    assert re.findall(r"^ +(\d\. .*)$", done.out, re.MULTILINE) == [
        "1. R-5 HooksRequireSteering at line 4, column 1",
        "2. R-18 StopHookRequiresArbiter at line 4, column 1",
        "3. R-57 ZeroRuntimeTimeout at line 7, column 1",
        "1. I-5 KindRefused",
        "1. M-52 UnknownRiskToken at line 10, column 1",
    ]
    machine = where.stella("plugin", "check", str(folder), "--json")
    assert (machine.code, machine.err) == (1, "")
    rules = [fault["rule"] for fault in machine.result["faults"]]
    assert rules == ["R-5", "R-18", "R-57", "I-5"]
    assert machine.result["name"] == "broken"
    assert tree(tmp_path) == before
    assert not (where.root / "was-started").exists()


@pytest.mark.parametrize("env", [{}, {"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_on_a_narrow_terminal_it_is_folded_and_plain(tmp_path: Path, env: dict[str, str]) -> None:
    """[S-42, C-5]; what an author wrote moves no cursor and begins no row."""
    where = place(tmp_path)
    manifest = BROKEN.replace("capabilities", "capabilites")
    code, rows = on_terminal(where, 60, "plugin", "check", str(broken(where, manifest)), **env)
    assert code == 1
    assert all(len(row) <= 60 for row in rows)
    assert all(row.isprintable() for row in rows)
    assert rows[:6] == [
        "plugin.toml cannot be loaded: 4 faults",
        "  1. R-1 Parse (unknown-key) at line 8, column 1",
        '     top level: unknown key "capabilites"; did you mean',
        "       | capabilities?",
        "  2. R-5 HooksRequireSteering at line 4, column 1",
        '     [loop] hooks = ["PreToolUse", "Stop"] needs',
    ]


def test_the_object_is_read_the_same_on_a_terminal_and_in_a_pipe(tmp_path: Path) -> None:
    """[I-64, C76]"""
    where = place(tmp_path)
    words = ("plugin", "check", str(broken(where)), "--json")
    code, rows = on_terminal(where, 60, *words)
    assert code == 1
    assert json.loads("".join(rows)) == where.stella(*words).result
