"""Plugins that subscribe to events, as processes of the real command [D-70 to D-76]."""

import json
import os
import shutil
import signal
from itertools import pairwise
from pathlib import Path
from typing import Final

import pytest

from stella import limits
from stella.wire.event import Dropped
from stella.wire.event import Event
from tests.making.ends import HONEST
from tests.making.ends import Json
from tests.making.ends import Place
from tests.making.ends import asks
from tests.making.ends import granted
from tests.making.ends import place
from tests.making.ends import says
from tests.making.ends import works
from tests.making.observers import events
from tests.making.observers import heard
from tests.making.observers import lost
from tests.making.observers import names
from tests.making.observers import notices
from tests.making.observers import observer
from tests.making.observers import waits
from tests.making.observers import waits_for_record
from tests.making.planted import PLANTED
from tests.making.planted import REGISTERED
from tests.making.plugins import arbiter
from tests.making.plugins import hooking
from tests.making.processes import eventually
from tests.making.processes import marked

UNTIL_TERM: Final = """\
def end(*_):
    for line in sys.stdin.buffer:
        log.write(line)
    sys.exit()
signal.signal(signal.SIGTERM, end)
while True:
    time.sleep(600)
"""
"""Reads nothing before it is asked to end, and then whatever has come."""

AGAIN: Final = """\
until(home / "go")
dropped = False
for line in sys.stdin.buffer:
    log.write(line)
    if dropped:
        (home / "caught-up").touch()
    dropped = line.startswith(b'{"dropped"')
"""
"""Reads nothing until the file `go` is there, then everything."""

STAYS: Final = """\
def asked(*_):
    log.write(b"asked\\n")
signal.signal(signal.SIGTERM, asked)
(home / "stays").touch()
for line in sys.stdin.buffer:
    pass
log.write(b"end of input\\n")
if os.fork() == 0:
    os.setsid()
while True:
    time.sleep(600)
"""
"""Heeds neither the end of its input nor a signal, and nor does its child."""

FLOOD: Final = """\
os.write(1, b'{"action":"deny","reason":"no"}\\n')
os.write(1, b'{"call":"emit","id":1,"args":{"name":"x","payload":{}}}\\n')
for _ in range(40):
    os.write(1, b"\\xff" * 262144)
    os.write(2, b"\\x1b[2J" * 65536)
os.write(2, "last words \\u00e9".encode())
log.write(b"flooded\\n")
sys.exit(7)
"""


def many() -> list[Json]:
    """Two replies whose calls make more than 3000 events."""
    call = {"name": "read_file", "input": {"path": "check.py"}}
    return [{"tool_calls": [call] * limits.REPLY_CALLS}] * 2


def nobody_left(where: Place) -> None:
    assert not marked(where.mark)


@pytest.mark.behaviour("K-143", "D-70")
def test_an_event_comes_once_and_in_order(tmp_path: Path) -> None:
    """[D-70] Two patterns match; the arguments of a call that is none are no call."""
    where = place(tmp_path)
    where.install(observer(tmp_path, "tool.call.*", "tool.call.completed"))
    where.scripted(waits("watch"), asks("nope"), works(), asks("read_file", path="gone"), says())
    assert where.run().code == 0
    life = ["requested", "validated", "started"]
    told = [name.removeprefix("tool.call.") for name in names(where)]
    assert told == [*life, "completed", *life, "completed", *life, "failed"]
    numbers = [event.sequence for event in events(where)]
    assert numbers == sorted(set(numbers))
    ended = [event.payload for event in events(where)][3::4]
    assert [(each["tool"], each["call_id"], each["ok"]) for each in ended] == [
        ("bash", "t1.c1", True),
        ("write_file", "t1.c3", True),
        ("read_file", "t1.c4", False),
    ]
    assert ended[2]["class"] == "not_found"


@pytest.mark.behaviour("W-44", "D-76")
@pytest.mark.parametrize("pipeline", [False, True])
def test_a_session_is_told_from_its_first_record_to_its_last(
    tmp_path: Path, pipeline: bool
) -> None:
    """[D-6, D-70, W-44] With and without a pipeline, without a gap, in the order of the journal."""
    where = place(tmp_path)
    where.install(observer(tmp_path, "*"), arbiter(tmp_path / "judge", HONEST))
    where.scripted(waits("watch"), works(), says())
    done = where.run(*(granted("judge") if pipeline else ()))
    assert (done.code, done.result["status"]) == (0, "met" if pipeline else "completed")
    told = events(where)
    session = done.result["session"]
    assert [event.sequence for event in told] == list(range(1, len(told) + 1))
    assert [event.id for event in told] == [f"evt_{session}_{e.sequence}" for e in told]
    assert {event.session_id for event in told} == {session}
    assert (told[0].name, told[-1].name) == ("session.created", "session.completed")
    assert {event.turn_id for event in told} == {None, "t1"}
    assert {event.agent_id for event in told} == {None}
    stamps = {record["ts"] for record in where.records()}
    own = {e.timestamp for e in told if e.payload.get("kind") == "subscriber"}
    assert {event.timestamp for event in told} - own <= stamps
    assert not where.told("notice")
    nobody_left(where)


