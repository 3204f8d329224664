"""Manifests that must not load, by the real command: each says its rule and its place.

Nothing is copied and nothing is started; a file that is too large is not read to its end.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from stella import limits
from tests.making.child import said_by_nobody
from tests.making.ends import Place
from tests.making.ends import asks
from tests.making.ends import place
from tests.making.ends import says
from tests.making.packages import seen as seen_in
from tests.making.plugins import written
from tests.making.refused import inhabited
from tests.making.refused import powerless
from tests.making.refused import refused
from tests.making.watched import Watched
from tests.making.watched import watched

HEAD: Final = 'name = "plain"\n'
STEERS: Final = f'{HEAD}[loop]\nparticipation = "steering"\n'
DECIDES: Final = (
    f'{HEAD}[loop]\nparticipation = "arbiter"\nhooks = ["Stop"]\npoints = ["after_turn"]\n'
    '[requirements]\nr = "x"\n[oracle]\nflip = "required"\nmeasurements = ["m"]\n'
    '[oracle.command]\nargv = ["x"]\ntimeout_secs = 1\n'
)
RUNS: Final = f"{HEAD}[loop]\nparticipation = 'observer'\n[runtime]\n"
EVERYTHING: Final = (
    Path(__file__).parents[1] / "vectors" / "manifest" / "accepted" / "09-everything.toml"
).read_text("utf-8")
TABLES: Final = [
    'name = "everything"\n',
    *dict.fromkeys(re.findall(r"^\[.*\]\n", EVERYTHING, re.MULTILINE)),
]
TABLES.remove("[requirements]\n")


@pytest.fixture(name="where")
def _where(tmp_path: Path) -> Place:
    return inhabited(place(tmp_path))


def unloaded(where: Place, text: str | bytes, *words: str) -> Watched:
    """Have a manifest refused: all of `words` in a report, nothing made, nothing started."""
    package = written(where.root.parent / "package", "", "print(1)\n")
    data = text if isinstance(text, bytes) else text.encode()
    (package / "plugin.toml").write_bytes(data)
    before = seen_in(where.root.parent)
    found = watched(where, "plugin", "install", str(package), "--yes")
    assert (found.done.code, found.done.out) == (1, ""), found.done.err
    assert (found.started, found.made) == ((), ())
    assert seen_in(where.root.parent) == before
    lines = found.done.err.split("\n")
    assert all(line.isprintable() for line in lines)
    assert lines[0].startswith(f"stella: {package}: plugin.toml")
    assert found.done.err.endswith("nothing was copied\n")
    for each in words:
        assert each in found.done.err, found.done.err
    return found


def check(text: str) -> str:
    return f'{DECIDES}[[oracle.checks]]\nrequirement = "r"\ncheck = "{text}"\n'


def argv(words: str) -> str:
    return f"{RUNS}argv = {words}\ntimeout_secs = 1\n"


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.behaviour("B41")
def test_an_unknown_key_is_refused_in_every_table(where: Place, table: str) -> None:
    """[M-2] Of a manifest that has every table; the keys of [requirements] are the author's."""
    head, header, rest = EVERYTHING.partition(table)
    assert header
    line = head.count("\n") + 2
    place = "top level" if table == TABLES[0] else "["
    unloaded(
        where,
        f"{head}{header}zz = 1\n{rest}",
        "cannot be loaded: 1 fault\n",
        f"  1. R-1 Parse (unknown-key) at line {line}, column 1\n     {place}",
        'unknown key "zz"; ',
    )


