"""Plugins in a folder: a manifest and a program of a few lines."""

import os
import stat
from pathlib import Path

ARBITER = """\
name = "{name}"
description = "{description}"

[loop]
participation = "arbiter"
hooks = ["Stop"]
points = ["after_turn"]
max_holds = {max_holds}

[requirements]
tests-flip = "the granted test failed before the run and passes now"
tests-pass = "the granted test exits with zero"

[oracle]
flip = "required"
measurements = ["test-command-exit-code", "test-duration-ms"]

[[oracle.checks]]
requirement = "tests-pass"
check = "test-command-exit-code <= 0"

[runtime]
argv = ["python3", "-I", "-S", "${{plugin_dir}}/main.py"]
timeout_secs = {timeout}
env = ["PATH"]
"""

STATED = {
    "tests-flip": "the granted test failed before the run and passes now",
    "tests-pass": "the granted test exits with zero",
}
"""The requirements of an arbiter and what each says."""

STEERING = """\
name = "{name}"

[loop]
participation = "steering"
points = ["before_turn"]

[runtime]
argv = ["python3", "-I", "-S", "${{plugin_dir}}/main.py"]
timeout_secs = {timeout}
env = ["PATH"]
"""

HOOKING = """\
name = "{name}"

[loop]
participation = "{grade}"
hooks = [{hooks}]
{more}

[runtime]
argv = ["python3", "-I", "-S", "${{plugin_dir}}/main.py"]
timeout_secs = {timeout}
env = ["PATH"]
"""

ACHIEVED = (
    '{"point":"after_turn","body":{"protocol_version":1,"evidence":'
    '{"flip":"achieved","measurements":{"test-command-exit-code":0}}}}'
)


def arbiter(
    folder: Path, program: str, *, name: str = "judge", max_holds: int = 2, timeout: int = 20
) -> Path:
    """Write an arbiter with the rule of `verify` whose program is `program`."""
    text = ARBITER.format(name=name, description="A test.", max_holds=max_holds, timeout=timeout)
    return written(folder, text, program)


def steering(folder: Path, program: str, *, name: str = "guide", timeout: int = 20) -> Path:
    """Write a steering plugin that answers before a turn."""
    return written(folder, STEERING.format(name=name, timeout=timeout), program)


def hooking(
    folder: Path,
    program: str,
    *hooks: str,
    name: str = "guard",
    grade: str = "steering",
    timeout: int = 20,
    more: str = "",
) -> Path:
    """Write a plugin that listens to `hooks`; `more` are further lines of its `[loop]`."""
    listed = ", ".join(f'"{hook}"' for hook in hooks)
    if grade == "arbiter":
        more += '\n[requirements]\nright = "the answer is right"\n'
    text = HOOKING.format(name=name, grade=grade, hooks=listed, timeout=timeout, more=more)
    return written(folder, text, program)


def written(folder: Path, manifest: str, program: str) -> Path:
    """Write a plugin's two files and return its folder."""
    folder.mkdir(parents=True)
    (folder / "plugin.toml").write_text(manifest, "utf-8")
    (folder / "main.py").write_text(program, "utf-8")
    return folder


def executable(path: Path, text: str) -> Path:
    """Write a script that may be executed."""
    path.write_text(text, "utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def alive(mark: str) -> list[int]:
    """The processes whose command line holds `mark`, this one left out."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            line = (entry / "cmdline").read_bytes()
            state = (entry / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()[0]
        except OSError:
            continue
        if mark.encode() in line and state != "Z":
            found.append(int(entry.name))
    return found
