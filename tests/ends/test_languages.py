"""The same run with `verify` in each language: what is decided and recorded does not differ.

Each story is played in one place three times, with another language installed. Left out of the
comparison are the times, the ids and the hashes over them, and the digest of the package.
"""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.making.ends import TEST
from tests.making.ends import Json
from tests.making.ends import Place
from tests.making.ends import asks
from tests.making.ends import granted
from tests.making.ends import place
from tests.making.ends import says
from tests.making.ends import works
from tests.making.shipped import SHIPPED
from tests.making.shipped import VERIFY_PY
from tests.making.shipped import Shipped
from tests.making.shipped import marked

DIES = "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n"
OTHERS = [marked(plugin) for plugin in SHIPPED if plugin is not VERIFY_PY]

TOLD_ANEW = re.compile(r"ts|prev|head|session|started_at|ended_at|digest|pid|.*_ms|.*-ms")
"""Keys whose value is a time, an id, or a hash over one of them or over the package."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """What the model does, which test is granted, and how it ends: exit code, rounds, verdicts."""

    replies: tuple[Json, ...]
    code: int
    verdicts: tuple[str, ...]
    tamper: str = "clean"
    test: str = TEST


CHEATS = (asks("read_file", path="check.py"), asks("write_file", path="check.py", content=""))
"""Replies that have the test pass by changing it; a shell's result would hold a time."""

STORIES = {
    "met": Story(replies=(works(), says("done")), code=0, verdicts=("met",)),
    "held": Story(
        replies=(says("nothing"), works(), says("done")), code=0, verdicts=("unmet", "met")
    ),
    "unmet": Story(replies=(says("no"), says("still no")), code=4, verdicts=("unmet", "unmet")),
    "undecided": Story(
        replies=(works(), says("done")),
        code=5,
        verdicts=("undecided",),
        test="python3 -S dies.py",
    ),
    "tampered": Story(
        replies=(*CHEATS, says("done"), says("no")),
        code=4,
        verdicts=("unmet", "unmet"),
        tamper="tampered",
    ),
}


def lasting(value: Any, session: str) -> Any:
    """Return a record without what is another one in each run."""
    match value:
        case dict():
            return {
                key: "-" if TOLD_ANEW.fullmatch(key) else lasting(each, session)
                for key, each in value.items()
            }
        case list():
            return [lasting(each, session) for each in value]
        case str():
            return value.replace(session, "-")
        case _:
            return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What a story came to: the exit code, the result's lasting part, and the journal's."""

    code: int
    result: Json
    records: tuple[Json, ...]


def play(story: Story, plugin: Shipped, where: Place) -> Played:
    """Install one language, run, check that all is as it should be, and clear the place."""
    (where.root / "dies.py").write_text(DIES, "utf-8")
    where.install(plugin.directory)
    where.scripted(*story.replies)
    done = where.run(*granted("verify", story.test))
    records = where.records()
    session = records[0]["data"]["session"]
    assert where.whole()
    return Played(
        code=done.code,
        result=lasting(done.result, session),
        records=tuple(lasting(record, session) for record in records),
    )


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_a_story_ends_as_it_should(story: Story, tmp_path: Path) -> None:
    played = play(story, VERIFY_PY, place(tmp_path))
    verdicts = [each["data"] for each in played.records if each["type"] == "verdict"]
    assert played.code == story.code
    assert tuple(next(iter(each["verdict"])) for each in verdicts) == story.verdicts
    assert all(story.tamper in each["evidence"]["tamper"] for each in verdicts)


@pytest.mark.parametrize("plugin", OTHERS)
@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_it_ends_and_is_recorded_alike_in_every_language(
    story: Story, plugin: Shipped, tmp_path: Path
) -> None:
    here = tmp_path / "here"
    ends = []
    for each in (VERIFY_PY, plugin):
        here.mkdir()
        ends.append(play(story, each, place(here)))
        shutil.rmtree(here)
    assert ends[0].records == ends[1].records
    assert ends[0] == ends[1]
    assert len(ends[0].records) > 10
