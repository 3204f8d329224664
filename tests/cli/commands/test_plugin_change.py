"""Upgrading, accepting, switching and removing, as a person does it [I-33, I-36, I-65, I-66]."""

import json
from pathlib import Path

import pytest

from stella.consent.answer import digest_of
from tests.making.commands import Shell
from tests.making.commands import shell
from tests.making.packages import meter
from tests.making.packages import notes
from tests.making.packages import seen
from tests.making.packages import skin


def state(here: Shell, name: str) -> str:
    rows = json.loads(here.stella("plugin", "list", "--json").out)
    return next((row["state"] for row in rows if row["name"] == name), "none")


def shown_digest(err: str) -> str:
    """The digest that a command printed below the text, which is the text's own."""
    digest = next(line for line in err.splitlines() if line.startswith("sha256:"))
    start = err.index("Install the plugin `")
    end = err.index("Nothing above is granted until you accept.")
    text = err[start : end + len("Nothing above is granted until you accept.")]
    assert digest == digest_of(text)
    return digest


@pytest.mark.behaviour("I-36")
def test_an_upgrade_shows_the_difference_then_the_whole_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """[I-36, I-37, K-164]"""
    with shell(tmp_path, capsys) as here:
        source = meter(tmp_path / "source")
        assert here.stella("plugin", "install", source, "--yes").code == 0
        manifest = source / "plugin.toml"
        manifest.write_text(manifest.read_text("utf-8") + 'env = ["HOME"]\n', "utf-8")
        refused = here.stella("plugin", "install", source, "--yes")
        assert refused.code == 1
        for fix in ("`--upgrade`", "`stella plugin remove meter`", "nothing was copied"):
            assert fix in refused.err
        said = here.stella("plugin", "install", source, "--upgrade", "--yes")
        assert said.code == 0, said.err
        assert said.err.startswith(
            "Files, against what was accepted before: changed plugin.toml\n"
            "The consent text differs, then (-) and now (+):\n"
            "  -       environment: nothing\n"
            "  +       environment: HOME and nothing else\n"
            "\n"
            "Install the plugin `meter`?\n"
        )
        assert f"upgraded meter in {here.root}/.stella/plugins/meter\n" in said.err
        assert state(here, "meter") == "ok"
        again = here.stella("plugin", "install", source, "--upgrade", "--yes")
        assert "The consent text is equal to the one that was accepted before." in again.err
        assert "No file differs from what was accepted before." in again.err


