"""The bus of one session over a real journal and real processes [H-1 to H-5, D-70 to D-76]."""

import asyncio
from collections.abc import Awaitable
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stella import limits
from stella.clock import SystemClock
from stella.journal.journal import Journal
from stella.journal.journal import new_session_id
from stella.manifest.events import CATALOGUE
from stella.redact import Redactor
from stella.roster.roster import read_roster
from stella.roster.scope import places
from stella.session.broadcast import NAMES
from stella.session.broadcast import Broadcast
from stella.session.enabled import enabled
from stella.session.facts import SessionClosed
from stella.session.telling import Telling
from stella.turn.facts import Emitted
from stella.turn.facts import Noticed
from stella.turn.facts import RunStatus
from stella.turn.facts import UsageTotal
from stella.wire.event import Event
from stella.wire.event import read_event
from tests.making.observers import COPY
from tests.making.observers import observer
from tests.making.planted import REGISTERED
from tests.making.processes import PATIENCE
from tests.making.sessions import installed
from tests.making.sessions import options
from tests.making.sessions import project

SECRET = "sk-0123456789abcdefghij"
CLOSED = SessionClosed(status=RunStatus.MET, turns=1, usage=UsageTotal())

Story = Callable[[Telling, Broadcast], Awaitable[None]]


def emitted(number: int, **more: Any) -> Emitted:
    return Emitted(name="plugin.watch.seen", payload={"n": number} | more)


def played(
    folder: Path, story: Story, *sources: Path, spoil: Callable[[], None] = lambda: None
) -> Telling:
    """Let a session tell a story to its subscribers, whose home is `folder`."""
    root = project(folder / "work")
    for source in sources:
        installed(root, folder / "home", source)
    spoil()
    env = {"HOME": str(folder), "PATH": "/usr/bin:/bin"}
    clock = SystemClock()
    redactor = Redactor([REGISTERED])
    journal = Journal.create(root, new_session_id(clock), clock, redactor)
    telling = Telling(journal)

    async def play() -> None:
        wanted = options(root, folder / "home", folder / "m", env=env)
        bus = Broadcast(
            telling,
            clock,
            redactor,
            enabled(wanted, root, read_roster(places(folder / "home", root), env["PATH"])),
        )
        telling.listen(bus.hear)
        try:
            await story(telling, bus)
        finally:
            await bus.close()

    asyncio.run(play())
    journal.close()
    return telling


