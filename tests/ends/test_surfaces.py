"""What a plugin's author wrote, on every surface that shows it: nothing in it does anything.

The real command, its bytes on a pipe and on a terminal. No control character but a newline, no
mark that turns, hides or parts text ever reaches either [C-5, C76].
"""

import json
import os
import unicodedata
from pathlib import Path
from typing import Final

import pytest

from stella import limits
from tests.making.ends import Json
from tests.making.ends import Place
from tests.making.ends import asks
from tests.making.ends import granted
from tests.making.ends import place
from tests.making.ends import says
from tests.making.ends import works
from tests.making.plugins import arbiter
from tests.making.plugins import hooking
from tests.making.plugins import steering
from tests.making.plugins import written
from tests.making.terminal import on_terminal

HIDDEN: Final = (
    "\x1b[2J\x1b]0;t\x07\x1bP1$r\x1b\\\x9b31m\x85\r\x08\x0b\x0c\x1c\x7f"
    "\u202e\u2066\u2069\u061c\u200f\u200b\u200d\ufeff\u2028\u2029\xad"
)
NEXT_LINE: Final = f"a{HIDDEN}b\nGrade: NONE."
UNSEEN: Final = frozenset({"Cc", "Cf", "Zl", "Zp", "Cs"})
NAME: Final = "a\x1b[2J\x9b\u202e\u2028\x07b"
"""A file's name; it holds no slash and no NUL."""

READ: Final = "import json, sys\nrequest = json.loads(sys.stdin.readline())\n"


def toml(text: str) -> str:
    """A text as a TOML string in printable ASCII."""
    return json.dumps(text).replace("\\u007f", "\\u007F").replace("\x7f", "\\u007F")


def declared(name: str) -> str:
    """A manifest that loads, with the hostile text wherever an author may write text."""
    evil = toml(NEXT_LINE)
    return f"""
name = "{name}"
description = {evil}
[loop]
participation = "arbiter"
hooks = ["Stop"]
points = ["before_turn", "after_turn"]
[requirements]
{evil} = {evil}
[oracle]
flip = "not-applicable"
measurements = ["m"]
[oracle.command]
argv = [{evil}]
timeout_secs = 1
[[oracle.checks]]
requirement = {evil}
check = "m <= 0"
[subloop]
stages = [{evil}]
[roles.{evil}]
tier = {evil}
[wrapper]
id = {evil}
[[wrapper.stages]]
name = "execute"
[runtime]
argv = ["python3", {evil}]
timeout_secs = 5
env = [{toml(f"a{HIDDEN}b")}]
[[capabilities]]
tool = {evil}
risk = {evil}
purpose = {evil}
scope = [{evil}]
"""


def content() -> str:
    """What can be declared beside it, for the commands that show it unread."""
    evil = toml(NEXT_LINE)
    return f"""
[[tools]]
name = {evil}
description = {evil}
[[skills]]
slug = {evil}
description = {evil}
[[records]]
lineage = {evil}
statement = {evil}
[[configure]]
key = "ui.x"
value = {evil}
purpose = {evil}
"""


def faulty() -> str:
    """A manifest in which most values are wrong and quoted by a fault."""
    evil = toml(NEXT_LINE)
    return f"""
name = {evil}
{evil} = {evil}
[loop]
participation = {evil}
hooks = [{evil}]
points = [{evil}]
calls = [{evil}]
events = [{evil}]
[driver]
calls = [{evil}]
[requirements]
{evil} = ""
[oracle]
flip = {evil}
measurements = [{evil}, {evil}]
[[oracle.checks]]
requirement = {evil}
check = {evil}
[[wrapper.stages]]
name = {evil}
if = {evil}
[runtime]
argv = [{evil}]
timeout_secs = {evil}
env = [{evil}]
[[configure]]
key = {evil}
value = {{ {evil} = {evil} }}
purpose = ""
"""


def leaks(data: bytes) -> str:
    """The characters in some output that no surface may write, each with what stands around it."""
    text = data.decode()
    return "; ".join(
        f"U+{ord(char):04X} in {text[max(0, at - 30) : at + 30]!r}"
        for at, char in enumerate(text)
        if char != "\n" and unicodedata.category(char) in UNSEEN
    )


