"""The command line as a whole: what exists, what does not, and how it ends [S-1 to S-4]."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from stella.cli import main
from stella.cli.main import COMMANDS
from stella.cli.main import WINDOWS
from stella.cli.main import run
from tests.making.commands import shell


def test_without_a_command_the_help_lists_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with shell(tmp_path, capsys) as here:
        said = here.stella()
        assert said.code == 0
        for name in COMMANDS:
            assert name in said.out
        assert here.stella("--help").code == 0


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_command_has_help_and_takes_a_workspace(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """[S-2]"""
    with shell(tmp_path, capsys) as here:
        said = here.stella(name, "--help")
        assert said.code == 0
        assert said.out
        assert said.err == ""


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("rnu",), "did you mean run?"),
        (("plugin", "instal"), "did you mean install?"),
        (("journal", "verfy"), "did you mean verify?"),
        (("run", "--pipline", "x", "go"), "did you mean --pipeline?"),
        (("plugin", "list", "--jsn"), "--json"),
    ],
)
def test_a_wrong_word_gets_the_near_ones(
    words: tuple[str, ...], hint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """[S-2]"""
    with shell(tmp_path, capsys) as here:
        said = here.stella(*words)
        assert said.code == 2
        assert hint in said.err
        assert said.out == ""
        assert "Traceback" not in said.err


@pytest.mark.behaviour("T-1")
@pytest.mark.behaviour("K-154")
@pytest.mark.parametrize("words", [(), ("--help",), ("no-such",), *((name,) for name in COMMANDS)])
def test_on_windows_every_command_prints_one_line(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """[T-1]"""
    assert run(words, platform="win32") == 1
    assert capsys.readouterr() == ("", f"{WINDOWS}\n")


@pytest.mark.behaviour("T-1", "K-154")
def test_on_windows_no_file_is_read_and_no_process_started(tmp_path: Path) -> None:
    """[T-1] The interpreter tells of everything it opens, lists or starts."""
    program = (
        "import sys\nfrom stella.cli.main import run\nseen = []\n"
        "sys.addaudithook(lambda name, _: seen.append(name))\n"
        "codes = [run([name, '--help'], platform='win32') for name in sys.argv[1:]]\n"
        "print(seen, set(codes))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *COMMANDS],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[] {1}\n"
    assert done.stderr == f"{WINDOWS}\n" * len(COMMANDS)


@pytest.mark.parametrize("flags", [(), ("-P",)])
def test_python_m_stella_is_the_command(flags: tuple[str, ...]) -> None:
    words = (sys.executable, *flags, "-m", "stella", "version")
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("stella ")


def test_a_listing_starts_neither_a_loop_nor_a_drawing_library() -> None:
    """[S-4] What a reading command imports decides how fast it starts."""
    program = (
        "import sys\nfrom stella.cli.main import run\n"
        "code = run(['plugin', 'list'])\n"
        "print([m for m in ('rich', 'stella.session.session', 'stella.providers.scripted')"
        " if m in sys.modules], code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[] 0"


def test_a_command_that_stays_open_to_others_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """E127: and does what it was asked all the same."""
    monkeypatch.setattr(main, "conceal", lambda: "anybody can read this")
    monkeypatch.setattr(main, "settle", lambda: None)
    monkeypatch.setattr(main, "run", lambda _: 7)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    with pytest.raises(SystemExit, match="7"):
        main.main()
    assert capsys.readouterr().err == "stella: anybody can read this\n"