async def ready(folder: Path, *names: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while not all((folder / f"{name}.ready").exists() for name in names):  # noqa: ASYNC110 - it is another process that is waited for
            await asyncio.sleep(0.005)


def events(folder: Path, name: str = "watch") -> list[Event]:
    lines = (folder / f"{name}.log").read_bytes().splitlines()
    found = [read_event(line) for line in lines]
    return [line for line in found if isinstance(line, Event)]


def test_every_name_is_one_of_the_catalogue() -> None:
    """[H-10]"""
    assert set(NAMES) <= set(CATALOGUE)


@pytest.mark.behaviour("D-75")
def test_what_a_plugin_emits_reaches_its_subscribers_and_itself(tmp_path: Path) -> None:
    """[D-75, H-21, W-32] The record has the full name as its type, and so has the event."""

    async def story(telling: Telling, bus: Broadcast) -> None:
        telling.tell("t1", emitted(1))
        bus.start()
        await ready(tmp_path, "watch", "other", "deaf")
        telling.tell("t1.a2", emitted(2, content="body\n"))
        telling.tell(None, emitted(3))

    played(
        tmp_path,
        story,
        observer(tmp_path / "src", "plugin.watch.*", "plugin.*"),
        observer(tmp_path / "src", "plugin.watch.seen", name="other"),
        observer(tmp_path / "src", "plugin.other.*", "extension.*", name="deaf"),
    )
    told = events(tmp_path)
    assert [event.name for event in told] == ["plugin.watch.seen"] * 3
    assert [event.payload for event in told] == [
        {"n": 1},
        {"n": 2, "content": "[5 bytes, 1 lines]"},
        {"n": 3},
    ]
    assert [(event.turn_id, event.agent_id) for event in told] == [
        ("t1", None),
        ("t1", "t1.a2"),
        (None, None),
    ]
    assert [event.sequence for event in told] == [1, 5, 6]
    assert events(tmp_path, "other") == told
    assert {event.name for event in events(tmp_path, "deaf")} == {"extension.loaded"}
    (journal,) = tmp_path.glob("work/.stella/private/sessions/*/journal.jsonl")
    assert b'"type":"plugin.watch.seen","turn":"t1","data":{"payload":{"n":1}}' in (
        journal.read_bytes()
    )


def test_a_secret_is_told_by_place_and_number(tmp_path: Path) -> None:
    """[J2-23, H-40] The value of a key in use as well as a shape."""

    async def story(telling: Telling, bus: Broadcast) -> None:
        bus.start()
        await ready(tmp_path, "watch")
        telling.tell("t1", emitted(1, text=f"{REGISTERED} and {REGISTERED}"))

    played(tmp_path, story, observer(tmp_path / "src", "*"))
    loaded, told, found = events(tmp_path)
    assert loaded.payload == {"kind": "subscriber", "name": "watch"}
    assert told.payload == {"n": 1, "text": "[redacted] and [redacted]"}
    assert (found.name, found.turn_id) == ("secret.detected", "t1")
    assert found.payload == {"where": "plugin.watch.seen", "count": 2}


def test_a_path_that_is_no_text_reaches_nobody_as_half_a_letter(tmp_path: Path) -> None:
    """[J2-13]"""

    async def story(telling: Telling, bus: Broadcast) -> None:
        telling.tell("t1", emitted(0))
        bus.start()
        await ready(tmp_path, "watch")
        telling.tell("t1", emitted(1, path="a\udcff"))

    played(tmp_path, story, observer(tmp_path / "src", "plugin.*"))
    assert events(tmp_path)[1].payload["path"] == "a\\udcff"


def test_nothing_is_told_after_the_last_call(tmp_path: Path) -> None:
    """[D-74] A subscriber that has ended by then is no news either."""

    async def story(telling: Telling, bus: Broadcast) -> None:
        bus.start()
        await ready(tmp_path, "watch")
        bus.last_call(CLOSED)
        telling.tell(None, CLOSED)
        async with asyncio.timeout(PATIENCE):
            while not (tmp_path / "ended").exists():  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.005)
        await asyncio.sleep(0)

    then = "[sys.stdin.buffer.readline() for _ in range(2)]\n(home / 'ended').touch()\n"
    telling = played(
        tmp_path, story, observer(tmp_path / "src", "extension.*", "session.*", then=then)
    )
    assert [fact.type for fact in telling.told] == ["session_closed"]


@pytest.mark.parametrize("broken", [False, True])
def test_an_early_end_is_told_to_the_others_and_in_the_journal(
    tmp_path: Path, broken: bool
) -> None:
    """[D-73, J2-34] A journal that takes nothing more is told by whoever tells the next fact."""

    async def story(telling: Telling, bus: Broadcast) -> None:
        bus.start()
        await ready(tmp_path, "watch", "brief")
        if broken:
            telling.journal.close()
        (tmp_path / "go").touch()
        async with asyncio.timeout(PATIENCE):
            while len(events(tmp_path)) < 3:  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.005)

    telling = played(
        tmp_path,
        story,
        observer(tmp_path / "src", "*", name="brief", then="until(home / 'go')\n"),
        observer(tmp_path / "src", "extension.*"),
    )
    assert [event.payload["name"] for event in events(tmp_path)] == ["brief", "watch", "brief"]
    assert events(tmp_path)[-1].name == "extension.unloaded"
    told = [fact.code for fact in telling.told if isinstance(fact, Noticed)]
    assert told == ([] if broken else ["observer_ended"])


