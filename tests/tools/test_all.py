"""The built-in tools together: names, grades, and that a deny leaves the disk alone."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from stella import limits
from stella.authority.contract import Provenance
from stella.authority.gate import Denied
from stella.authority.gate import Mode
from stella.authority.gate import judge
from stella.authority.risk import Risk
from stella.tools.all import TOOLS
from stella.tools.toolbox import Prepared
from tests.making.hands import hands
from tests.making.hands import picture
from tests.making.processes import marked
from tests.making.processes import new_mark


def test_the_tools_are_these_with_these_grades() -> None:
    """T2-10."""
    assert [(t.contract.name, t.contract.read_only, t.contract.risk) for t in TOOLS] == [
        ("read_file", True, Risk.LOW),
        ("write_file", False, Risk.MEDIUM),
        ("edit_file", False, Risk.MEDIUM),
        ("delete_file", False, Risk.DESTRUCTIVE),
        ("list_files", True, Risk.LOW),
        ("search", True, Risk.LOW),
        ("bash", False, Risk.HIGH),
    ]
    for tool in TOOLS:
        assert tool.contract.provenance is Provenance.BUILTIN
        shell = tool.contract.name == "bash"
        most = limits.RESULT_BYTES_SHELL if shell else limits.RESULT_BYTES_FILE
        assert tool.result_bytes == most


def calls(mark: str) -> dict[str, tuple[str, dict[str, Any]]]:
    """Every tool that changes something, in each of its forms."""
    edit = {"path": "a", "old_string": "old", "new_string": "new"}
    return {
        "write": ("write_file", {"path": "a", "content": "new"}),
        "write new": ("write_file", {"path": "n/e/w", "content": "new"}),
        "write batch": ("write_file", {"files": [{"path": "a", "content": "new"}]}),
        "edit": ("edit_file", edit),
        "edit batch": ("edit_file", {"edits": [edit]}),
        "delete": ("delete_file", {"path": "a"}),
        "delete batch": ("delete_file", {"files": ["a", "b"]}),
        "steer": ("write_file", {"path": "stella.toml", "content": "new"}),
        "bash": ("bash", {"command": f"echo new > a; MARK={mark} sleep 600"}),
    }


@pytest.mark.parametrize("form", calls(""))
@pytest.mark.parametrize("mode", Mode)
def test_a_call_that_the_mode_denies_leaves_the_disk_as_it_was(
    tmp_path: Path, form: str, mode: Mode
) -> None:
    """A-20, A-36, E13, E14: the disk and the process table are looked at, not a log."""
    mark = new_mark()
    root = tmp_path / "ws"
    root.mkdir()
    for name in "ab":
        (root / name).write_text("old")
    name, arguments = calls(mark)[form]
    with hands(root) as own:
        own.read("a", "b")
        before = picture(tmp_path)
        prepared = own.prepare(name, **arguments)
        assert isinstance(prepared, Prepared)
        assert picture(tmp_path) == before
        answer = judge(
            call_id=prepared.call_id, contract=prepared.contract, risk=prepared.risk, mode=mode
        )
        most = {Mode.READ_ONLY: 0, Mode.WORKSPACE: Risk.HIGH.rank, Mode.ALL: 3}[mode]
        assert isinstance(answer, Denied) == (prepared.risk.rank > most)
        if isinstance(answer, Denied):
            with pytest.raises(TypeError):
                asyncio.run(own.toolbox.run(prepared, answer))  # type: ignore[arg-type]  # that is the point
            assert picture(tmp_path) == before
            assert not marked(mark)
        elif name != "bash":
            assert asyncio.run(own.toolbox.run(prepared, answer)).ok is not None
            assert picture(tmp_path) != before


@pytest.mark.parametrize("name", ["read_file", "list_files", "search"])
def test_what_only_reads_runs_in_every_mode(tmp_path: Path, name: str) -> None:
    """A-5, A-20."""
    (tmp_path / "a").write_text("x\n")
    arguments = {"read_file": {"path": "a"}, "search": {"pattern": "x"}}.get(name, {})
    for mode in Mode:
        with hands(tmp_path) as own:
            prepared = own.prepare(name, **arguments)
            assert isinstance(prepared, Prepared)
            answer = judge(
                call_id=prepared.call_id,
                contract=prepared.contract,
                risk=prepared.risk,
                mode=mode,
            )
            assert not isinstance(answer, Denied)
            before = picture(tmp_path)
            assert asyncio.run(own.toolbox.run(prepared, answer)).ok is not None
            assert picture(tmp_path) == before