@pytest.mark.behaviour("B43", "B44", "B47", "B52", "B53", "B55", "F1", "F11")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f'{HEAD}"$schema" = "x"\n', '"$schema"'),
        (f"{HEAD}x-note = 1\n", '"x-note"'),
        *(
            (f"{DECIDES.replace('points', f'max_holds = {value}{chr(10)}points')}", "R-1 ")
            for value in ("true", "2.0", '"2"', "nan", "1979-05-27", "-1", "10000000000")
        ),
        (f"{DECIDES.replace('points', 'max_holds = 0' + chr(10) + 'points')}", "max_holds"),
        *(
            (f"{STEERS}points=['after_turn']\ncalls=['recall']\n{key} = {value}\n", key)
            for key in ("max_calls", "max_fanout_width")
            for value in (0, -1, 10**30)
        ),
        (f"{RUNS}argv=['x']\ntimeout_secs=0\n", "timeout_secs"),
        (f"{RUNS}argv=['x']\ntimeout_secs=-1\n", "(out-of-range)"),
        (f"{RUNS}argv=['x']\ntimeout_secs={10**30}\n", "(out-of-range)"),
        (f"{HEAD}a = {'1' * 5000}\n", "an integer of 5000 characters"),
        (f"{HEAD}a = 0x{'f' * 10**5}\n", "an integer of 100002 characters"),
        (f"{STEERS}hooks = ['preToolUse']\n", "did you mean PreToolUse?"),
        (f"{STEERS}hooks = ['PreIssueWork']\n", "PreIssueWork"),
        (f"{STEERS}points = ['After_Turn']\n", "did you mean after_turn?"),
        (f"{STEERS}points = ['after_turn']\ncalls = ['Recall']\n", "did you mean recall?"),
        (check("a <= 0 or true"), "R-33 UnparsableCheck"),
        (check("m <= \u0661"), "R-33"),
        (check("m <= 1e9"), "R-33"),
        (check("m<=0"), "R-33"),
        (check("m <= 18446744073709551616"), "R-33"),
        (check("m <= -1"), "R-33"),
        (argv("[]"), "R-55"),
        (argv('[""]'), "R-56"),
        (argv('["  "]'), "R-56"),
        (argv('["a\\u0000b"]'), "NUL"),
    ],
    ids=str,
)
def test_a_manifest_that_breaks_a_rule_is_refused_naming_rule_and_object(
    where: Place, text: str, said: str
) -> None:
    """[M-2, M-4, M-8, M-10, R-1, R-33, R-55 to R-57]"""
    unloaded(where, text, said)


@pytest.mark.behaviour("B46", "B49")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{HEAD}{'.'.join(['a'] * 20_000)} = 1\n", "a dotted key of 20000 parts"),
        (f"{HEAD}a = {'[' * 10_000}{']' * 10_000}\n", "lists and tables are nested"),
        (f"{HEAD}# {'x' * 10 * limits.MIB}\n", "has more than 1048576 bytes"),
        (HEAD + "a = 1\n" * 2_000_000, "has more than 1048576 bytes"),
    ],
    ids=["dotted", "nested", "comment", "lines"],
)
def test_a_manifest_made_to_take_for_ever_is_refused_before_it_is_read(
    where: Place, text: str, said: str
) -> None:
    """[M-1]"""
    seen = unloaded(where, text, said)
    assert 0 < (seen.read or 0) < 4 * limits.MIB


@pytest.mark.behaviour("C70")
@pytest.mark.parametrize("behind", ["\0", "# \0", "\x1a", "# \x04", "\ufeff", "\v", "\f", "#\x7f"])
def test_nothing_stands_behind_a_character_that_another_reader_stops_at(
    where: Place, behind: str
) -> None:
    """[M-1, M-3] One reader takes the file whole or not at all."""
    more = '[[capabilities]]\ntool = "t"\nrisk = "destructive"\npurpose = "p"\n'
    unloaded(where, f"{HEAD}{behind}\n{more}", "cannot be loaded: 1 fault\n", "not TOML")


@pytest.mark.behaviour("F2")
def test_five_faults_are_five_each_with_its_line(where: Place) -> None:
    """[M-4, M-6, M-12]"""
    text = (
        f"{HEAD}colour = 1\n"  # 2
        "[loop]\n"
        "participation = 'steering'\n"
        "hooks = ['preToolUse']\n"  # 5
        "points = ['somewhere']\n"  # 6
        "max_calls = true\n"  # 7
        "[runtime]\n"
        "timeout_secs = 1\n"
        "argv = ''\n"  # 10
    )
    err = unloaded(where, text).done.err
    assert "5 faults" in err
    assert re.findall(r"at line (\d+), column", err) == ["2", "5", "6", "7", "10"]


@pytest.mark.behaviour("F11")
def test_a_comment_is_how_a_manifest_says_more(where: Place, tmp_path: Path) -> None:
    """[M-2] There is no other: keys that begin with x- are keys."""
    where.install(written(tmp_path / "package", f"# $schema: none\n{HEAD}# x-note = 1\n", ""))


