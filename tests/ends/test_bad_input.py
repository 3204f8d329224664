"""Input that cannot be: one message with its place and a way out, and nothing changed on disk."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from tests.making.ends import HONEST
from tests.making.ends import Place
from tests.making.ends import place
from tests.making.ends import says
from tests.making.ends import tree
from tests.making.plugins import arbiter
from tests.making.plugins import written

RUN: Final = ("run", "go", "--model", "script:{script}")
FAULTY: Final = """\
name = "bad"
colour = "red"

[loop]
participation = "stearing"
"""


def refused(where: Place, code: int, *words: str, **env: str | None) -> str:
    """Run a command, which must be refused with nothing changed, and return what it said.

    In a word and in the value of a variable `{root}` and such stand for the paths of the place; a
    variable that is None is left out.
    """
    if not where.script.exists():
        where.scripted(says())
    names = {name: str(getattr(where, name)) for name in ("root", "home", "person", "script")}
    given = {**where.env, **{k: v and v.format(**names) for k, v in env.items()}}
    before = tree(where.root.parent)
    done = where.stella(
        *(word.format(**names) for word in words),
        env={name: value for name, value in given.items() if value is not None},
        bare=True,
    )
    assert tree(where.root.parent) == before
    assert done.code == code, done.err
    assert done.out == ""
    assert done.err.startswith("stella: ")
    assert "Traceback" not in done.err
    return done.err.removeprefix("stella: ").removesuffix("\n")


def parts(message: str, *wanted: str) -> None:
    """The message holds all of these, in this order."""
    at = 0
    for part in wanted:
        assert part in message[at:], message
        at = message.index(part, at) + len(part)


@pytest.mark.behaviour("G-5")
@pytest.mark.behaviour("K-101", "K-103", "K-104")
@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("pytest && rm -r x", ("position 8", '"&"', "script file")),
        ("pytest | tee x", ("position 8", '"|"', "script file")),
        ("pytest; ls", ("position 7", '";"', "script file")),
        ("pytest > o", ("position 8", '">"', "script file")),
        ("pytest < i", ("position 8", '"<"', "script file")),
        ("pytest $(ls)", ("position 8", '"$("', "script file")),
        ("pytest `ls`", ("position 8", '"`"', "script file")),
        ("pytest\nls", ("position 7", "newline (U+000A)", "script file")),
        ("pytest 'a\nb'", ("position 10", "U+000A", "control character", "remove it")),
        ('pytest "\x1b[0m"', ("position 9", "U+001B", "control character", "remove it")),
        ("pytest\u00a0-q", ("position 7", "U+00A0", "use a plain space, or quote it")),
        ('pytest "unfinished', ("position 8", "never closed", "close it, or escape it")),
        ("pytest 'unfinished", ("position 8", "never closed", "close it, or escape it")),
        ("pytest \\", ("position 8", "backslash at the end", "remove it")),
        ("", ("it is empty", "name a program")),
        (" \t ", ("it is empty", "name a program")),
        ("'' -q", ("position 1", "first word is empty", "name the program")),
        ("X=1 pytest", ("position 1", '"X=…"', "env X=…")),
    ],
)
def test_a_test_command_only_a_shell_could_run_is_refused(
    tmp_path: Path, text: str, wanted: tuple[str, ...]
) -> None:
    """[G-4 to G-7] Before the pipeline is looked for."""
    escaped = text.replace("{", "{{").replace("}", "}}")
    message = refused(place(tmp_path), 2, *RUN, "--pipeline", "p", "--test-command", escaped)
    assert len(message.splitlines()) == 1
    parts(message, "test command", *wanted)


@pytest.mark.behaviour("G-9")
@pytest.mark.behaviour("K-97")
def test_a_test_program_that_is_not_on_the_path_is_refused(tmp_path: Path) -> None:
    """[G-9] One with a slash may be about to be written; its absence is a warning."""
    where = place(tmp_path)
    where.install(arbiter(tmp_path / "judge", HONEST))
    run = (*RUN, "--pipeline", "judge", "--test-command")
    parts(refused(where, 2, *run, "pyhton3 -q"), "pyhton3", "did you mean python3")
    done = where.run("--pipeline", "judge", "--test-command", "./check.sh")
    assert "./check.sh does not exist yet" in done.err
    (baseline,) = where.told("baseline")
    assert (baseline["baseline"], baseline["reason"]) == ("unobserved", "not-started")


def test_a_script_tells_every_fault_with_its_line(tmp_path: Path) -> None:
    """[M2-21]"""
    where = place(tmp_path)
    where.script.write_bytes(
        b'{"text":"fine"}\n'
        b'{"txet":"x"}\n'
        b"\n"
        b'{"text":1,"delay_ms":700000}\n'
        b"not json\n"
        b'{"error":{"kind":"nope"},"text":"x"}\n'
        b"\xff\n"
        b'{"text":"a","text":"b"}\n'
        b'{"text":"cut off'
    )
    lines = refused(where, 2, *RUN).splitlines()
    found = [line.removeprefix(f"script {where.script}, ") for line in lines]
    wanted = (
        'line 2: txet: unknown key "txet"; did you mean text?',
        "line 4: text: expected a string, got an integer",
        "line 4: delay_ms: expected 0 to 600000, got 700000",
        "line 5: ",
        'line 6: error.kind: "nope"',
        "line 6: text: ",
        "line 7: byte 0 is not UTF-8",
        "line 8: ",
        "line 9: ",
    )
    assert len(found) == len(wanted)
    assert all(line.startswith(part) for line, part in zip(found, wanted, strict=True)), lines


@pytest.mark.parametrize(
    ("code", "words", "wanted"),
    [
        (2, ("script:gone.jsonl",), ("gone.jsonl", "No such file")),
        (2, ("script:.",), ("script", "directory")),
        (2, ("script:",), ('model "script:"', "script:PATH")),
        (2, ("replies.jsonl",), ('model "replies.jsonl"', "script:replies.jsonl")),
        (2, ("scirpt:x",), ('model "scirpt:x"', "script:PATH")),
        (1, ("openai/gpt",), ('model "openai/gpt"', "this release answers only script:PATH")),
    ],
)
def test_a_model_that_cannot_be_is_refused(
    tmp_path: Path, code: int, words: tuple[str, ...], wanted: tuple[str, ...]
) -> None:
    """[M2-10, M2-11, M2-21]"""
    message = refused(place(tmp_path), code, "run", "go", "--model", *words)
    assert len(message.splitlines()) == 1
    parts(message, *wanted)


@pytest.mark.parametrize(
    ("words", "env", "wanted"),
    [
        ((*RUN, "--workspace", "{root}/gone"), {}, ("gone", "is not a directory")),
        ((*RUN, "--workspace", "{root}/check.py"), {}, ("check.py", "is not a directory")),
        ((*RUN, "--workspace", ""), {}, ('--workspace: ""', "is not a directory")),
        ((*RUN, "--workspace", "{person}"), {}, ("person", "no workspace", "below it")),
        (RUN, {"HOME": "{root}"}, ("work", "the home directory itself", "--workspace")),
        (RUN, {"STELLA_HOME": "{root}/h"}, ("work", "must lie apart", "set STELLA_HOME")),
        (RUN, {"STELLA_HOME": "{root}"}, ("work", "must lie apart", "set STELLA_HOME")),
        (RUN, {"STELLA_HOME": "h"}, ("STELLA_HOME", "absolute path", '"h"')),
        (RUN, {"STELLA_HOME": None, "HOME": None}, ("HOME is not set", "STELLA_HOME")),
        (("plugin", "list"), {"STELLA_HOME": "{root}/h"}, ("work", "must lie apart")),
        (("journal", "verify", "--workspace", "{root}/gone"), {}, ("gone", "not a directory")),
    ],
)
def test_a_place_that_cannot_be_is_refused(
    tmp_path: Path, words: tuple[str, ...], env: dict[str, str | None], wanted: tuple[str, ...]
) -> None:
    """[S-7, S2-43, I-56]"""
    message = refused(place(tmp_path), 2, *words, **env)
    assert len(message.splitlines()) == 1
    parts(message, *wanted)


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (("rnu",), ('no command "rnu"', "did you mean run?", "stella --help")),
        (("plugin", "instal", "x"), ('"instal"', "did you mean install?", "stella plugin --help")),
        (("run", "go", "--modle", "x"), ('no flag "--modle"', "did you mean --model?")),
        (("run", "go", "--mödel=x"), ('no flag "--mödel"', "did you mean --model?")),
        (("plugin", "list", "--jsn"), ("--jsn", "--json", "stella plugin list --help")),
        (("run", "go", "--model"), ("--model", "argument")),
        (("run", "go", "on"), ('unexpected argument "on"', "quotes")),
        (("run", "go", "--\x1b[31m"), ('no flag "--\\u{1B}[31m"',)),
        (("journal", "show"), ("ID", "stella journal show --help")),
        (("journal", "verify", "--all", "--head", "x"), ("--all and --head exclude each other",)),
        (("journal", "verify", "last", "--all"), ("--all checks every session", "give one")),
        ((*RUN, "--permissions", "ask"), ("ask comes with a later release", "read-only")),
        (("journal", "verify"), ("work", "no session here yet")),
        (("journal", "show", "ses-2"), ("no session here yet",)),
        (("plugin", "remove", "../x"), ('"../x" is a path', "stella plugin list")),
    ],
)
def test_a_command_line_that_cannot_be_is_refused(
    tmp_path: Path, words: tuple[str, ...], wanted: tuple[str, ...]
) -> None:
    """[S-2, I-70]"""
    parts(refused(place(tmp_path), 2, *words), *wanted)


@pytest.mark.behaviour("K-67")
@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (("install", "gone", "--yes"), ("gone", "No such file", "nothing was copied")),
        (("install", "{root}", "--yes"), ("not a plugin", "plugin.toml", "nothing was copied")),
        (("install", "{root}/check.py", "--yes"), ("check.py", "nothing was copied")),
        (("show", "verifi"), ('no plugin "verifi"',)),
        (("remove", "verifi"), ('"verifi" is installed neither in',)),
    ],
)
def test_a_plugin_that_cannot_be_is_refused(
    tmp_path: Path, words: tuple[str, ...], wanted: tuple[str, ...]
) -> None:
    """[I-2, I-63, I-66, I-70]"""
    parts(refused(place(tmp_path), 1, "plugin", *words), *wanted)


def test_a_faulty_package_tells_all_its_faults(tmp_path: Path) -> None:
    """[I-2, M-4]"""
    where = place(tmp_path)
    written(where.root / "bad", FAULTY, "")
    message = refused(where, 1, "plugin", "install", "bad", "--yes")
    parts(message, "2 faults", "colour", "did you mean steering", "nothing was copied")


def as_directory(folder: Path) -> None:
    (folder / "plugin.toml").mkdir(parents=True)


def as_link(folder: Path) -> None:
    written(folder, FAULTY, "")
    (folder / "plugin.toml").rename(folder / "other.toml")
    (folder / "plugin.toml").symlink_to("other.toml")


def as_faulty(folder: Path) -> None:
    written(folder, FAULTY, "")


def as_noise(folder: Path) -> None:
    written(folder, "", "")
    (folder / "plugin.toml").write_bytes(b"name = \xff\x00")


@pytest.mark.behaviour("B50")
@pytest.mark.parametrize("spoil", [as_directory, as_link, as_faulty, as_noise])
def test_a_bad_plugin_hides_no_good_one(tmp_path: Path, spoil: Callable[[Path], None]) -> None:
    """[S-5, I-41, I-44]"""
    where = place(tmp_path)
    where.install(arbiter(tmp_path / "judge", HONEST))
    spoil(where.root / ".stella" / "plugins" / "bad")
    before = tree(tmp_path)
    done = where.stella("plugin", "list")
    assert tree(tmp_path) == before
    assert (done.code, done.out.splitlines()[0]) == (0, "judge  project  arbiter  ok")
    assert "plugins/bad" not in done.out
    parts(done.err, "notice", "bad", "plugin.toml")
    assert "Traceback" not in done.err
