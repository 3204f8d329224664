"""What a run reads and what it prints: one prompt in, one result out, each in its own stream."""

import json
import os
import termios
from pathlib import Path
from typing import Final

import pytest

from stella import limits
from tests.making.ends import HONEST
from tests.making.ends import PATIENCE
from tests.making.ends import Json
from tests.making.ends import Place
from tests.making.ends import asks
from tests.making.ends import granted
from tests.making.ends import place
from tests.making.ends import says
from tests.making.ends import tree
from tests.making.ends import works
from tests.making.plugins import arbiter

CHECKED: Final = "\N{CHECK MARK} done"


def model(where: Place) -> tuple[str, str]:
    return ("--model", f"script:{where.script}")


def lines(out: str) -> list[Json]:
    assert out.endswith("\n")
    return [json.loads(line) for line in out.splitlines()]


def test_text_is_the_answer_alone(tmp_path: Path) -> None:
    """[S-3, S-21]"""
    where = place(tmp_path)
    where.install(arbiter(tmp_path / "judge", HONEST))
    where.scripted(works(), says(f"{CHECKED}\n\nin two lines"))
    done = where.stella("run", "go", *model(where), *granted("judge"))
    assert (done.code, done.out) == (0, f"{CHECKED}\n\nin two lines\n")
    (session,) = where.sessions.iterdir()
    wanted = (
        "met: after 1 round",
        "met     tests-flip: the granted test failed before the run and passes now",
        "met     tests-pass: the granted test exits with zero",
        "evidence: reported by the plugin",
        "baseline: failed (exit-nonzero)",
        "tamper: clean",
        "cost 0.0000 USD",
        f"session {session.name}",
        f"journal .stella/private/sessions/{session.name}/journal.jsonl",
    )
    found = [done.err.find(line) for line in wanted]
    assert -1 not in found, done.err
    assert found == sorted(found)


def test_stream_json_is_the_journal_as_it_grows_and_then_the_result(tmp_path: Path) -> None:
    """[S-24]"""
    where = place(tmp_path)
    where.install(arbiter(tmp_path / "judge", HONEST))
    where.scripted(works(), says(CHECKED))
    flags = (*model(where), *granted("judge"), "--output-format", "stream-json")
    done = where.stella("run", "go", *flags)
    *records, last = lines(done.out)
    for record in (written := where.records()):
        del record["prev"]
    assert records == written
    assert [tuple(record) for record in records] == [("seq", "ts", "type", "turn", "data")] * len(
        records
    )
    assert tuple(last) == ("seq", "ts", "type", "turn", "data")
    assert (last["seq"], last["type"], last["turn"]) == (None, "result", None)
    result = last["data"]
    assert (result["status"], result["exit_code"], done.code) == ("met", 0, 0)
    assert result["journal"]["records"] == len(records)
    assert next(iter(result)) == "status"
    assert list(result)[-1] == "exit_code"


def test_a_secret_is_in_no_stream(tmp_path: Path) -> None:
    """[J2-22, J2-24, M2-28]"""
    key = "hunter2hunter2hunter2"
    where = place(tmp_path)
    where.scripted(asks("bash", command=f"echo {key} is it"), says("All in the log."))
    flags = (*model(where), "--output-format", "stream-json")
    done = where.stella("run", "go", *flags, env={"OPENAI_API_KEY": key})
    assert done.code == 0
    assert "[redacted] is it" in done.out
    assert key not in done.out + done.err
    assert key not in where.journals()[0].read_text("utf-8")


@pytest.mark.parametrize("form", ["json", "stream-json"])
def test_a_refused_run_is_one_object_too(tmp_path: Path, form: str) -> None:
    """[S-23]"""
    where = place(tmp_path)
    done = where.stella("run", "go", "--max-steps", "0", f"--output-format={form}")
    (refused,) = lines(done.out)
    error = {"code": "usage", "message": "--max-steps: expected 1 to 1000, got 0"}
    assert refused == {"status": "refused", "error": error, "exit_code": 2}
    assert done.code == 2
    assert done.err == "stella: --max-steps: expected 1 to 1000, got 0\n"


def test_a_refused_run_in_text_prints_no_answer(tmp_path: Path) -> None:
    """[S-3]"""
    done = place(tmp_path).stella("run", "go")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("stella: no model is chosen")


