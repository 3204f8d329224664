"""Who takes part in every session [D-6, D-61, D-70]."""

import os
from pathlib import Path

from stella.process.program import Program
from stella.roster.roster import read_roster
from stella.roster.scope import places
from stella.session.enabled import Enabled
from stella.session.enabled import credentials
from stella.session.enabled import enabled
from stella.session.options import Options
from tests.making.observers import observer
from tests.making.plugins import arbiter
from tests.making.plugins import steering
from tests.making.plugins import written
from tests.making.sessions import installed
from tests.making.sessions import options
from tests.making.sessions import project
from tests.making.sessions import says
from tests.making.sessions import script


def asked(tmp_path: Path, *sources: Path, **more: object) -> Options:
    root = project(tmp_path / "work")
    for source in sources:
        installed(root, tmp_path / "home", source)
    return options(root, tmp_path / "home", script(tmp_path / "m", says("x")), **more)


def found_in(wanted: Options) -> tuple[Enabled, ...]:
    where = places(wanted.home, wanted.workspace)
    return enabled(wanted, wanted.workspace, read_roster(where, wanted.env["PATH"]))


def test_every_plugin_with_a_process_is_enabled_by_name(tmp_path: Path) -> None:
    wanted = asked(
        tmp_path,
        observer(tmp_path / "src", "*"),
        arbiter(tmp_path / "src" / "judge", ""),
        steering(tmp_path / "src" / "guide", ""),
        written(tmp_path / "src" / "quiet", 'name = "quiet"\n', ""),
        written(
            tmp_path / "src" / "still", 'name = "still"\n[loop]\nparticipation = "observer"\n', ""
        ),
    )
    found = found_in(wanted)
    assert [each.plugin.name for each in found] == ["guide", "judge", "watch"]
    watch = found[-1]
    assert watch.process.directory == wanted.workspace / ".stella" / "plugins" / "watch"
    assert watch.process.arguments[-1] == str(watch.process.directory / "main.py")
    assert set(watch.process.env) == {"PATH", "HOME"} & os.environ.keys()
    assert isinstance(watch.process.cleared(), Program)


def test_without_plugins_nobody_is(tmp_path: Path) -> None:
    wanted = asked(tmp_path)
    assert found_in(wanted) == ()


def test_a_changed_plugin_is_among_them_and_never_cleared(tmp_path: Path) -> None:
    """[D-69, T-2]"""
    wanted = asked(tmp_path, observer(tmp_path / "src", "*"))
    with (wanted.workspace / ".stella/plugins/watch/main.py").open("a") as file:
        file.write("\n")
    (watch,) = found_in(wanted)
    assert watch.plugin.barrier is not None
    assert "watch" in str(watch.process.cleared())


def test_credentials_are_told_by_name(tmp_path: Path) -> None:
    """[T-11]"""
    source = observer(tmp_path / "src", "*")
    manifest = source / "plugin.toml"
    manifest.write_text(manifest.read_text().replace('"HOME"]', '"OPENAI_API_KEY"]'))
    quiet = written(tmp_path / "src" / "quiet", 'name = "quiet"\n', "")
    wanted = asked(tmp_path, source, quiet, env={"OPENAI_API_KEY": "k" * 20, "PATH": "/usr/bin"})
    (watch,) = found_in(wanted)
    assert list(credentials(watch.plugin)) == [
        ("credential_withheld", "watch lists OPENAI_API_KEY, a credential; it is withheld")
    ]
    assert dict(watch.process.env) == {"PATH": "/usr/bin"}


def test_what_a_plugin_says_is_cleared_of_the_keys_in_use(tmp_path: Path) -> None:
    """[J2-22, H-41]"""
    env = {"PATH": os.environ["PATH"], "OPENAI_API_KEY": "quartz-lantern-zebra"}
    (watch,) = found_in(asked(tmp_path, observer(tmp_path / "src", "*"), env=env))
    assert watch.process.clean("a quartz-lantern-zebra b") == "a [redacted] b"
