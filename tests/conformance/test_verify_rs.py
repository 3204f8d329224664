"""The shipped plugin in Rust: what it is built of, and what its language makes easy to miss."""

import json
import os
import random
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.making.shipped import MAIN
from tests.making.shipped import PATH
from tests.making.shipped import VERIFY_RS
from tests.making.shipped import Shipped
from tests.making.shipped import asked
from tests.making.shipped import evidence_in
from tests.making.shipped import marked
from tests.making.shipped import outcome
from tests.making.shipped import request

HOME = VERIFY_RS.directory
SOURCES = sorted((HOME / "src").glob("*.rs"))
in_rust = pytest.mark.parametrize("plugin", [marked(VERIFY_RS)])

# Pieces of what runners print, put together by chance: mostly nonsense, as hostile output is.
SAID = (
    "\n", "\n\n", "=== ", " in 0.01s", " in s", "1 passed", "2 failed", "1 error", "1 skipped",
    "3 xpassed", ", ", "!!! _pytest.outcomes.Exit: bye", "! AnExit: x", "Ran 1 test in 0.1s\n\n",
    "Ran 2 tests in 1s\n\n", "OK", " (skipped=2)", " (expected failures=1)", "test result: ",
    "0 passed", "ok  \tshop\t0.01s", "ok\n", "?   \tshop", "[no tests to run]", "[build failed]",
    "testing: warning: no tests to run\nPASS\n", "Tests: ", " failed", "Test suite failed to run",
    "No tests found, exiting", " No test files found, exiting", "      Tests  2 passed", "\x1b[1m",
    "\x1b[", "error: could not compile", "unittest.loader._FailedTest", "é", "\r\n",
)  # fmt: skip
COMMANDS = (
    ["pytest"], ["pytest", "-qk", "x"], ["env", "A=1", "pytest", "a.py::t"], ["npx", "jest"],
    ["python3", "-Im", "unittest"], ["python3", "-m", "unittest", "w.Week"], ["cargo", "test"],
    ["cargo", "nextest", "run"], ["go", "test"], ["vitest", "run"], ["sh", "check.sh"],
)  # fmt: skip


def test_it_is_built_of_serde_and_serde_json_of_exact_versions_alone() -> None:
    cargo = tomllib.loads((HOME / "Cargo.toml").read_text("utf-8"))
    assert not {"build-dependencies", "dev-dependencies", "target"} & cargo.keys()
    assert sorted(cargo["dependencies"]) == ["serde", "serde_json"]
    for wanted in cargo["dependencies"].values():
        assert re.fullmatch(r"=\d+\.\d+\.\d+", wanted["version"])


def test_no_module_is_longer_than_the_house_allows() -> None:
    lengths = {path.name: len(path.read_text("utf-8").splitlines()) for path in SOURCES}
    assert len(lengths) > 5
    assert max(lengths.values()) <= 400, lengths


def test_every_table_of_the_request_denies_what_it_does_not_know() -> None:
    # [W-4]
    source = (HOME / "src/request.rs").read_text("utf-8")
    tables = re.findall(r"#\[derive\((.*)\)\]\n(.*)\npub struct", source)
    assert len(tables) == 5
    assert {line for _, line in tables} == {"#[serde(deny_unknown_fields)]"}


def test_every_use_of_unsafe_has_its_reason_and_stands_in_one_module() -> None:
    unsafe = re.compile(r"\bunsafe (?:\{|impl|extern)")
    assert [path.name for path in SOURCES if unsafe.search(path.read_text("utf-8"))] == [
        "system.rs"
    ]


@in_rust
def test_what_is_run_is_built_of_these_sources(plugin: Shipped) -> None:
    """`make verify-rs` builds it."""
    built = (plugin.directory / plugin.program).stat().st_mtime
    assert all(path.stat().st_mtime <= built for path in [*SOURCES, HOME / "Cargo.toml"])


@in_rust
@pytest.mark.parametrize("content", ["", "exit 0\n", "#!\nexit 0\n"])
def test_a_file_that_only_a_shell_would_run_is_not_run(
    plugin: Shipped, content: str, tmp_path: Path
) -> None:
    """Rust's own way of starting a program would give it to one."""
    (tmp_path / "check").write_text(content)
    (tmp_path / "check").chmod(0o755)
    assert asked(plugin, request(tmp_path, "./check")) == {"flip": "unobservable"}


@in_rust
def test_a_file_that_a_host_left_open_is_not_handed_on(plugin: Shipped, tmp_path: Path) -> None:
    with (tmp_path / "left").open("wb") as left:
        os.set_inheritable(left.fileno(), True)
        done = subprocess.run(
            plugin.command,
            input=request(tmp_path, "sh", "-c", f"echo forged >&{left.fileno()}"),
            env={"PATH": PATH},
            pass_fds=[left.fileno()],
            capture_output=True,
            timeout=30,
            check=True,
        )
    assert evidence_in(done.stdout)["flip"] == "not-achieved"
    assert (tmp_path / "left").read_bytes() == b""


@in_rust
@pytest.mark.parametrize(
    ("into", "said"),
    [("/dev/full", "[Errno 28] No space left on device"), ("/dev/stdin", None)],
)
def test_an_answer_that_cannot_be_written_is_a_refusal(
    plugin: Shipped, into: str, said: str | None, tmp_path: Path
) -> None:
    command = 'exec "$0" >"$1"' if said else 'exec "$0" >/dev/null'
    done = subprocess.run(
        ("/bin/sh", "-c", command, *plugin.command, into),
        input=request(tmp_path, "true"),
        env={"PATH": PATH},
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == (1 if said else 0)
    assert done.stderr.decode() == (f"verify: {said}\n" if said else "")


@in_rust
@pytest.mark.parametrize(
    "body",
    [
        # what a derived reader would take: a list for a table, a table for a word
        '["after_turn",{}]',
        '{"point":{"after_turn":null},"body":{}}',
        '{"point":"after_turn","body":[1,"verify",null,0,"go",null,[true]]}',
        '{"point":"after_turn","body":{"$serde_json::private::RawValue":"{}"}}',
        '{"point":"after_turn","body":{"protocol_version":{"$serde_json::private::Number":"1"}}}',
    ],
)
def test_what_only_serde_would_take_is_refused_in_the_shared_words(
    plugin: Shipped, body: str
) -> None:
    # [W-4, W-7]
    rust, python = (
        subprocess.run(
            command, input=body.encode(), env={"PATH": PATH}, capture_output=True, check=False
        )
        for command in (plugin.command, (sys.executable, "-I", "-S", MAIN))
    )
    assert (rust.returncode, rust.stdout, rust.stderr) == (1, b"", python.stderr)


@in_rust
@pytest.mark.parametrize("seed", range(8))
def test_its_runner_table_and_that_of_the_plugin_in_python_say_the_same_of_anything(
    plugin: Shipped, seed: int, tmp_path: Path
) -> None:
    """The tables are written in two ways, patterns and matchers [Q-32]."""
    chance = random.Random(seed)
    python = runpy.run_path(str(MAIN))
    for number in range(25):
        words = chance.choice(COMMANDS)
        code = chance.choice((0, 0, 0, 1, 4, 5, 100, 101, 127))
        output = "".join(chance.choice(SAID) for _ in range(chance.randrange(9)))
        expected = python["outcome"](words, python["Ran"](code, 1, output.encode()))
        root = tmp_path / str(number)
        root.mkdir()
        got = outcome(plugin, root, words, code=code, output=output)
        assert got == expected, json.dumps([words, code, output])
