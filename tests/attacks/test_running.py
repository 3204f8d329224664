"""What was accepted and what was not, by what ran: a changed byte, a shell's text."""

from pathlib import Path

import pytest

from stella.cli.commands import plugin
from tests.making.child import open_folder
from tests.making.child import said_by_nobody
from tests.making.ends import Place
from tests.making.ends import place
from tests.making.ends import says
from tests.making.plugins import steering
from tests.making.plugins import written
from tests.making.watched import watched


@pytest.fixture(name="where")
def _where(tmp_path: Path) -> Place:
    return place(tmp_path)


@pytest.mark.behaviour("G5")
def test_a_byte_changed_after_the_yes_does_not_run(where: Place, tmp_path: Path) -> None:
    """[I-30, I-31] By the mark its program would leave, and by `list` and `show`."""
    mark = tmp_path / "ran"
    package = steering(tmp_path / "guide", f"import pathlib\npathlib.Path({str(mark)!r}).touch()\n")
    where.install(package)
    where.scripted(says())
    asked = ("run", "go", "--model", f"script:{where.script}", "--pipeline", "guide")
    where.stella(*asked)
    assert mark.exists()
    mark.unlink()
    there = where.root / ".stella" / "plugins" / "guide"
    with (there / "main.py").open("r+b") as file:
        file.write(b"I")
    done = where.stella(*asked)
    assert done.code == 1
    assert "changed main.py" in done.err
    manifest = there / "plugin.toml"
    manifest.write_text(manifest.read_text().replace('env = ["PATH"]', 'env = ["PATH", "HOME"]'))
    (there / "added.py").touch()
    done = where.stella(*asked)
    for words in (
        "added added.py, changed main.py, changed plugin.toml",
        "-       environment: PATH and nothing else",
        "+       environment: PATH, HOME and nothing else",
    ):
        assert words in done.err, done.err
    assert "guide  project  steering  changed" in where.stella("plugin", "list").out
    assert not mark.exists()


@pytest.mark.behaviour("F7", "B55")
def test_what_a_shell_would_run_is_one_word_and_no_shell_is_there(
    where: Place, tmp_path: Path
) -> None:
    """[T-3, M-34]"""
    mark = tmp_path / "ran"
    words = [
        f"x; touch {mark}",
        f"$(touch {mark})",
        f"`touch {mark}`",
        "${HOME}",
        "${plugin_dir}",
        "${${plugin_dir}}",
    ]
    program = (
        "import json, sys\nsys.stdin.readline()\n"
        "sys.stderr.write(json.dumps(sys.argv[1:]))\nsys.exit(1)\n"
    )
    package = steering(tmp_path / "guide $(id); x", program)
    manifest = package / "plugin.toml"
    argv = ", ".join(f"'{word}'" for word in words)
    manifest.write_text(manifest.read_text().replace('main.py"]', f'main.py", {argv}]'))
    where.install(package)
    where.scripted(says())
    done = where.stella("run", "go", "--model", f"script:{where.script}", "--pipeline", "guide")
    there = where.root / ".stella" / "plugins" / "guide"
    assert f'"${{HOME}}", "{there}", "${{{there}}}"' in done.err
    assert not mark.exists()
    literal = steering(tmp_path / "literal", "", name="literal")
    text = (literal / "plugin.toml").read_text()
    argv_was = text[text.index("argv") : text.index("\ntimeout")]
    (literal / "plugin.toml").write_text(text.replace(argv_was, f"argv = ['touch {mark}']"))
    done = where.stella("plugin", "install", str(literal), "--yes")
    assert not mark.exists()
    assert f"touch {mark}" in done.err


@pytest.mark.behaviour("F10")
def test_a_spoilt_plugin_hides_none_and_can_be_removed() -> None:
    """[I-41, I-44, I-66]"""
    assert plugin.command.name == "plugin"  # loaded while its file can still be read
    with open_folder() as folder:
        where = place(folder)
        where.home.mkdir()
        for directory in (where.root, where.home, where.person):
            directory.chmod(0o777)
        written(folder / "good", 'name = "good"\n', "")
        done = watched(
            where, "plugin", "install", str(folder / "good"), "--yes", within=said_by_nobody
        ).done
        assert done.code == 0, done.err
        tier = where.root / ".stella" / "plugins"

        def spoil() -> str:
            written(tier / "torn", 'name = "torn"\n[', "")
            written(tier / "unread", 'name = "unread"\n', "")
            (tier / "unread" / "plugin.toml").chmod(0)
            (tier / "round").mkdir()
            (tier / "round" / "plugin.toml").symlink_to("plugin.toml")
            return "spoilt"

        assert said_by_nobody(spoil) == "spoilt"
        done = watched(where, "plugin", "list", within=said_by_nobody).done
        assert "good  project  none  ok" in done.out
        for name, why in (
            ("torn", "the file is not TOML"),
            ("unread", "Permission denied"),
            ("round", "expected a regular file, got a symbolic link"),
        ):
            line = next(line for line in done.err.split("\n") if f"{tier / name}: left out" in line)
            assert why in line
        for name in ("torn", "unread", "round", "good"):
            done = watched(where, "plugin", "remove", name, within=said_by_nobody).done
            assert done.code == 0, done.err
        assert list(tier.iterdir()) == []