@pytest.mark.parametrize(
    ("form", "gone"),
    [
        ("text", ("stdout",)),
        ("json", ("stdout",)),
        ("json", ("stderr",)),
        ("stream-json", ("stdout",)),
        ("stream-json", ("stdout", "stderr")),
    ],
)
def test_a_reader_that_has_gone_ends_no_run(
    tmp_path: Path, form: str, gone: tuple[str, ...]
) -> None:
    """[S-12]"""
    where = place(tmp_path)
    where.scripted(works(), asks("bash", command="echo on"), says(CHECKED))
    reading, writing = os.pipe()
    os.close(reading)
    flags = (*model(where), "--output-format", form)
    with where.started("run", "go", *flags, **dict.fromkeys(gone, writing)) as process:
        os.close(writing)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert [record["type"] for record in where.records()][-2:] == ["run_ended", "session_closed"]
    assert where.told("run_ended")[0]["exit_code"] == 0
    assert (out is None) == ("stdout" in gone)
    if err is not None:
        assert "Exception ignored" not in err.decode()
    assert where.whole()


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&- <&-"])
def test_a_stream_that_was_never_there_ends_no_run(tmp_path: Path, closed: str) -> None:
    """[S-12]"""
    where = place(tmp_path)
    where.scripted(works(), asks("bash", command="echo on"), says())
    words = ("go", *model(where), "--output-format", "json")
    done = where.shell(f'"$0" -m stella run "$@" {closed}', *words)
    assert done.code == 0
    assert ('"exit_code":0' in done.out) == (not closed.startswith(">"))
    assert where.told("run_ended")[0]["exit_code"] == 0
    assert where.told("tool_finished")[1]["output"]["ok"]["content"] == "on"
    assert where.whole()


def test_what_is_printed_is_utf_8_whatever_the_locale_says(tmp_path: Path) -> None:
    """[S-22]"""
    where = place(tmp_path)
    where.scripted(says(CHECKED))
    done = where.stella("run", "go", *model(where), env={"PYTHONIOENCODING": "latin-1"})
    assert (done.code, done.out) == (0, f"{CHECKED}\n")


@pytest.mark.parametrize("words", [(), ("-",)])
def test_the_prompt_comes_from_standard_input(tmp_path: Path, words: tuple[str, ...]) -> None:
    """[S-8]"""
    where = place(tmp_path)
    where.scripted(says())
    text = f"make it {CHECKED}\nplease\n"
    done = where.stella("run", *words, *where.asked, stdin=text.encode())
    assert done.code == 0
    assert where.told("prompt") == [{"text": text, "source": "run"}]


def test_a_prompt_may_begin_with_a_dash(tmp_path: Path) -> None:
    """[S-8]"""
    where = place(tmp_path)
    where.scripted(says())
    done = where.stella("run", *where.asked, "--", "--fix it")
    assert done.code == 0
    assert where.told("prompt") == [{"text": "--fix it", "source": "run"}]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "the prompt is blank"),
        (b" \n\t\xe2\x80\x83\n", "the prompt is blank"),
        (b"caf\xe9", "the prompt is not UTF-8 at byte 3"),
        (b"x" * (limits.PROMPT_BYTES + 1), "the prompt is longer than 1048576 bytes"),
    ],
    ids=["empty", "blank", "latin-1", "too-large"],
)
def test_a_prompt_that_is_none_is_refused(tmp_path: Path, data: bytes, words: str) -> None:
    """[S-8]"""
    where = place(tmp_path)
    where.scripted(says())
    before = tree(tmp_path)
    done = where.stella("run", *where.asked, stdin=data)
    assert tree(tmp_path) == before
    assert (done.code, done.result["error"]["code"]) == (2, "usage")
    assert done.result["error"]["message"].startswith(words)


def test_a_prompt_on_the_command_line_is_utf_8_too(tmp_path: Path) -> None:
    """[S-8]"""
    where = place(tmp_path)
    where.scripted(says())
    done = where.stella("run", os.fsdecode(b"caf\xe9"), *where.asked)
    message = "the prompt is not UTF-8 at byte 3"
    assert (done.code, done.result["error"]) == (2, {"code": "usage", "message": message})


