"""Script tools of strangers: when nothing of them runs, and how those that run are ended.

The real command, judged by what happened and not by what it says.
"""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from stella.content.approvals import Schema
from tests.making.content import put
from tests.making.ends import PATIENCE
from tests.making.ends import STUBBORN
from tests.making.ends import Json
from tests.making.ends import Place
from tests.making.ends import asks
from tests.making.ends import place
from tests.making.ends import says
from tests.making.records import granting
from tests.making.records import guarded
from tests.making.records import rules_file
from tests.making.watched import watched

TOOL: Final = """\
name = "mend"
description = "Mends."
command = ["${plugin_dir}/mend"]
timeout_ms = 700
"""
MANIFEST: Final = 'name = "mender"\n[[tools]]\nname = "mend"\ndescription = "Mends."\n'


@pytest.fixture(name="where")
def _where(tmp_path: Path) -> Place:
    return place(tmp_path)


@pytest.fixture(name="flag")
def _flag(where: Place) -> Path:
    return where.root.parent / "was-started"


@pytest.fixture(name="package")
def _package(tmp_path: Path, flag: Path) -> Path:
    """A package with one tool, which makes the flag."""
    folder = tmp_path / "package"
    put(folder / "plugin.toml", MANIFEST)
    put(folder / "tools/mend.toml", TOOL)
    put(folder / "skills/none/notes.md", "data\n")
    put(folder / "mend", f"#!/bin/sh\n: > {flag}\n", 0o755)
    return folder


def called(where: Place) -> Json:
    """Have a model call the tool where everything is allowed; returns what the call came to."""
    where.scripted(asks("mend"), says())
    done = where.run("--permissions", "all")
    assert done.code == 0, done.err
    [finished] = where.told("tool_finished")
    output: Json = finished["output"]
    return output


def test_nothing_of_a_package_runs_before_the_yes(where: Place, package: Path, flag: Path) -> None:
    """[T-2, P-4, P-9] No command that looks or asks starts anything, wherever the files lie."""
    put(where.root / ".stella/tools/own.toml", TOOL.replace("${plugin_dir}", str(package)))
    for folder in (where.root / ".stella/plugins/mender", where.home / "plugins/mender"):
        shutil.copytree(package, folder)
    for words in (
        ("plugin", "check", str(package)),
        ("plugin", "install", str(package)),
        ("plugin", "list"),
        ("tools", "list"),
        ("tools", "list", "--json"),
        ("tools", "validate", str(package)),
        ("tools", "validate"),
        ("skills", "list"),
    ):
        assert watched(where, *words).started == (), words
    output = called(where)
    assert output["error"]["class"] == "not_found"
    assert not flag.exists()


def test_with_the_yes_it_runs(where: Place, package: Path, flag: Path) -> None:
    """What proves that the flag is one."""
    where.install(package)
    assert "ok" in called(where)
    assert flag.exists()


@pytest.mark.behaviour("P-65.script")
@pytest.mark.parametrize("path", ["vault/k", "alias/k", "../work/vault/k", "{root}/vault/k"])
@pytest.mark.parametrize("armed", [True, False])
def test_a_path_that_a_person_guards_is_guarded_in_a_script_tool(
    where: Place, package: Path, flag: Path, path: str, *, armed: bool
) -> None:
    """[P-65, A-14] However the call spells it, under whatever name, at whatever depth."""
    table = guarded("vault", enforcement={"guard_tool": "*", "guard_deny_path": "vault/*"})
    put(where.home / "rules/r.toml", rules_file(table).decode())
    if armed:
        digest = granting(Schema.APPROVALS, table).grant[0].record_hash
        grant = f'[[grant]]\nlineage_id = "vault"\nrecord_hash = "{digest}"\n'
        put(where.home / "rules/approved.toml", f'schema = "rule-approvals/v1"\n{grant}')
    put(where.root / "vault/k", "s3")
    (where.root / "alias").symlink_to("vault")
    schema = '[input_schema]\ntype = "object"\n'
    put(package / "tools/mend.toml", f"{TOOL}{schema}")
    where.install(package)
    where.scripted(asks("mend", what=[{"deep": path.format(root=where.root)}]), says())
    assert where.run("--permissions", "all").code == 0
    assert flag.exists() is not armed


def adds_a_tool(there: Path) -> None:
    put(there / "tools/more.toml", TOOL.replace("mend", "more", 1))


def adds_data(there: Path) -> None:
    put(there / "skills/none/more.md", "x\n")


def removes_the_tool(there: Path) -> None:
    (there / "tools/mend.toml").unlink()


def removes_the_program(there: Path) -> None:
    (there / "mend").unlink()


def links_the_program(there: Path) -> None:
    (there / "mend").rename(there.parent.parent / "mend")
    (there / "mend").symlink_to("../../mend")


def starts_something_else(there: Path) -> None:
    text = (there / "tools/mend.toml").read_text("utf-8")
    put(there / "tools/mend.toml", text.replace('"${plugin_dir}/mend"', '"./theirs"'))


@pytest.mark.behaviour("K-69")
@pytest.mark.parametrize(
    "change",
    [
        adds_a_tool,
        adds_data,
        removes_the_tool,
        removes_the_program,
        links_the_program,
        starts_something_else,
    ],
)
def test_whatever_changed_after_the_yes_no_tool_of_it_is_there(
    where: Place, package: Path, flag: Path, change: Callable[[Path], None]
) -> None:
    """[I-30, I-31, P-9]"""
    where.install(package)
    put(where.root / "theirs", f"#!/bin/sh\n: > {flag}\n", 0o755)
    change(where.root / ".stella/plugins/mender")
    output = called(where)
    assert output["error"]["class"] == "not_found"
    assert not flag.exists()
    [offered] = where.told("tools_offered")
    assert {tool["origin"] for tool in offered["tools"]} == {"builtin"}
    rows = json.loads(where.stella("tools", "list", "--json").out)
    assert {row["state"] for row in rows if row["origin"] == "plugin:mender"} <= {"changed"}


def test_a_tool_that_heeds_nobody_is_ended_with_all_it_started(
    where: Place, package: Path, flag: Path
) -> None:
    """[P-19, T-30] It ignores every signal that it can, and its child has a session of its own."""
    program = f"#!{sys.executable}\n{STUBBORN.format(flag=str(flag))}"
    put(package / "mend", program, 0o755)
    where.install(package)
    where.scripted(asks("mend"), says())
    with where.started("run", "go", *where.asked, "--permissions", "all") as process:
        process.communicate(timeout=PATIENCE)
    [finished] = where.told("tool_finished")
    assert finished["output"]["error"]["class"] == "timeout"
    assert where.left(process.pid) == []
    assert process.returncode == 0
