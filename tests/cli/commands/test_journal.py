"""Looking into a session's record, whole and damaged [J2-50, J2-33]."""

import json
from pathlib import Path

import pytest

from tests.making.commands import Shell
from tests.making.commands import shell
from tests.making.sessions import mends
from tests.making.sessions import script


def ran(here: Shell) -> Path:
    """Do a run and return its journal."""
    model = script(here.root.parent / "replies.jsonl", *mends(7))
    said = here.stella("run", "go", "--model", f"script:{model}", "--output-format", "json")
    return here.root / str(json.loads(said.out)["journal"]["path"])


def test_show_prints_chosen_records(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with shell(tmp_path, capsys) as here:
        path = ran(here)
        said = here.stella("journal", "show", "last", "--json")
        assert said.out == path.read_text("utf-8")
        chosen = here.stella("journal", "show", path.parent.name, "--type", "prompt")
        assert len(chosen.out.splitlines()) == 1
        assert "text=go" in chosen.out
        turned = here.stella("journal", "show", "last", "--turn", "t1", "--json")
        assert {json.loads(line)["turn"] for line in turned.out.splitlines()} == {"t1"}
        assert turned.err == ""
        none = here.stella("journal", "show", "last", "--turn", "t99")
        assert (none.code, none.out) == (0, "")
        assert none.err == '--turn: no record of a turn "t99"; legal here: t1\n'


def test_verify_says_what_is_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with shell(tmp_path, capsys) as here:
        path = ran(here)
        said = here.stella("journal", "verify")
        assert said.code == 0
        assert f"{path.parent.name}: ok, " in said.out
        head = said.out.split()[-1]
        assert here.stella("journal", "verify", "last", "--head", head).code == 0
        assert here.stella("journal", "verify", "last", "--head", "0" * 64).code == 1
        ran(here)
        assert len(here.stella("journal", "verify", "--all").out.splitlines()) == 2
        assert here.stella("journal", "verify", "--all", "--head", head).code == 2
        both = here.stella("journal", "verify", "last", "--all")
        assert (both.code, both.out) == (2, "")
        assert '--all checks every session, "last" is one; give one of them' in both.err


def test_damage_is_named_and_shown_up_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """[J2-33]"""
    with shell(tmp_path, capsys) as here:
        path = ran(here)
        lines = path.read_bytes().splitlines(keepends=True)
        lines[4] = lines[4].replace(b"t1", b"t2", 1)
        path.write_bytes(b"".join(lines))
        said = here.stella("journal", "verify")
        assert said.code == 1
        assert "damaged at line 6 (seq 6)" in said.out
        shown = here.stella("journal", "show", "last", "--json")
        assert shown.code == 1
        assert len(shown.out.splitlines()) == 5
        assert "damaged" in shown.err


def test_a_torn_tail_and_an_unknown_type_are_reported_and_no_damage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """[J2-12, J2-32]"""
    with shell(tmp_path, capsys) as here:
        path = ran(here)
        with path.open("ab") as file:
            file.write(b'{"seq":')
        said = here.stella("journal", "verify")
        assert said.code == 0
        assert "torn" in said.out


@pytest.mark.parametrize("words", [("show", "last"), ("verify",), ("show", "ses-zzz")])
def test_what_is_not_there_is_a_usage_error(
    words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with shell(tmp_path, capsys) as here:
        said = here.stella("journal", *words)
        assert said.code == 2
        assert "no session here yet" in said.err
        assert not (here.root / ".stella").exists()
