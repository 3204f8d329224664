"""[I-52, I-57, S-6] `stella trust` as a person meets it."""

from pathlib import Path

import pytest

from stella.roster.contribution import RIGHTS
from tests.making.commands import shell
from tests.making.ends import Place
from tests.making.ends import place
from tests.making.packages import notes
from tests.making.packages import seen
from tests.making.terminal import conversed

QUESTION = "Trust this workspace? [y/N] "


def brings(root: Path) -> None:
    """Have a workspace bring a tool and a plugin."""
    (root / ".stella/tools").mkdir(parents=True)
    (root / ".stella/tools/a.toml").write_text('name = "lint"\ncommand = ["./lint.sh"]\n')
    notes(root / ".stella/plugins/notes")


def typed(where: Place, answer: bytes, **more: str) -> tuple[int, str]:
    """Run the command on a real pseudo-terminal and type an answer when it asks."""
    done = conversed(where, "trust", typed=answer, env=more)
    assert QUESTION in done.asked
    return done.code, "\n".join(done.rows)


@pytest.mark.behaviour("H8.terminal", "H10.trust")
@pytest.mark.parametrize("answer", [b"\n", b"n\n", b"\x04", b"ye\n"])
def test_no_answer_but_yes_trusts(tmp_path: Path, answer: bytes) -> None:
    """[I-9, I-52, S-6] The default is No, and so is the end of input; all is shown before."""
    where = place(tmp_path)
    brings(where.root)
    before = seen(tmp_path)
    code, said = typed(where, answer)
    assert code == 0
    for shown in ("lint: ./lint.sh (.stella/tools/a.toml)", "Install the plugin `notes`?"):
        assert said.index(shown) < said.index(QUESTION)
    assert said.endswith("not trusted\n")
    assert seen(tmp_path) == before


@pytest.mark.behaviour("I-52.again")
@pytest.mark.parametrize("many", [3, 30])
def test_what_left_the_screen_is_said_again_of_programs_too(tmp_path: Path, many: int) -> None:
    """[I-52, attacks C68] Also where nothing declares how far it reaches."""
    where = place(tmp_path)
    tools = where.root / ".stella/tools"
    tools.mkdir(parents=True)
    for number in range(many):
        (tools / f"{number}.toml").write_text(f'name = "lint{number}"\ncommand = ["./lint.sh"]\n')
    _, said = typed(where, b"\n")
    assert said.count(RIGHTS) == 1 + (many == 30)
    screen = said[: said.index(QUESTION)].split("\n")[-24:]
    assert RIGHTS in screen


@pytest.mark.behaviour("I-52.terminal")
def test_a_yes_on_a_terminal_trusts_and_accepts(tmp_path: Path) -> None:
    """[I-34, I-52]"""
    where = place(tmp_path)
    brings(where.root)
    code, said = typed(where, b"yes\n")
    assert code == 0, said
    assert said.endswith("\naccepted with it: notes\n")
    listed = where.stella("trust", "--list")
    path, when, state = listed.out.split("  ")
    assert (path, state, listed.err) == (str(where.root), "valid\n", "")
    assert when.endswith("Z")
    assert "notes  project  none  ok" in where.stella("plugin", "list").out


@pytest.mark.behaviour("H11.trust", "I-52.no-terminal")
def test_without_a_terminal_nothing_is_asked_and_nothing_is_read(tmp_path: Path) -> None:
    """[I-9, I-52, reports H11] There is no flag that answers; a yes on standard input is none."""
    where = place(tmp_path)
    brings(where.root)
    before = seen(tmp_path)
    done = where.stella("trust", stdin=b"y\n")
    assert (done.code, done.out) == (1, "")
    assert done.err.endswith(
        "stella: there is no terminal to ask on; stella trust needs one, because nobody else can "
        "answer it; STELLA_TRUST_PROJECT=1 trusts what one process is started in\n"
    )
    assert "lint: ./lint.sh" in done.err
    assert where.stella("trust", "--yes").code == 2
    assert seen(tmp_path) == before


def test_the_list_tells_each_workspace_and_what_is_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """[I-57, attacks D89]"""
    with shell(tmp_path, capsys) as shop:
        empty = shop.stella("trust", "--list")
        assert (empty.code, empty.err) == (0, "")
        assert empty.out == "no workspace is trusted; `stella trust` in one shows it and asks\n"
        shop.home.mkdir()
        (shop.home / "trust.toml").write_text("nonsense")
        damaged = shop.stella("trust", "--list")
        assert damaged.code == 0
        assert damaged.err.startswith(f"notice  {shop.home}/trust.toml: ")
        revoked = shop.stella("trust", "--revoke")
        assert (revoked.code, "kept for repair" in revoked.err) == (1, True)


@pytest.mark.behaviour("I-57.revoke")
def test_what_was_not_trusted_cannot_be_revoked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """[I-57]"""
    with shell(tmp_path, capsys) as shop:
        done = shop.stella("trust", "--revoke")
        assert done.code == 1
        assert done.err == (
            f"stella: {shop.root} was not trusted; `stella trust --list` shows what was\n"
        )
        both = shop.stella("trust", "--revoke", "--list")
        assert (both.code, "exclude each other" in both.err) == (2, True)


@pytest.mark.behaviour("I-57.states-shown")
def test_a_change_is_listed_and_a_revoked_one_is_gone(tmp_path: Path) -> None:
    """[I-54, I-57]"""
    where = place(tmp_path)
    brings(where.root)
    assert typed(where, b"y\n")[0] == 0
    (where.root / ".stella/mcp.toml").touch()
    assert where.stella("trust", "--list").out.endswith("Z  changed\n")
    code, said = typed(where, b"y\n")
    assert (code, "accepted with it" in said) == (0, False)
    assert where.stella("trust", "--list").out.endswith("Z  valid\n")
    done = where.stella("trust", "--revoke")
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith(f"{where.root} is trusted no more, from the next session on; ")
    assert where.stella("trust", "--list").out.startswith("no workspace is trusted")


@pytest.mark.behaviour("I-50.false")
def test_a_variable_that_says_no_is_told_beside_the_yes(tmp_path: Path) -> None:
    """[I-50, Q-3]"""
    where = place(tmp_path)
    (where.root / ".stella").mkdir()
    code, said = typed(where, b"y\n", STELLA_TRUST_PROJECT="off")
    assert code == 0
    effect = 'STELLA_TRUST_PROJECT is "off", which trusts nothing, whatever was recorded'
    assert f"this has no effect here: {effect}" in " ".join(said.replace("|", "").split())


@pytest.mark.parametrize("words", [(), ("--revoke",)])
def test_a_session_cannot_say_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    """[I-9, I-52] Nor take it back."""
    with shell(tmp_path, capsys, {"STELLA_SESSION_ID": "ses-1"}) as shop:
        done = shop.stella("trust", *words)
        assert (done.code, "a running session cannot" in done.err) == (1, True)
        assert shop.stella("trust", "--list").code == 0