def test_an_upgrade_needs_something_to_upgrade(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """[I-36]"""
    with shell(tmp_path, capsys) as here:
        source = notes(tmp_path / "source")
        said = here.stella("plugin", "install", source, "--upgrade", "--yes")
        assert said.code == 1
        assert "leave --upgrade out to install it; nothing was copied" in said.err
        assert not (here.root / ".stella").exists()


@pytest.mark.behaviour("A38")
def test_a_digest_accepts_the_text_it_is_of_and_no_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """[A38, I-9]: for install, upgrade and accept alike; the text is printed every time."""
    other = "sha256:" + "0" * 64
    with shell(tmp_path, capsys) as here:
        source = notes(tmp_path / "source")
        for words in (
            ("install", str(source)),
            ("install", str(source), "--upgrade"),
            ("accept", "notes"),
        ):
            before = seen(tmp_path)
            refused = here.stella("plugin", *words, "--accept", other, "--yes")
            assert refused.code == 1
            digest = shown_digest(refused.err)
            assert f"--accept names {other}, but the consent text is {digest}" in refused.err
            assert seen(tmp_path) == before
            said = here.stella("plugin", *words, "--accept", digest)
            assert said.code == 0, said.err
            (here.root / ".stella/plugins/notes/main.py").write_text("print(2)\n")
        wrong = here.stella("plugin", "install", source, "--accept", "sha256:12")
        assert wrong.code == 2
        assert "expected sha256: and 64 hex digits" in wrong.err


@pytest.mark.behaviour("K-160", "G5")
def test_accept_shows_what_changed_and_the_plugin_is_accepted_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """[I-31, I-33]"""
    with shell(tmp_path, capsys) as here:
        assert here.stella("plugin", "install", notes(tmp_path / "source"), "--yes").code == 0
        installed = here.root / ".stella/plugins/notes"
        (installed / "main.py").write_text("print(2)\n", "utf-8")
        (installed / "more").touch()
        said = here.stella("plugin", "list")
        assert "notice  notes is not what was accepted: changed main.py, added more; " in said.err
        assert "`stella plugin accept notes`" in said.err
        said = here.stella("plugin", "accept", "notes")
        assert said.code == 1
        assert "there is no terminal to ask on; give --yes" in said.err
        assert state(here, "notes") == "changed"
        said = here.stella("plugin", "accept", "notes", "--yes")
        assert said.code == 0
        assert said.err.startswith(
            "Files, against what was accepted before: changed main.py, added more\n"
            "The consent text is equal to the one that was accepted before.\n"
        )
        assert said.err.endswith(f"accepted notes in {installed}\n")
        assert state(here, "notes") == "ok"
        said = here.stella("plugin", "accept", "notes", "--yes")
        assert "is as it was accepted; there is nothing to do" in said.err


@pytest.mark.behaviour("K-166")
def test_a_plugin_is_switched_off_and_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """[I-65, I-2 step 15]"""
    with shell(tmp_path, capsys) as here:
        source = notes(tmp_path / "source")
        here.stella("plugin", "install", source, "--yes")
        path = here.home / "stella.toml"
        said = here.stella("plugin", "disable", "notes")
        assert (said.code, said.err) == (0, f"notes is off now, in {path}\n")
        assert path.read_text("utf-8") == '[plugins]\nnotes = "off"\n'
        assert "was off already" in here.stella("plugin", "disable", "notes").err
        said = here.stella("plugin", "disable", "notes", "--scope", "project")
        assert (here.root / "stella.toml").read_text("utf-8") == '[plugins]\nnotes = "off"\n'
        said = here.stella("plugin", "install", source, "--upgrade", "--yes")
        assert f"notes will not run: it is switched off in {path}; see " in said.err
        said = here.stella("plugin", "enable", "notes")
        assert said.code == 0
        assert said.err == (
            f"notes is not switched off in {path} any more\n"
            f"notes is still off: {here.root}/stella.toml says so\n"
        )
        said = here.stella("plugin", "enable", "notes")
        assert said.err.startswith(f"notes was not switched off in {path}\n")
        assert here.stella("plugin", "enable", "notes", "--scope", "project").code == 0
        wrong = here.stella("plugin", "disable", "ntoes")
        assert (wrong.code, "did you mean notes?" in wrong.err) == (1, True)


@pytest.mark.behaviour("I-66")
def test_a_removal_tells_what_was_put_back_and_what_was_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """[I-66, S-3]: in both tiers."""
    with shell(tmp_path, capsys) as here:
        (here.root / "stella.toml").write_text("[ui]\ntheme = 'default'\n", "utf-8")
        source = skin(tmp_path / "source")
        for scope in ("project", "user"):
            said = here.stella("plugin", "install", source, "--yes", "--scope", scope)
            assert said.code == 0
            assert "changed 1 setting in " in said.err
        mine = '[ui]\ntheme = "high-contrast"\n'
        (here.home / "stella.toml").write_text(mine, "utf-8")
        said = here.stella("plugin", "remove", "skin")
        assert said.code == 0
        assert said.out == (
            f"removed {here.root}/.stella/plugins/skin\n"
            f"removed {here.home}/plugins/skin\n"
            f"restored ui.theme in {here.root}/stella.toml\n"
            + "".join(
                f"dropped the record in {path}\n"
                for path in (
                    *sorted((here.home / "consent").glob("*.lock.toml")),
                    here.home / "plugins.lock.toml",
                )
            )
        )
        assert said.err.startswith(f"not restored: ui.theme in {here.home}/stella.toml: ")
        assert (here.root / "stella.toml").read_text("utf-8") == "[ui]\ntheme = 'default'\n"
        assert (here.home / "stella.toml").read_text("utf-8") == mine


def test_no_command_that_writes_runs_in_a_session(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """[I-9]: consent is a person's."""
    with shell(tmp_path, capsys) as here:
        source = notes(tmp_path / "source")
        here.stella("plugin", "install", source, "--yes")
        monkeypatch.setenv("STELLA_SESSION_ID", "ses-x")
        before = seen(tmp_path)
        for words in (
            ("install", source, "--yes"),
            ("install", source, "--upgrade", "--yes"),
            ("accept", "notes", "--yes"),
            ("disable", "notes"),
            ("enable", "notes"),
            ("remove", "notes"),
        ):
            said = here.stella("plugin", *words)
            assert (said.code, said.out) == (1, "")
            assert "a running session cannot change what a person accepted" in said.err
        assert seen(tmp_path) == before


@pytest.mark.behaviour("I-70")
def test_what_a_command_came_to_is_its_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """[I-70]"""
    with shell(tmp_path, capsys) as here:
        source = notes(tmp_path / "source")
        codes = {
            ("install", source, "--yes"): 0,
            ("install", source): 1,
            ("install", source, "--upgarde"): 2,
            ("install",): 2,
            ("install", source, "--scope", "both"): 2,
            ("accept",): 2,
            ("accept", "nobody"): 1,
            ("disable", "nobody"): 1,
            ("disable", "notes", "--scope", "managed"): 2,
            ("remove", "a/b"): 2,
            ("remove", "nobody"): 1,
            ("remove", "notes"): 0,
        }
        for words, code in codes.items():
            assert here.stella("plugin", *words).code == code, words


def test_what_a_crash_left_is_told_by_reading_and_mended_by_writing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """[Q-12, S-4]"""
    with shell(tmp_path, capsys) as here:
        tier = here.root / ".stella/plugins"
        notes(tier / ".old-abc")
        notes(tier / ".staging-abc")
        before = seen(tmp_path)
        said = here.stella("plugin", "list")
        assert said.err.count("left by a command that is at work or was cut off") == 2
        assert "no plugins are installed here" in said.out
        assert seen(tmp_path) == before
        assert here.stella("plugin", "disable", "notes").code == 0
        assert [path.name for path in tier.iterdir()] == ["notes"]