@pytest.mark.behaviour("W-14", "W-15")
def test_a_plugin_of_a_pipeline_may_subscribe_too(tmp_path: Path) -> None:
    """[W-15, T-4] One process for its stream, a fresh one for each point."""
    where = place(tmp_path)
    program = (
        "import os, pathlib, sys\nhome = pathlib.Path(os.environ['HOME'])\n"
        "line = sys.stdin.readline()\n"
        "if 'sequence' in line[:400] and '\"point\"' not in line[:10]:\n"
        "    import signal\n    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "    log = open(home / 'judge.log', 'w')\n    (home / 'judge.ready').touch()\n"
        "    log.write(line + sys.stdin.read())\n    sys.exit()\n"
        "sys.stdin = __import__('io').StringIO(line)\n" + HONEST
    )
    folder = arbiter(tmp_path / "judge", program)
    manifest = folder / "plugin.toml"
    text = manifest.read_text().replace("max_holds", 'events = ["agent.*"]\nmax_holds')
    manifest.write_text(text.replace('["PATH"]', '["PATH", "HOME"]'))
    where.install(folder)
    where.scripted(waits("judge"), works(), says())
    done = where.run(*granted("judge"))
    assert (done.code, done.result["status"]) == (0, "met")
    assert names(where, "judge")[0] == "agent.turn.started"
    assert names(where, "judge")[-1] == "agent.turn.completed"


@pytest.mark.behaviour("D-71", "D-72")
def test_a_subscriber_that_never_reads_delays_nobody(tmp_path: Path) -> None:
    """[D-71, D-72, D-74] What it could not take is counted to the last event."""
    where = place(tmp_path)
    where.install(
        observer(tmp_path, "*", name="mute", then=UNTIL_TERM),
        observer(tmp_path, "session.*", name="watch"),
    )
    where.scripted(waits("mute", "watch"), *many(), says())
    done = where.run()
    assert (done.code, done.result["status"]) == (0, "completed")
    total = events(where, "watch")[-1].sequence
    assert total > 3000
    got = heard(where, "mute")
    assert len(got) > 0
    assert [line.sequence for line in got if isinstance(line, Event)] == list(
        range(1, len(got) + 1)
    )
    assert len(got) + sum(lost(where, "mute")) == total
    assert len(lost(where, "mute")) == 1
    nobody_left(where)


@pytest.mark.behaviour("K-144", "W-45")
def test_a_subscriber_that_reads_again_is_told_what_it_missed(tmp_path: Path) -> None:
    """[D-71, W-45] The number stands before the next event it gets, and once in the journal."""
    where = place(tmp_path)
    where.install(
        observer(tmp_path, "*", name="late", then=AGAIN),
        observer(tmp_path, "session.*", name="watch"),
    )
    caught_up = 'touch "$HOME/go"; until [ -e "$HOME/caught-up" ]; do sleep 0.01; done'
    where.scripted(
        waits("late", "watch"), *many(), asks("bash", command=caught_up), says("all is well")
    )
    done = where.run()
    assert done.code == 0
    total = events(where, "watch")[-1].sequence
    got = heard(where, "late")
    (at,) = [i for i, line in enumerate(got) if isinstance(line, Dropped)]
    assert isinstance(got[at + 1], Event)
    missed = got[at]
    assert isinstance(missed, Dropped)
    assert lost(where, "late") == [missed.dropped]
    assert len(got) - 1 + missed.dropped == total
    numbers = [line.sequence for line in got if isinstance(line, Event)]
    assert numbers == sorted(set(numbers))
    gaps = [(a, b) for a, b in pairwise(numbers) if b != a + 1]
    assert [b - a - 1 for a, b in gaps] == [missed.dropped]
    # The oldest were kept: what the queue holds, and what was in the pipe before.
    assert gaps[0][0] > limits.EVENT_QUEUE
    nobody_left(where)


@pytest.mark.behaviour("K-145", "D-74")
def test_a_subscriber_that_stays_is_killed_with_all_it_started(tmp_path: Path) -> None:
    """[D-74] Its input ends and it is asked, within `limits.EVENT_GRACE_SECS` it has to be gone."""
    where = place(tmp_path)
    where.install(observer(tmp_path, "session.*", then=STAYS))
    ready = 'until [ -e "$HOME/stays" ]; do sleep 0.01; done'
    where.scripted(asks("bash", command=ready), says())
    done = where.run()
    assert (done.code, done.result["status"]) == (0, "completed")
    log = (where.person / "watch.log").read_bytes().splitlines()
    assert sorted(log) == [b"asked", b"end of input"]
    assert not where.told("notice")
    nobody_left(where)


