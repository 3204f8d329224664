"""The shipped plugin in TypeScript: what it is built of, and what only node makes necessary."""

import dataclasses
import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.making.child import open_folder
from tests.making.processes import linux_only
from tests.making.shipped import LOWERED
from tests.making.shipped import NODE
from tests.making.shipped import PYTHON
from tests.making.shipped import VERIFY_TS
from tests.making.shipped import Shipped
from tests.making.shipped import alive
from tests.making.shipped import asked
from tests.making.shipped import marked
from tests.making.shipped import request
from tests.making.shipped import started
from tests.making.shipped import until

HOME = VERIFY_TS.directory
SOURCES = sorted((HOME / "src").glob("*.ts"))
in_typescript = pytest.mark.parametrize("plugin", [marked(VERIFY_TS)])

# Asks the process above to open a debugger, as node does, and looks long enough to see it.
DEBUGGING = """
import os, signal, time
os.kill(os.getppid(), signal.SIGUSR1)
time.sleep(0.3)
"""


def test_it_has_no_runtime_dependency_and_one_tool_of_an_exact_version() -> None:
    package = json.loads((HOME / "package.json").read_text("utf-8"))
    assert not {"dependencies", "optionalDependencies", "scripts"} & package.keys()
    assert list(package["devDependencies"]) == ["typescript"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", package["devDependencies"]["typescript"])


def test_it_imports_from_node_only_what_it_declares_itself() -> None:
    declared = set(re.findall(r'declare module "(.*)"', (HOME / "src/node.d.ts").read_text()))
    for path in SOURCES:
        named = set(re.findall(r'(?:from|import) "(.*)"', path.read_text("utf-8")))
        own = {f"./{module.stem}.js" for module in SOURCES}
        assert named <= declared | own, path.name


def test_no_module_is_longer_than_the_house_allows() -> None:
    lengths = {path.name: len(path.read_text("utf-8").splitlines()) for path in SOURCES}
    assert len(lengths) > 5
    assert max(lengths.values()) <= 400, lengths


@in_typescript
def test_what_is_run_is_built_of_these_sources(plugin: Shipped) -> None:
    """`make verify-ts` builds it; a file that is left over or missing is told here."""
    built = {path.stem for path in (plugin.directory / "dist").iterdir()}
    assert built == {path.stem for path in SOURCES} - {"node.d"}
    oldest = min(path.stat().st_mtime for path in (plugin.directory / "dist").iterdir())
    assert all(path.stat().st_mtime <= oldest for path in SOURCES)


@in_typescript
def test_its_own_tests_pass(plugin: Shipped) -> None:
    done = subprocess.run(
        [NODE, "--test", *sorted((plugin.directory / "test").glob("*.mjs"))],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert re.search(r"^# pass [1-9]", done.stdout, re.MULTILINE)


@in_typescript
def test_the_debugger_of_node_is_not_opened_to_the_test(plugin: Shipped, tmp_path: Path) -> None:
    # node says on stderr where it listens, and `asked` wants nothing there
    evidence = asked(plugin, request(tmp_path, sys.executable, "-c", DEBUGGING))
    assert evidence["flip"] == "achieved"


@in_typescript
@pytest.mark.parametrize("content", ["", "exit 0\n", "#!\nexit 0\n", "#!   \n", "#!./text\n"])
def test_a_file_that_only_a_shell_would_run_is_not_run(
    plugin: Shipped, content: str, tmp_path: Path
) -> None:
    """Node would give it to one; the system itself executes none of these."""
    for name, said in (("text", "exit 0\n"), ("check", content)):
        (tmp_path / name).write_text(said)
        (tmp_path / name).chmod(0o755)
    assert asked(plugin, request(tmp_path, "./check")) == {"flip": "unobservable"}


@in_typescript
@pytest.mark.parametrize(
    ("at", "value", "flip"), [(0, None, "achieved"), (18, 0xFF, "unobservable")]
)
def test_a_program_of_another_machine_is_not_run(
    plugin: Shipped, at: int, value: int | None, flip: str, tmp_path: Path
) -> None:
    program = bytearray(Path("/bin/true").resolve().read_bytes())
    program[at] = program[at] if value is None else value
    (tmp_path / "check").write_bytes(program)
    (tmp_path / "check").chmod(0o755)
    assert asked(plugin, request(tmp_path, "./check"))["flip"] == flip


@in_typescript
def test_a_script_whose_interpreter_is_a_script_is_run(plugin: Shipped, tmp_path: Path) -> None:
    for name, said in (("runner", "#!/bin/sh\nexit 0\n"), ("check", f"#!{tmp_path}/runner\n")):
        (tmp_path / name).write_text(said)
        (tmp_path / name).chmod(0o755)
    assert asked(plugin, request(tmp_path, "./check"))["flip"] == "achieved"


@in_typescript
def test_the_test_can_open_its_output_anew_and_has_one_for_both_streams(
    plugin: Shipped, tmp_path: Path
) -> None:
    """With node's own pipes, which are sockets, it cannot."""
    words = "echo out >/dev/stdout && echo err >/dev/stderr && [ /dev/fd/1 -ef /dev/fd/2 ]"
    assert asked(plugin, request(tmp_path, "sh", "-c", words))["flip"] == "achieved"


@linux_only
@in_typescript
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_reaches_the_test_through_both_processes(
    plugin: Shipped, number: signal.Signals
) -> None:
    """An ordinary user has two: the one the host knows, and the one that answers."""
    with lingering(plugin) as (process, group):
        process.send_signal(number)
        stdout, stderr = process.communicate(timeout=30)
        assert (process.returncode, stdout) == (1, b"")
        assert stderr == b"verify: the test: ended with this plugin, which was told to stop\n"
        assert until(lambda: not any(map(alive, group)))


@linux_only
@in_typescript
def test_the_death_of_the_outer_process_ends_the_inner_one_and_its_test(plugin: Shipped) -> None:
    # [T-33]
    with lingering(plugin) as (process, group):
        process.kill()
        stdout, stderr = process.communicate(timeout=30)  # until the inner one has closed them
        assert (process.returncode, stdout) == (-signal.SIGKILL, b"")
        assert stderr == b"verify: the test: ended with this plugin, which was told to stop\n"
        assert until(lambda: not any(map(alive, group)))


@linux_only
@in_typescript
def test_the_death_of_the_host_ends_both_processes(plugin: Shipped) -> None:
    # [T-33]: the host is a shell, which starts the plugin and waits for it
    host = dataclasses.replace(
        plugin, starter=("/bin/sh", "-c", '"$@"; exit', "sh", *plugin.starter)
    )
    with lingering(host) as (process, group):
        process.kill()
        process.communicate(timeout=30)
        assert until(lambda: not any(map(alive, group)))


@contextmanager
def lingering(plugin: Shipped) -> Iterator[tuple[subprocess.Popen[bytes], list[int]]]:
    """Start the plugin as an ordinary user, with a test that does not end."""
    with open_folder() as root, started(*ordinary(plugin, root).command, cwd=root) as process:
        assert process.stdin is not None
        look = "echo $$ $PPID >pids.tmp; mv pids.tmp pids; sleep 600"
        process.stdin.write(request(root, "sh", "-c", f"trap '' TERM INT HUP; {look}"))
        process.stdin.close()
        process.stdin = None
        assert until((root / "pids").exists)
        yield process, [int(word) for word in (root / "pids").read_text().split()]


def ordinary(plugin: Shipped, root: Path) -> Shipped:
    """Return a copy of the plugin that is started as an ordinary user."""
    lowered = (*PYTHON, "-c", LOWERED, "nobody")
    return dataclasses.replace(
        plugin.elsewhere(root / "verify"), starter=(*lowered, *plugin.starter)
    )