def shows(where: Place, *words: str, code: int, piped: bool = False, mark: str = "") -> None:
    """Run a command on a terminal, and on pipes too; nothing leaks, and `mark` is told."""
    ended, shown = on_terminal(where, *words)
    outputs = [shown]
    if piped:
        done = where.stella(*words)
        assert done.code == code
        outputs += [done.out.encode(), done.err.encode()]
    assert ended == code, shown.decode()
    for output in outputs:
        assert not leaks(output), words
    assert mark.lower() in shown.decode().lower(), (words, shown)


@pytest.fixture(name="where")
def _where(tmp_path: Path) -> Place:
    return place(tmp_path)


@pytest.mark.behaviour("C76", "C-5")
def test_what_stands_in_a_manifest_is_shown_by_every_command_and_does_nothing(
    where: Place, tmp_path: Path
) -> None:
    """[C-5, C-3, I-2, I-60, I-63, I-64]"""
    good = written(tmp_path / "good", declared("evil"), "")
    bad = written(tmp_path / "bad", faulty(), "")
    broken = written(tmp_path / "broken", f'name = "x"\n[loop]\nx = {NEXT_LINE}', "")
    whole = written(tmp_path / "whole", declared("whole") + content(), "")
    (whole / "tools").mkdir()
    for folder, code in ((good, 0), (bad, 1), (broken, 1), (whole, 1)):
        shows(where, "plugin", "check", str(folder), code=code, piped=True)
        shows(where, "plugin", "check", str(folder), "--json", code=code)
    for folder in (bad, broken):
        shows(
            where,
            "plugin",
            "install",
            str(folder),
            "--yes",
            code=1,
            mark="1B" if folder is bad else "",
        )
    assert "no terminal" in where.stella("plugin", "install", str(good)).err
    ended, shown = on_terminal(where, "plugin", "install", str(good))
    assert (ended, leaks(shown)) == (1, "")
    where.install(good)
    again = where.stella("plugin", "install", str(good), "--yes")
    assert (again.code, leaks(again.err.encode())) == (1, "")
    shows(where, "plugin", "list", code=0, piped=True, mark="1B")
    shows(where, "plugin", "list", "--json", code=0, piped=True, mark="1b")
    shows(where, "plugin", "show", "evil", code=0, piped=True, mark="1B")


@pytest.mark.behaviour("C76")
def test_names_and_paths_of_a_package_are_told_and_do_nothing(where: Place, tmp_path: Path) -> None:
    """[I-3 to I-6, A19]"""
    evil = tmp_path / NAME
    written(evil / "file", 'name = "files"\n', "")
    (evil / "file" / NAME).touch()
    written(evil / "link", 'name = "links"\n', "")
    (evil / "link" / "l").symlink_to(evil / NAME)
    written(evil / "fifo", 'name = "fifos"\n', "")
    os.mkfifo(evil / "fifo" / "f")
    written(evil / "bytes", 'name = "bytes"\n', "")
    (evil / "bytes" / os.fsdecode(b"\xff\x1b\xc2\x9b")).touch()
    written(evil / "name", f"name = {toml(NAME)}\n", "")
    (evil / "none").mkdir()
    for kind in ("file", "link", "fifo", "bytes", "name", "none"):
        for command in (("check", "--json"), ("install", "--yes")):
            shows(where, "plugin", *command, str(evil / kind), code=1)
    shows(where, "plugin", "check", str(evil / "file"), code=1, piped=True, mark="1B")
    written(evil / "good", 'name = "good"\n', "")
    shows(where, "plugin", "check", str(evil / "good"), code=0, mark="good")
    where.install(evil / "good")
    shows(where, "plugin", "show", "good", code=0)
    for verb in ("show", "remove"):
        shows(where, "plugin", verb, NAME, code=1)


