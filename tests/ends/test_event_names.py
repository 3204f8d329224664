"""Each name of the catalogue that has a producer fires in a run of the real command [H-10]."""

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from stella.manifest.events import CATALOGUE
from stella.session import broadcast
from stella.session import events as session_events
from tests.making.ends import HONEST
from tests.making.ends import Place
from tests.making.ends import asks
from tests.making.ends import granted
from tests.making.ends import place
from tests.making.ends import says
from tests.making.ends import works
from tests.making.observers import names
from tests.making.observers import observer
from tests.making.observers import waits
from tests.making.observers import waits_for_record
from tests.making.plugins import arbiter
from tests.making.processes import eventually

PRODUCED: Final = frozenset((*session_events.NAMES, *broadcast.NAMES))


def works_in_every_way(where: Place) -> None:
    where.install(arbiter(where.root.parent / "judge", HONEST))
    secret = "DB_PASSWORD=" + "f00dCafe" * 2
    where.scripted(
        waits("watch"),
        asks("bash", command=f"echo {secret}; exit 3"),
        works(),
        asks("read_file", path="answer.txt"),
        asks("read_file", path=".env"),
        says(),
    )
    assert where.run(*granted("judge")).code == 0


def has_a_test_nobody_can_see(where: Place) -> None:
    where.install(arbiter(where.root.parent / "judge", HONEST))
    where.scripted(waits("watch"), works(), says())
    where.run(*granted("judge", "python3 gone.py"))


def is_refused(where: Place) -> None:
    where.scripted(waits("watch"), asks("delete_file", path="check.py"), says())
    assert where.run().code == 0


def fails(where: Place) -> None:
    where.scripted(waits("watch"), {"error": {"kind": "rate_limited"}})
    assert where.run().code == 1


def is_cancelled(where: Place) -> None:
    where.scripted(waits("watch", also="touch on; sleep 600"), says())
    with where.started("run", "go", *where.asked) as process:
        eventually((where.root / "on").exists)
        process.send_signal(signal.SIGINT)
        process.communicate()


def loses_a_subscriber(where: Place) -> None:
    where.install(observer(where.root.parent, "*", name="brief", then="sys.exit()\n"))
    where.scripted(waits("watch"), waits_for_record("observer_ended"), says())
    assert where.run().code == 0


BEGINNING: Final = {
    "session.created", "workspace.opened", "session.started", "tool.registered",
    "extension.loaded", "transcript.entry.created", "agent.turn.started", "agent.step.started",
    "model.request.started",
}  # fmt: skip
LIFE: Final = {
    "model.request.completed", "tool.call.requested", "policy.evaluated",
}  # fmt: skip
ALLOWED: Final = {
    "policy.allowed", "tool.call.validated", "tool.call.started", "command.started",
}  # fmt: skip
CLOSING: Final = {"agent.step.completed", "agent.turn.completed"}
COMPLETED: Final = {"agent.message.completed", "session.completed"}

STORIES: Final[dict[Callable[[Place], None], set[str]]] = {
    works_in_every_way: {
        "test.started", "test.completed", "secret.detected", "command.completed", "command.failed",
        "tool.call.completed", "tool.call.failed", "sensitive_operation.detected", "file.read",
        "file.diff.computed", "files_touched.updated",
    } | BEGINNING | LIFE | ALLOWED | CLOSING | COMPLETED,
    has_a_test_nobody_can_see: {"test.started", "test.failed"},
    is_refused: {"policy.blocked"},
    fails: {"model.request.failed", "model.rate_limited", "agent.error", "session.failed"},
    is_cancelled: {"session.cancel_requested", "tool.call.cancelled", "session.cancelled"},
    loses_a_subscriber: {"extension.unloaded"},
}  # fmt: skip
"""Which run shows which names."""


def test_every_name_with_a_producer_is_shown_by_a_run() -> None:
    """[H-10]"""
    assert set(CATALOGUE) >= PRODUCED
    assert set().union(*STORIES.values()) == PRODUCED


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_a_run_tells_its_names(tmp_path: Path, story: Callable[[Place], None]) -> None:
    """[H-10, H-20] And no name that nobody produces."""
    where = place(tmp_path)
    where.install(observer(tmp_path, "*"))
    story(where)
    told = set(names(where))
    assert told >= STORIES[story]
    assert told <= PRODUCED