@pytest.mark.behaviour("D-73")
def test_a_subscriber_that_ends_early_is_one_notice_and_is_not_started_again(
    tmp_path: Path,
) -> None:
    """[D-73] The deadline of its manifest, one second, is none for a stream."""
    where = place(tmp_path)
    then = "print('no more', file=sys.stderr)\nlog.write(b'once\\n')\nsys.exit(3)\n"
    where.install(
        observer(tmp_path, "*", name="brief", then=then), observer(tmp_path, "extension.*")
    )
    where.scripted(waits("watch"), waits_for_record("observer_ended"), works(), says())
    done = where.run()
    assert (done.code, done.result["status"]) == (0, "completed")
    (text,) = notices(where, lambda code: code != "roster")
    assert text.startswith("the observer brief ended early with code 3; ")
    assert text.endswith("it gets no more events; stderr: no more")
    assert (where.person / "brief.log").read_bytes() == b"once\n"
    told = [(event.name, event.payload["name"]) for event in events(where)]
    assert told == [
        ("extension.loaded", "brief"),
        ("extension.loaded", "watch"),
        ("extension.unloaded", "brief"),
    ]


@pytest.mark.behaviour("D-72", "W-47")
def test_nothing_a_subscriber_prints_has_an_effect(tmp_path: Path) -> None:
    """[D-72, W-47, T-29] Neither a decision, nor a call, nor ten mebibytes; its last words stay."""
    where = place(tmp_path)
    where.install(observer(tmp_path, "*", then=FLOOD))
    where.scripted(waits_for_record("observer_ended"), works(), says("well"))
    done = where.run()
    assert (done.code, done.result["answer"]) == (0, "well")
    assert (where.person / "watch.log").read_bytes() == b"flooded\n"
    (text,) = notices(where, lambda _code: True)
    assert text.endswith("last words \N{LATIN SMALL LETTER E WITH ACUTE}")
    assert len(text.partition("stderr: ")[2].replace("\\u{1B}", "x")) == limits.STDERR_CHARS
    assert not [record for record in where.records() if record["type"].startswith("plugin")]


@pytest.mark.behaviour("W-46")
def test_no_secret_and_no_content_reaches_a_subscriber(tmp_path: Path) -> None:
    """[H-40, W-46]"""
    where = place(tmp_path)
    where.install(observer(tmp_path, "*"))
    texts = [text for text, _ in PLANTED.values()]
    (where.root / "old.txt").write_text("the old body\n", "utf-8")
    (where.root / "loud.sh").write_text("".join(f"echo '{t}'\n" for t in texts), "utf-8")
    edit = asks("edit_file", path="old.txt", old_string="the old body", new_string="a new body")
    batch = {"path": "old.txt", "old_string": "a new body", "new_string": "body three"}
    where.scripted(
        waits("watch"),
        *(asks("write_file", path="new.txt", content=f"the first body {t}\n") for t in texts[:1]),
        asks("read_file", path="old.txt"),
        edit,
        asks("edit_file", edits=[batch]),
        asks("bash", command="sh loud.sh"),
        *(asks("bash", command=f": '{text}'") for text in texts),
        says("\n".join(texts)),
    )
    done = where.stella("run", "go", *where.asked, env={"ANTHROPIC_API_KEY": REGISTERED})
    assert done.code == 0
    log = (where.person / "watch.log").read_text("utf-8")
    found = [name for name, (_, secret) in PLANTED.items() if secret in log]
    assert not found
    assert not [word for word in ("body", "three") if word in log]
    assert "[redacted]" in log
    given = [e.payload["input"] for e in events(where) if e.name == "tool.call.requested"]
    size = len(f"the first body {texts[0]}\n".encode())
    assert given[1]["content"] == f"[{size} bytes, {texts[0].count(chr(10)) + 1} lines]"
    assert given[3] == {
        "path": "old.txt",
        "old_string": "[12 bytes, 1 lines]",
        "new_string": "[10 bytes, 1 lines]",
    }
    assert given[4]["edits"][0]["new_string"] == "[10 bytes, 1 lines]"
    detected = [e.payload for e in events(where) if e.name == "secret.detected"]
    assert {"where": "tool_finished", "count": len(texts)} in detected