@pytest.mark.behaviour("C76")
def test_what_changed_is_told_by_upgrade_and_acceptance_and_does_nothing(
    where: Place, tmp_path: Path
) -> None:
    """[I-33, I-36, I-65] A hostile text beside a plain one, and files of hostile names."""
    plain = 'name = "evil"\n'
    other = written(tmp_path / "other", declared("evil"), "")
    where.install(written(tmp_path / "good", plain, ""))
    shows(where, "plugin", "install", str(other), "--upgrade", code=1, mark="1B")
    shows(where, "plugin", "install", str(other), "--upgrade", "--yes", code=0, mark="1B")
    there = where.root / ".stella" / "plugins" / "evil"
    (there / "plugin.toml").write_text(plain)
    (there / f"{NAME}.so").touch()
    for code, more in ((1, ()), (1, ("--yes",))):
        shows(where, "plugin", "accept", "evil", *more, code=code, mark="1B")
    (there / f"{NAME}.so").unlink()
    shows(where, "plugin", "accept", "evil", "--yes", code=0, mark="1B")
    for verb in ("accept", "enable", "disable"):
        shows(where, "plugin", verb, NAME, code=1, mark="1B")
    digest = f"--accept={NEXT_LINE}"
    shows(where, "plugin", "install", str(other), "--upgrade", digest, code=2, mark="1B")


@pytest.mark.behaviour("C76")
def test_what_stands_in_a_tier_is_noticed_and_does_nothing(where: Place, tmp_path: Path) -> None:
    """[I-31, I-41, I-44]"""
    where.install(written(tmp_path / "good", declared("evil"), "pass\n"))
    tier = where.root / ".stella" / "plugins"
    written(tier / NAME, 'name = "placed"\n', "")
    written(tier / f"{NAME}2", faulty(), "")
    written(tier / f"{NAME}3", f"name = {toml(NAME)}\n", "")
    (tier / f"{NAME}4").symlink_to(NAME)
    (tier / "evil" / NAME).touch()
    (tier / "evil" / "plugin.toml").write_text(
        declared("evil").replace("timeout_secs = 5", "timeout_secs = 6")
    )
    shows(where, "plugin", "list", code=0, mark="1B")
    shows(where, "plugin", "list", "--json", code=0, mark="1b")
    shows(where, "plugin", "show", "evil", code=0, mark="1B")
    where.scripted(says())
    script = f"script:{where.script}"
    shows(where, "run", "go", "--model", script, code=0)
    shows(
        where,
        "run",
        "go",
        "--model",
        script,
        "--pipeline",
        "evil",
        "--test-command",
        "true",
        code=1,
    )


def _talker(tmp_path: Path, where: Place) -> None:
    """Install plugins that say the text at every occasion they are asked at."""
    evil = repr(NEXT_LINE)
    context = {"protocol_version": 1, "context": [{"label": NEXT_LINE, "text": NEXT_LINE}]}
    context["scope"] = ["src", f"../{NAME}"]
    answer: Json = {"point": "before_turn", "body": context}
    where.install(
        steering(
            tmp_path / "guide",
            f"{READ}sys.stderr.write({evil})\nprint(json.dumps({answer!r}))\n",
        ),
        steering(
            tmp_path / "faulty",
            f"{READ}sys.stderr.write({evil} * 9)\nraise SystemExit({evil})\n",
            name="faulty",
        ),
        steering(tmp_path / "garbage", f"{READ}print({evil} + 'x')\n", name="garbage"),
        hooking(
            tmp_path / "guard",
            f"{READ}print(json.dumps({{'action': 'deny', 'reason': {evil}}}))\n",
            "PreToolUse",
        ),
        arbiter(
            tmp_path / "judge",
            f"{READ}sys.stderr.write({evil})\n"
            f"print(json.dumps({{'point': 'after_turn', 'body': {{{evil}: 1}}}}))\n",
        ),
    )


