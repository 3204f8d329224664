"""Installing, listing, showing and removing, as a person does it [I-2, I-60 to I-67]."""

import json
from pathlib import Path

import pytest

from tests.making.commands import Shell
from tests.making.commands import shell
from tests.making.plugins import written
from tests.making.sessions import VERIFY


def install(here: Shell, *more: str) -> None:
    said = here.stella("plugin", "install", VERIFY, "--yes", *more)
    assert said.code == 0, said.err


def test_installing_shows_everything_and_says_what_comes_next(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """[I-2, S-3]"""
    with shell(tmp_path, capsys) as here:
        said = here.stella("plugin", "install", VERIFY, "--yes")
        assert (said.code, said.out) == (0, "")
        assert said.err.startswith("Install the plugin `verify`?\n")
        assert "Nothing above is granted until you accept." in said.err
        following = 'next: stella run --pipeline verify --test-command "…" --model script:FILE "…"'
        assert f"{following}\n" in said.err
        assert (here.root / ".stella/plugins/verify/main.py").is_file()


def test_a_tool_call_of_a_session_cannot_accept_or_remove(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """[I-9]"""
    with shell(tmp_path, capsys) as here:
        install(here)
        monkeypatch.setenv("STELLA_SESSION_ID", "ses-x")
        before = sorted(tmp_path.rglob("*"))
        for words in (("install", VERIFY, "--yes"), ("remove", "verify")):
            said = here.stella("plugin", *words)
            assert (said.code, said.out) == (1, "")
            assert said.err == (
                "stella: STELLA_SESSION_ID is set (ses-x): a running session cannot change what a"
                " person accepted; run it from your own shell\n"
            )
        assert here.stella("plugin", "list").code == 0
        assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.behaviour("K-67")
def test_without_a_terminal_and_without_yes_nothing_is_copied(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """[I-9]"""
    with shell(tmp_path, capsys) as here:
        said = here.stella("plugin", "install", VERIFY)
        assert said.code == 1
        assert "no terminal" in said.err
        assert "--yes" in said.err
        assert not (here.root / ".stella").exists()


def test_a_withheld_name_and_a_warning_are_shown_before_the_question(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """[I-2 steps 7 and 8, M-52]"""
    manifest = (
        'name = "odd"\n[loop]\nparticipation = "steering"\npoints = ["before_turn"]\n'
        '[runtime]\nargv = ["true"]\ntimeout_secs = 1\nenv = ["OPENAI_API_KEY"]\n'
        '[[capabilities]]\ntool = "bash"\nrisk = "hgh"\npurpose = "x"\n'
    )
    source = written(tmp_path / "odd", manifest, "")
    with shell(tmp_path, capsys) as here:
        said = here.stella("plugin", "install", source, "--yes", "--scope", "user")
        assert said.code == 0, said.err
        assert "withheld: OPENAI_API_KEY is a credential" in said.err
        assert "UnknownRiskToken" in said.err
        assert (here.home / "plugins" / "odd").is_dir()


def test_a_faulty_package_is_refused_with_every_fault(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """[M-4, M-12]"""
    source = written(tmp_path / "bad", 'nme = "x"\n[loop]\nparticipation = "stearing"\n', "")
    with shell(tmp_path, capsys) as here:
        said = here.stella("plugin", "install", source, "--yes")
        assert said.code == 1
        for word in ("3 faults", "unknown-key", "missing-key", "did you mean steering?"):
            assert word in said.err
        assert "nothing was copied" in said.err
        assert not (here.root / ".stella").exists()


def test_the_list_is_for_people_and_for_programs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """[I-60, I-62]"""
    with shell(tmp_path, capsys) as here:
        assert "no plugins" in here.stella("plugin", "list").out
        assert json.loads(here.stella("plugin", "list", "--json").out) == []
        install(here)
        said = here.stella("plugin", "list")
        assert said.code == 0
        assert said.out.startswith("verify  project  arbiter  ok\n")
        (row,) = json.loads(here.stella("plugin", "list", "--json").out)
        assert (row["name"], row["state"], row["wrapper"]) == ("verify", "ok", "verify")


def test_plugins_that_nobody_accepted_are_one_notice_of_the_list_and_a_row_each(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """[I-44, I-60, A-72]"""
    with shell(tmp_path, capsys) as here:
        for name in ("one", "two"):
            written(here.root / ".stella" / "plugins" / name, f'name = "{name}"\n', "")
        said = here.stella("plugin", "list")
        assert said.err.startswith("notice  2 plugins of this workspace do not run, because ")
        assert "here: one, two; to use them: " in said.err
        assert said.err.count("\n") == 1
        assert said.out.count("  project  none  not-accepted\n") == 2


@pytest.mark.behaviour("K-160")
def test_a_changed_package_is_listed_as_changed_with_a_notice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """[I-31, I-61]"""
    with shell(tmp_path, capsys) as here:
        install(here)
        main = here.root / ".stella/plugins/verify/main.py"
        main.write_text("x", "utf-8")
        said = here.stella("plugin", "list")
        assert (said.code, "verify  project  arbiter  changed" in said.out) == (0, True)
        assert "notice  verify is not what was accepted: changed main.py" in said.err
        assert "stella plugin remove verify" in said.err


def test_show_has_consent_record_state_and_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """[I-63]"""
    with shell(tmp_path, capsys) as here:
        install(here)
        said = here.stella("plugin", "show", "verify")
        for word in ("Install the plugin `verify`?", "by yes", "state: ok", "main.py", "sha256:"):
            assert word in said.out
        wrong = here.stella("plugin", "show", "verfy")
        assert wrong.code == 1
        assert "did you mean verify?" in wrong.err


@pytest.mark.behaviour("G1")
def test_removed_is_gone_from_every_tier_and_from_the_records(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """[I-66]"""
    with shell(tmp_path, capsys) as here:
        install(here)
        install(here, "--scope", "user")
        said = here.stella("plugin", "remove", "verify")
        assert said.code == 0
        assert said.out.count("removed ") == 2
        assert "no plugins" in here.stella("plugin", "list").out
        assert not list(here.root.rglob("main.py"))
        assert "verify" not in "".join(
            path.read_text("utf-8") for path in here.home.rglob("*.toml")
        )
        again = here.stella("plugin", "remove", "verify")
        assert again.code == 1
        assert "is installed neither" in again.err


def test_a_check_prints_every_fault_and_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """[I-64, I-70, M-12]; the report is the result, so it goes to standard output."""
    source = written(tmp_path / "bad", 'nme = "x"\n[loop]\nparticipation = "stearing"\n', "")
    with shell(tmp_path, capsys) as here:
        before = sorted(tmp_path.rglob("*"))
        said = here.stella("plugin", "check", source)
        assert (said.code, said.err) == (1, "")
        assert said.out == (
            "plugin.toml cannot be loaded: 3 faults\n"
            "  1. R-1 Parse (unknown-key) at line 1, column 1\n"
            '     top level: unknown key "nme"; did you mean name?\n'
            "  2. R-1 Parse (unknown-token) at line 3, column 1\n"
            '     [loop] participation = "stearing" is not one of the words allowed here; did you'
            " mean steering?\n"
            "  3. R-1 Parse (missing-key)\n"
            '     top level: the required key "name" is missing; expected a string.\n'
        )
        found = json.loads(here.stella("plugin", "check", source, "--json").out)
        assert [fault["near"] for fault in found["faults"]] == [["name"], ["steering"], []]
        assert sorted(tmp_path.rglob("*")) == before


def test_a_check_of_a_sound_plugin_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """[I-64, I-70]; a tool call of a session may check, since nothing is changed [I-9]."""
    with shell(tmp_path, capsys) as here:
        monkeypatch.setenv("STELLA_SESSION_ID", "ses-x")
        said = here.stella("plugin", "check", VERIFY)
        assert (said.code, said.out, said.err) == (0, "verify: no faults\n", "")
        said = here.stella("plugin", "check", "../nowhere", "--json")
        assert (said.code, json.loads(said.out)["name"]) == (1, None)
        assert here.stella("plugin", "check").code == 2
