"""`stella run` in this process; tests/ends runs it as one of its own [S-20 to S-25]."""

import io
import json
import os
import signal
import sys
import threading
from pathlib import Path

import pytest

from tests.making.commands import Shell
from tests.making.commands import shell
from tests.making.processes import eventually
from tests.making.sessions import VERIFY
from tests.making.sessions import mends
from tests.making.sessions import says
from tests.making.sessions import script


def model(here: Shell, *lines: object) -> str:
    path = here.root.parent / "replies.jsonl"
    return f"script:{script(path, *lines)}"  # type: ignore[arg-type]  # lines of a script


def test_text_prints_the_answer_and_tells_the_story_aside(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """[S-21]"""
    with shell(tmp_path, capsys) as here:
        said = here.stella("run", "go", "--model", model(here, *mends(7)))
        assert (said.code, said.out) == (0, "It says 7 now.\n")
        for word in ("write_file answer.txt  ok", "completed: after 1 round", "nothing was judged"):
            assert word in said.err
        assert "journal .stella/private/sessions/" in said.err


def test_a_verified_run_shows_its_board(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """[S-43]"""
    with shell(tmp_path, capsys) as here:
        here.stella("plugin", "install", VERIFY, "--yes")
        said = here.stella(
            *("run", "go", "--model", model(here, *mends(43), *mends(42))),
            *("--pipeline", "verify", "--test-command", "python3 check.py"),
        )
        assert said.code == 0, said.err
        for word in (
            "verify holds the turn (1 of 2): tests-flip, tests-pass not met",
            "met: after 2 rounds",
            "  met     tests-flip: ",
            "  evidence: reported by the plugin",
            "  tamper: clean",
        ):
            assert word in said.err


def test_json_is_one_object_and_the_board_stays_away_when_met(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """[S-22, D-81]"""
    with shell(tmp_path, capsys) as here:
        here.stella("plugin", "install", VERIFY, "--yes")
        said = here.stella(
            *("run", "go", "--model", model(here, *mends(42)), "--output-format", "json"),
            *("--pipeline", "verify", "--test-command", "python3 check.py"),
        )
        result = json.loads(said.out)
        assert (said.code, result["status"], said.out.count("\n")) == (0, "met", 1)
        assert "tamper: clean" not in said.err


def test_stream_json_ends_with_the_result(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """[S-24]"""
    with shell(tmp_path, capsys) as here:
        said = here.stella(
            "run", "go", "--model", model(here, says("x")), "--output-format", "stream-json"
        )
        lines = [json.loads(line) for line in said.out.splitlines()]
        assert [line["seq"] for line in lines[:-1]] == list(range(1, len(lines)))
        assert not any("prev" in line for line in lines)
        assert (lines[-1]["seq"], lines[-1]["type"]) == (None, "result")
        assert lines[-1]["data"]["journal"]["records"] == len(lines) - 1


@pytest.mark.parametrize("words", [(), ("-",)])
def test_a_prompt_can_come_from_standard_input(
    words: tuple[str, ...],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """[S-8]"""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("von innen: 週\n".encode())))
    with shell(tmp_path, capsys) as here:
        said = here.stella(
            *("run", *words, "--model", model(here, says("x")), "--output-format", "stream-json")
        )
        prompts = [json.loads(line) for line in said.out.splitlines() if '"prompt"' in line]
        assert prompts[0]["data"]["text"] == "von innen: 週\n"


@pytest.mark.parametrize(
    ("data", "words"), [(b" \n", "blank"), (b"\xff", "not UTF-8"), (b"x" * (2**20 + 1), "longer")]
)
def test_a_bad_prompt_is_refused(
    data: bytes,
    words: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """[S-8] limits.PROMPT_BYTES, one past it."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    with shell(tmp_path, capsys) as here:
        said = here.stella("run", "--model", model(here, says("x")))
        assert said.code == 2
        assert words in said.err
        assert not (here.root / ".stella").exists()


def test_a_prompt_at_the_limit_is_taken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """[S-8] limits.PROMPT_BYTES, at it."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x" * 2**20)))
    with shell(tmp_path, capsys) as here:
        assert here.stella("run", "--model", model(here, says("x"))).code == 0


def test_without_a_model_the_ways_to_choose_one_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """[M2-15]"""
    with shell(tmp_path, capsys, {"STELLA_MODEL": ""}) as here:
        said = here.stella("run", "go")
        assert said.code == 1
        assert "--model" in said.err
        assert "STELLA_MODEL" in said.err


def test_the_model_can_come_from_the_environment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """[M2-15]"""
    path = script(tmp_path / "replies.jsonl", says("from the variable"))
    with shell(tmp_path, capsys, {"STELLA_MODEL": f"script:{path}"}) as here:
        assert here.stella("run", "go").out == "from the variable\n"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_cancels_and_gives_its_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], number: signal.Signals, code: int
) -> None:
    """[S-10, S-12]"""
    before = signal.getsignal(number)
    with shell(tmp_path, capsys) as here:
        replies = model(here, {"text": "late", "delay_ms": 20_000})
        sender = threading.Thread(target=send_when_asked, args=(here.root, number))
        sender.start()
        said = here.stella("run", "go", "--model", replies, "--output-format", "json")
        sender.join()
        result = json.loads(said.out)
        assert (said.code, result["exit_code"], result["status"]) == (code, code, "cancelled")
        assert f"cancelling ({number.name}); once more ends at once" in said.err
    assert signal.getsignal(number) == before


def send_when_asked(root: Path, number: signal.Signals) -> None:
    """Send the signal to this process when the journal says that the model is asked."""
    sessions = root / ".stella" / "private" / "sessions"
    eventually(
        lambda: any(b'"model_request"' in p.read_bytes() for p in sessions.glob("*/journal.jsonl"))
    )
    os.kill(os.getpid(), number)


def test_what_stands_behind_two_dashes_is_the_prompt(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """[S-8]"""
    with shell(tmp_path, capsys) as here:
        replies = model(here, says("x"))
        assert here.stella("run", "--model", replies, "--", "--fix it").code == 0
        said = here.stella("run", "--model", replies, "--", "--fix", "it")
        assert (said.code, 'unexpected argument "it"' in said.err) == (2, True)


def test_a_dead_model_says_its_sentence_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with shell(tmp_path, capsys) as here:
        dead = model(here, {"error": {"kind": "auth", "message": "the key is refused"}})
        said = here.stella("run", "go", "--model", dead)
        assert said.code == 1
        assert said.err.count("the key is refused") == 1
        assert said.out == ""
        assert said.err.count("the model gave no reply") == 1


def test_a_flip_that_cannot_be_earned_is_said_before_anything_is_spent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """[G-20]"""
    with shell(tmp_path, capsys) as here:
        here.stella("plugin", "install", VERIFY, "--yes")
        said = here.stella(
            *("run", "go", "--model", model(here, says("x")), "--max-holds", "0"),
            *("--pipeline", "verify", "--test-command", "python3 -c 0"),
        )
        early, late = said.err.split("round 0")
        assert "  a flip can no longer be earned: the rule asks for one" in early
        assert "baseline: passed (exit-zero); a flip can no longer be earned" in late
        assert "no holds allowed" in late