@pytest.mark.behaviour("C76")
@pytest.mark.parametrize("form", ["text", "json", "stream-json"])
def test_what_a_plugin_says_in_a_run_does_nothing_to_the_screen(
    where: Place, tmp_path: Path, form: str
) -> None:
    """[D-30, T-29, W-50, S-42, T-6]; label, guidance, scope, refusal, garbage and stderr."""
    _talker(tmp_path, where)
    where.scripted(
        works(f"{NEXT_LINE}"), asks("bash", command=f"echo {NAME}"), says(f"Done {NEXT_LINE}")
    )
    pipeline = granted("faulty,garbage,guide,judge")
    asked = ("run", "go", "--model", f"script:{where.script}", "--output-format", form, *pipeline)
    ended, shown = on_terminal(where, *asked)
    assert ended == 5
    assert not leaks(shown), shown
    assert "1b" in shown.decode().lower()
    done = where.stella(*asked)
    assert done.code == 5
    assert not leaks(done.err.encode())


@pytest.mark.behaviour("C76")
def test_the_journal_of_such_a_run_is_shown_and_does_nothing(where: Place, tmp_path: Path) -> None:
    """[J2-50, L307]"""
    _talker(tmp_path, where)
    where.scripted(works(NEXT_LINE), says(NEXT_LINE))
    where.run(*granted("faulty,garbage,guide,judge"))
    shows(where, "journal", "show", "last", code=0, piped=True, mark="1B")
    shows(
        where,
        "journal",
        "show",
        "last",
        "--type",
        "message,notice",
        code=0,
        mark="1B",
    )
    shows(where, "journal", "show", "last", "--json", code=0)
    shows(where, "journal", "verify", code=0, mark="ok")
    shows(where, "journal", "show", NAME, code=2, mark="1B")
    shows(where, "journal", "show", "last", "--type", NAME, code=2)
    shows(where, "journal", "show", "last", "--turn", NAME, code=0)


@pytest.mark.behaviour("C76")
@pytest.mark.parametrize(
    "words",
    [
        (NAME,),
        (f"--{NAME}",),
        ("plugin", NAME),
        ("plugin", "install", f"--{NAME}"),
        ("plugin", "install", ".", "--scope", NAME),
        ("plugin", "install", ".", NAME),
        ("plugin", "list", f"--json={NAME}"),
        ("plugin", "list", "--workspace", NAME),
        ("run", "go", "--model", NAME),
        ("run", "go", f"--{NAME}"),
        ("run", "go", "--model", "script:x", "--pipeline", NAME),
    ],
    ids=range(11),
)
def test_a_command_line_that_is_wrong_is_quoted_and_does_nothing(
    where: Place, words: tuple[str, ...]
) -> None:
    """[S-2]"""
    done = where.stella(*words)
    ended, shown = on_terminal(where, *words)
    assert ended == done.code != 0
    assert not leaks(done.err.encode() + done.out.encode() + shown)
    assert ("1b" in shown.decode().lower()) is (words[-1] == NAME or words[-1][:3] != "--j")


@pytest.mark.behaviour("C68")
def test_the_widest_reach_stands_right_before_the_question(where: Place, tmp_path: Path) -> None:
    """[C68] Of a text longer than the screen; one of more than 10 KiB is refused unread."""
    reach = (
        '[[capabilities]]\ntool = "t{}"\nrisk = "{}"\npurpose = "{}"\n'.format(n, risk, "word " * 9)
        for n, risk in enumerate(["destructive", *["low"] * 40])
    )
    text = 'name = "long"\n' + "".join(reach)
    ended, shown = on_terminal(where, "plugin", "install", str(written(tmp_path / "a", text, "")))
    before = shown.decode().partition("stella: there is no terminal")[0]
    widest = "Widest reach: DESTRUCTIVE, can destroy data or publish what cannot be taken back."
    assert ended == 1
    assert before.replace("\n  | ", " ").rstrip("\n").endswith(widest)
    huge = f'name = "huge"\ndescription = "{"x" * limits.CONSENT_BYTES}"\n'
    done = where.stella("plugin", "install", str(written(tmp_path / "b", huge, "")), "--yes")
    assert done.code == 1
    assert f"the limit is {limits.CONSENT_BYTES}" in done.err
    assert len(done.err) < 1000