def test_the_largest_prompt_there_may_be_is_taken(tmp_path: Path) -> None:
    """[S-8]"""
    where = place(tmp_path)
    where.scripted(says())
    text = "word " * (limits.PROMPT_BYTES // 5) + "x" * (limits.PROMPT_BYTES % 5)
    done = where.stella("run", *where.asked, stdin=text.encode())
    assert done.code == 0
    assert where.told("prompt")[0]["text"] == text


def test_all_usage_faults_of_a_command_line_are_told_together(tmp_path: Path) -> None:
    """[S-2] Each with its range or its near misses, before anything is read."""
    where = place(tmp_path)
    before = tree(tmp_path)
    flags = (
        *("--max-steps", "1001", "--max-holds", "-1", "--test-timeout", "601"),
        *("--permissions", "wrokspace", "--output-format", "jsno", "--max-step", "3"),
        *("--pipeline", "a,,b", "--no-pipeline", "--test-command", "a | b"),
    )
    done = where.stella("run", *flags, "go")
    assert tree(tmp_path) == before
    assert (done.code, done.out) == (2, "")
    for fault in (
        "--max-steps: expected 1 to 1000, got 1001",
        "--max-holds: expected 0 to 8, got -1",
        "--test-timeout: expected 1 to 600, got 601",
        '--permissions: "wrokspace" is none; did you mean workspace?',
        '--output-format: "jsno" is none; did you mean json?',
        'no flag "--max-step"; did you mean --max-steps?',
        "--pipeline and --no-pipeline exclude each other",
        '"a,,b" has an empty part',
        'test command, position 3: "|" would need a shell',
    ):
        assert fault in done.err
    assert len(done.err.splitlines()) == 10


HOSTILE: Final = (
    "one\n\n\ttwo  \N{CHECK MARK}\x1b[2J\x1b]0;t\x07\x9b1m\N{RIGHT-TO-LEFT OVERRIDE}x\rmet"
)


def on_terminal(where: Place, *words: str) -> str:
    """What a command prints on a terminal of its own; standard error goes to a pipe."""
    terminal, end = os.openpty()
    attributes = termios.tcgetattr(end)
    attributes[1] &= ~termios.OPOST
    termios.tcsetattr(end, termios.TCSANOW, attributes)
    with where.started(*words, stdout=end) as process:
        os.close(end)
        shown = b""
        while more := some(terminal):
            shown += more
        process.communicate(timeout=PATIENCE)
    os.close(terminal)
    assert process.returncode == 0
    return shown.decode()


def some(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:
        return b""  # its last user has gone


@pytest.mark.parametrize("form", ["text", "json", "stream-json"])
def test_no_answer_does_anything_to_a_terminal_but_print(tmp_path: Path, form: str) -> None:
    """[S-21, S-42] Where no terminal is, it is what the model said."""
    where = place(tmp_path)
    where.scripted(says(HOSTILE))
    run = ("run", "go", *model(where), "--output-format", form)
    shown = on_terminal(where, *run)
    if form == "text":
        assert shown == (
            "one\n\n\ttwo  \N{CHECK MARK}\\u{1B}[2J\\u{1B}]0;t\\u{7}\\u{9B}1m\\u{202E}x\\u{D}met\n"
        )
        assert where.stella(*run).out == f"{HOSTILE}\n"
        return
    assert shown.replace("\n", "").isascii()
    assert shown.replace("\n", "").isprintable()
    last = json.loads(shown.splitlines()[-1])
    assert (last if form == "json" else last["data"])["answer"] == HOSTILE


@pytest.mark.parametrize(
    "words",
    [
        ("version",),
        ("version", "--json"),
        ("--version",),
        ("--help",),
        ("plugin", "list"),
        ("plugin", "list", "--json"),
        ("plugin", "show", "judge"),
        ("journal", "show", "last"),
        ("journal", "show", "last", "--json"),
        ("journal", "verify"),
    ],
)
def test_a_result_that_is_refused_is_one_message_and_no_success(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    """[S-12]"""
    where = place(tmp_path)
    where.install(arbiter(tmp_path / "judge", HONEST))
    where.scripted(*(says("x" * 9000) for _ in range(2)))
    where.run()
    with Path("/dev/full").open("wb") as full:
        done = where.shell('exec "$0" -m stella "$@" >/dev/full', *words)
        with where.started(*words, stderr=full) as process:
            out, _ = process.communicate(timeout=PATIENCE)
    message = "stella: standard output: No space left on device; what it was is lost\n"
    assert (done.code, done.err) == (1, message)
    assert (process.returncode, bool(out)) == (0, True)


def test_a_run_that_can_say_nothing_still_prints_its_result(tmp_path: Path) -> None:
    """[S-12, S-22]"""
    where = place(tmp_path)
    where.scripted(works(), says("x"))
    done = where.shell('exec "$0" -m stella "$@" 2>/dev/full', "run", "go", *where.asked)
    assert (done.code, done.result["status"], done.result["answer"]) == (0, "completed", "x")
    for words in (("run", "go", "--nope"), ("plugin", "remove", "x"), ("demo", "--nope")):
        done = where.shell('exec "$0" -m stella "$@" 2>/dev/full', *words)
        assert done.code in {1, 2}
        assert done.out == ""


@pytest.mark.parametrize("keep", [(), ("--keep",)])
def test_a_demo_whose_answer_is_refused_is_no_success(
    tmp_path: Path, keep: tuple[str, ...]
) -> None:
    """[S-12, S-47]"""
    where = place(tmp_path)
    folder = tmp_path / "tmp"
    folder.mkdir()
    script = 'TMPDIR=$1; export TMPDIR; shift; exec "$0" -m stella demo "$@" >/dev/full'
    done = where.shell(script, str(folder), *keep)
    assert done.code == 1
    message = "stella: standard output: No space left on device; what it was is lost"
    assert done.err.splitlines()[-1] == message
    assert bool(list(folder.iterdir())) is bool(keep)