@pytest.mark.behaviour("F13")
@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "name"),
        (b"\x00\x01\x02", "not TOML"),
        (b"\xff\xfe", "UTF-8"),
        (b"\xef\xbb\xbfname = 'x'", "byte-order mark"),
        (b"{}", "not TOML"),
        (b"name = 'x'\r", "not TOML"),
        (b"name = 'x'\nname = 'y'\n", "not TOML"),
        (b"[name]\n", "(wrong-type)"),
        (b"name = 1979-05-27", "(wrong-type)"),
    ],
)
def test_a_file_that_is_no_manifest_is_named(where: Place, data: bytes, said: str) -> None:
    """[M-1, M-4]"""
    unloaded(where, data, said)


def _directory(manifest: Path) -> None:
    manifest.mkdir()


def _pipe(manifest: Path) -> None:
    os.mkfifo(manifest)


def _link(manifest: Path) -> None:
    manifest.symlink_to("main.py")


def _closed(manifest: Path) -> None:
    manifest.write_text(HEAD)
    manifest.chmod(0)


@pytest.mark.behaviour("B50")
@pytest.mark.parametrize(
    ("make", "said"),
    [
        (_directory, "expected a regular file, got a directory"),
        (_pipe, "expected a regular file, got a fifo"),
        (_link, "expected a regular file, got a symbolic link"),
        (_closed, "Permission denied"),
    ],
)
def test_a_manifest_that_is_no_file_to_read_is_refused_unread(
    make: Callable[[Path], None], said: str
) -> None:
    """[M-1, I-5] As somebody without root's powers, who could read anything."""
    with powerless() as where:
        package = written(where.root.parent / "package", "", "print(1)\n")
        (package / "plugin.toml").unlink()
        make(package / "plugin.toml")
        refused(
            where,
            package,
            f"plugin.toml: {said}; nothing was copied",
            unread=(package / "main.py", package / "plugin.toml"),
            within=said_by_nobody,
        )


@pytest.mark.behaviour("B44")
def test_an_ask_above_a_ceiling_loads_and_the_ceiling_is_shown(
    where: Place, tmp_path: Path
) -> None:
    """[M-21]"""
    text = (
        f"{STEERS}points = ['after_turn']\ncalls = ['child_turn', 'candidate_fanout']\n"
        "max_calls = 4294967295\nmax_fanout_width = 9\n"
        "[runtime]\nargv = ['python3']\ntimeout_secs = 99999\n"
    )
    err = where.stella("plugin", "install", str(written(tmp_path / "p", text, "")), "--yes").err
    for words in (
        "(stopped after 99999s; the host allows at most 600s)",
        "at most 4294967295 requests per answer (the host allows at most 8)",
        "4294967295 model turns per run (the host allows at most 4)",
        "up to 9 isolated attempts at a time that write and spend (the host allows at most 3)",
    ):
        assert words in err, err


@pytest.mark.behaviour("B56")
@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("${plugin_dir}/../../bin/x", "a path that leaves it"),
        ("${plugin_dir}x", "a path that leaves it"),
        ("../x", "a path that leaves it"),
        ("${plugin_dir}/${plugin_dir}", "a path that leaves it"),
        ("${${plugin_dir}}", "a path that leaves it"),
        ("${HOME}/x", 'no file "${HOME}/x"'),
        ("./$(id)", 'no file "$(id)"'),
        ("{root}/check.py", "got one that lies in it"),
    ],
)
def test_a_program_must_be_the_packages_own_or_a_bare_name(
    where: Place, word: str, said: str
) -> None:
    """[M-34, T-3, Q-30]"""
    word = word.replace("{root}", str(where.root))
    package = written(where.root.parent / "package", argv(f'["{word}"]'), "")
    refused(where, package, "[runtime] argv entry 1", said)


@pytest.mark.behaviour("C77")
def test_what_a_plugin_says_of_a_tool_changes_nothing_the_gate_asks(
    where: Place, tmp_path: Path
) -> None:
    """[M-49, M-50, C-17] `bash` is what the host's own table says, whatever is claimed of it."""
    text = f'{HEAD}[[capabilities]]\ntool = "bash"\nrisk = "low"\npurpose = "p"\nscope = ["ls"]\n'
    package = written(tmp_path / "package", text, "")
    done = where.stella("plugin", "install", str(package), "--yes")
    assert "  - bash, LOW: p\n      claimed limit: ls" in done.err
    assert "Limits are the author's claims; the permission gate does not check them." in done.err
    where.scripted(asks("bash", command="touch made"), says())
    where.run("--permissions", "read-only")
    assert not (where.root / "made").exists()
    (judged,) = where.told("authz")
    assert judged["decision"] != "allow"