def test_what_may_not_start_is_a_notice_and_no_subscriber(tmp_path: Path) -> None:
    """[T-2, T-8, T-11, I-30]"""
    listed = observer(tmp_path / "src", "*", name="gone")
    manifest = listed / "plugin.toml"
    manifest.write_text(manifest.read_text().replace('"HOME"]', '"OPENAI_API_KEY"]'))

    async def story(telling: Telling, bus: Broadcast) -> None:
        bus.start()
        telling.tell(None, emitted(1))

    def spoil() -> None:
        with (tmp_path / "work/.stella/plugins/watch/main.py").open("a") as file:
            file.write("\n")
        (record,) = (tmp_path / "home").rglob("*.lock.toml")
        text = record.read_text()
        old = next(line for line in text.splitlines() if line.startswith("program"))
        record.write_text(text.replace(old, 'program = "/nowhere/python3"'))

    telling = played(tmp_path, story, listed, observer(tmp_path / "src", "*"), spoil=spoil)
    told = [(fact.code, fact.text) for fact in telling.told if isinstance(fact, Noticed)]
    assert [code for code, _ in told] == [
        "credential_withheld",
        "observer_not_started",
        "observer_not_started",
    ]
    assert "/nowhere/python3" in told[1][1]
    assert "watch" in told[2][1]
    assert not (tmp_path / "watch.ready").exists()


def test_a_bus_without_subscribers_only_counts(tmp_path: Path) -> None:
    """[H-1]"""

    async def story(telling: Telling, bus: Broadcast) -> None:
        bus.start()
        telling.tell(None, Noticed(code="c", text="t"))
        bus.last_call(CLOSED)
        bus.hurry()

    assert len(played(tmp_path, story).told) == 1


def test_haste_reaches_every_subscriber(tmp_path: Path) -> None:
    """[S-12]"""

    async def story(telling: Telling, bus: Broadcast) -> None:
        bus.start()
        await ready(tmp_path, "watch")
        closing = asyncio.create_task(bus.close())
        async with asyncio.timeout(PATIENCE):
            while not (tmp_path / "watch.log").read_bytes():  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.005)
        bus.hurry()
        await closing

    then = "sys.stdin.read()\nlog.write(b'end')\nwhile True:\n    time.sleep(600)\n"
    telling = played(tmp_path, story, observer(tmp_path / "src", "extension.*", then=then))
    assert telling.told == []


def test_a_loss_whose_notice_is_an_event_itself_disturbs_no_order(tmp_path: Path) -> None:
    """[H-4, D-71] A name that looks like a secret is redacted, and that is an event."""

    async def story(telling: Telling, bus: Broadcast) -> None:
        bus.start()
        await ready(tmp_path, SECRET)
        for number in range(20 * limits.EVENT_QUEUE):
            telling.tell("t1", emitted(number))
        (tmp_path / "go").touch()
        async with asyncio.timeout(PATIENCE):
            while b'"dropped"' not in (tmp_path / f"{SECRET}.log").read_bytes():
                telling.tell("t1", emitted(-1))
                await asyncio.sleep(0.005)

    slow = f"until(home / 'go')\n{COPY}"
    telling = played(
        tmp_path,
        story,
        observer(tmp_path / "src", "*", name=SECRET, then=slow),
        observer(tmp_path / "src", "*"),
    )
    told = [fact.text for fact in telling.told if isinstance(fact, Noticed)]
    assert any(text.startswith(f"{SECRET} did not get") for text in told)
    assert {"where": "notice", "count": 1} in [event.payload for event in events(tmp_path)]
    for name in (SECRET, "watch"):
        numbers = [event.sequence for event in events(tmp_path, name)]
        assert numbers == sorted(set(numbers))
