"""What was accepted and what was not, by what ran: a changed byte, a shell's text."""

from pathlib import Path

import pytest

from stella.cli.commands import plugin
from tests.making.child import open_folder
from tests.making.child import said_by_nobody
from tests.making.ends import Place
from tests.making.ends import asks
from tests.making.ends import place
from tests.making.ends import says
from tests.making.plugins import hooking
from tests.making.plugins import steering
from tests.making.plugins import written
from tests.making.terminal import conversed
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


@pytest.fixture(name="mark")
def _mark(where: Place, tmp_path: Path) -> Path:
    """The file that an installed plugin of the workspace makes when it is started."""
    mark = tmp_path / "ran"
    where.install(
        steering(tmp_path / "guide", f"import pathlib\npathlib.Path({str(mark)!r}).touch()\n")
    )
    return mark


def ran(where: Place, mark: Path) -> bool:
    """Run a turn with that plugin, as far as it gets, and say whether it was started."""
    mark.unlink(missing_ok=True)
    where.scripted(says())
    where.stella("run", "go", "--model", f"script:{where.script}", "--pipeline", "guide")
    return mark.exists()


def record_of(where: Place) -> Path:
    (record,) = (where.home / "consent").glob("*.toml")
    return record


@pytest.mark.behaviour("A32.record")
def test_a_record_lies_where_no_plugin_and_no_tool_of_a_session_writes(
    where: Place, mark: Path
) -> None:
    """[I-26] In the person's home, for them alone; the file tools do not reach it."""
    record = record_of(where)
    before = record.read_bytes()
    assert record.stat().st_mode & 0o777 == 0o600
    assert record.parent.stat().st_mode & 0o777 == 0o700
    assert not record.is_relative_to(where.root)
    link = where.root / "link"
    link.symlink_to(where.home)
    calls = [
        call
        for path in (str(record), f"../home/consent/{record.name}", f"link/consent/{record.name}")
        for call in (
            asks("write_file", path=path, content="x"),
            asks("edit_file", path=path, old_string="name", new_string="x"),
            asks("delete_file", path=path),
        )
    ]
    where.scripted(*calls, says())
    where.run("--permissions", "all")
    assert {judged["decision"] for judged in where.told("authz")} == {"allow"}
    finished = where.told("tool_finished")
    assert len(finished) == len(calls)
    assert all("error" in each["output"] for each in finished)
    assert record.read_bytes() == before
    assert ran(where, mark)


@pytest.mark.behaviour("A32.record")
def test_a_plugin_whose_record_is_not_right_is_not_started(where: Place, mark: Path) -> None:
    """[I-27, I-30] A bad record is no record."""
    record = record_of(where)
    good = record.read_bytes()
    for bad in (
        b"",
        good[: len(good) // 2],
        good + b"\x00",
        b"\xff" + good,
        good.replace(b'digest = "sha256:', b'digest = "md5:'),
        good.replace(b'name = "guide"', b'name = "other"'),
        good.replace(b"[plugin.files]", b"extra = 1\n[plugin.files]"),
        good.replace(b"plugin-lock/v1", b"plugin-lock/v2"),
    ):
        assert bad != good
        record.write_bytes(bad)
        assert not ran(where, mark), bad
    assert "guide  project  steering  not-accepted" in where.stella("plugin", "list").out
    record.write_bytes(good)
    assert ran(where, mark)


@pytest.mark.behaviour("A32.record")
def test_a_record_that_the_workspace_brings_is_not_read(where: Place, mark: Path) -> None:
    """[I-26] Nor one that was made for another workspace."""
    record = record_of(where)
    for path in (where.root / "plugins.lock.toml", where.root / ".stella" / record.name):
        path.write_bytes(record.read_bytes())
    record.rename(record.with_name(f"{'0' * 32}.lock.toml"))
    assert not ran(where, mark)


@pytest.mark.behaviour("A37.run")
def test_a_plugin_that_comes_with_a_pull_into_a_trusted_workspace_is_not_started(
    where: Place, mark: Path, tmp_path: Path
) -> None:
    """[I-34] Trust is about what was shown: one that was accepted runs on, the other waits."""
    settings = where.root / "stella.toml"
    settings.write_text('[plugins]\nnobody = "off"\n')
    assert conversed(where, "trust", typed=b"y\n").code == 0
    late = tmp_path / "late-ran"
    program = f"import pathlib\npathlib.Path({str(late)!r}).touch()\n"
    steering(where.root / ".stella" / "plugins" / "late", program, name="late")
    hooking(where.root / ".stella" / "plugins" / "hook", program, "SessionStart", name="hook")
    assert ran(where, mark)
    where.scripted(says())
    done = where.stella("run", "go", "--model", f"script:{where.script}", "--pipeline", "late")
    assert done.code != 0
    assert not late.exists()
    listed = where.stella("plugin", "list").out
    assert "late  project  steering  not-accepted" in listed
    assert "hook  project  steering  not-accepted" in listed


@pytest.mark.behaviour("B58.run")
def test_a_credential_that_is_asked_for_is_never_in_the_process(
    where: Place, tmp_path: Path
) -> None:
    """[T-11, D-11] What the system says was handed over, and what the person was told."""
    mark = tmp_path / "ran"
    program = (
        "import pathlib\ngiven = pathlib.Path('/proc/self/environ').read_bytes()\n"
        f"pathlib.Path({str(mark)!r}).write_bytes(given)\n"
    )
    package = steering(tmp_path / "guide", program)
    manifest = package / "plugin.toml"
    names = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "Openai_Api_Key", "X_TOKEN")
    listed = ", ".join(f'"{name}"' for name in ("PATH", "SHOWN", *names))
    manifest.write_text(manifest.read_text().replace('"PATH"', listed))
    told = where.stella("plugin", "install", str(package), "--yes").err
    where.scripted(says())
    asked = ("run", "go", "--model", f"script:{where.script}", "--pipeline", "guide")
    where.stella(*asked, env=dict.fromkeys(names, "sk-planted") | {"SHOWN": "here"})
    given = mark.read_bytes()
    assert b"SHOWN=here" in given.split(b"\0")
    assert b"planted" not in given
    shown = where.stella("plugin", "list").out
    for name in names:
        assert name.encode() not in given
        assert f"withheld: {name} is a credential and is not passed on" in told
        assert f"withheld guide  {name}" in shown


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