@pytest.mark.parametrize("how", ["changed", "never accepted"])
def test_a_subscriber_whose_bytes_nobody_accepted_is_not_started(tmp_path: Path, how: str) -> None:
    """[T-2, I-30, D-61]"""
    where = place(tmp_path)
    folder = observer(tmp_path, "*")
    copy = where.root / ".stella" / "plugins" / "watch"
    if how == "changed":
        where.install(folder)
        with (copy / "main.py").open("a") as file:
            file.write("\n")
    else:
        shutil.copytree(folder, copy)
    where.install(observer(tmp_path, "extension.*", name="other"))
    where.scripted(waits("other"), says())
    assert where.run().code == 0
    (text,) = notices(where, lambda code: code == "observer_not_started")
    assert "watch" in text
    assert not (where.person / "watch.ready").exists()
    assert [event.payload["name"] for event in events(where, "other")] == ["other"]


def test_a_subscriber_whose_program_is_gone_is_one_notice(tmp_path: Path) -> None:
    """[T-8]"""
    where = place(tmp_path)
    where.install(observer(tmp_path, "*"))
    lock = where.home
    (record,) = [path for path in lock.rglob("*.toml") if "watch" in path.read_text()]
    text = record.read_text()
    program = next(line for line in text.splitlines() if line.startswith("program"))
    record.write_text(text.replace(program, 'program = "/nowhere/python3"'))
    where.scripted(says())
    assert where.run().code == 0
    (told,) = notices(where, lambda code: code == "observer_not_started")
    assert "/nowhere/python3" in told


def test_a_killed_host_takes_its_subscribers_with_it(tmp_path: Path) -> None:
    """[T-30, T-33]"""
    where = place(tmp_path)
    where.install(observer(tmp_path, "session.*", then=STAYS))
    where.scripted(asks("bash", command="sleep 600"), says())
    with where.started("run", "go", *where.asked) as process:
        eventually((where.person / "stays").exists)
        process.kill()
        process.communicate()
    eventually(lambda: not where.left(process.pid))
    where.verified()


@pytest.mark.parametrize("signals", [1, 2])
def test_a_cancelled_run_ends_its_subscribers(tmp_path: Path, signals: int) -> None:
    """[D-74, S-12] A second signal ends at once what is given time."""
    where = place(tmp_path)
    where.install(
        observer(tmp_path, "session.*"), observer(tmp_path, "session.*", name="stays", then=STAYS)
    )
    where.scripted(waits("watch", also='until [ -e "$HOME/never" ]; do sleep 0.01; done'), says())
    with where.started("run", "go", *where.asked) as process:
        eventually((where.person / "stays").exists)
        eventually((where.person / "watch.ready").exists)
        eventually(lambda: where.told("tool_started"))
        process.send_signal(signal.SIGINT)
        if signals > 1:
            eventually(lambda: b"asked" in (where.person / "stays.log").read_bytes())
            process.send_signal(signal.SIGINT)
        process.communicate()
    assert process.returncode == 130
    assert names(where)[-2:] == ["session.cancel_requested", "session.cancelled"]
    last = events(where)[-1].payload
    assert last["by"] == "SIGINT"
    assert last["waited_ms"] >= 0
    nobody_left(where)


def test_a_credential_a_subscriber_lists_is_withheld(tmp_path: Path) -> None:
    """[T-11]"""
    where = place(tmp_path)
    folder = observer(tmp_path, "session.*", then="log.write(repr(sorted(os.environ)).encode())\n")
    manifest = folder / "plugin.toml"
    text = manifest.read_text().replace('"HOME"]', '"HOME", "MY_TOKEN"]')
    manifest.write_text(text)
    where.install(folder)
    where.scripted(waits_for_record("observer_ended"), says())
    done = where.stella("run", "go", *where.asked, env={"MY_TOKEN": "x" * 20})
    assert done.code == 0
    log = (where.person / "watch.log").read_text()
    assert "MY_TOKEN" not in log
    assert notices(where, lambda code: code == "credential_withheld") == [
        "watch lists MY_TOKEN, a credential; it is withheld"
    ]
    assert os.environ.get("MY_TOKEN") is None


def test_the_command_an_observer_hears_of_is_the_one_that_runs(tmp_path: Path) -> None:
    """[H-20, H-60] A guard that rewrites a call must not blind whoever keeps the record."""
    where = place(tmp_path)
    rewrite = {"action": "modify", "payload": {"input": {"command": "echo tame"}}}
    program = f"import sys\nsys.stdin.read()\nprint({json.dumps(json.dumps(rewrite))})\n"
    where.install(
        hooking(tmp_path / "guard", program, "PreToolUse"),
        observer(tmp_path, "command.started", "tool.call.requested"),
    )
    where.scripted(asks("bash", command="echo wild"), says())
    assert where.run().code == 0
    requested, started = (event.payload for event in events(where))
    assert requested["input"] == {"command": "echo wild"}
    assert started["command"] == "echo tame"
