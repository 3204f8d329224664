"""Observers in a folder: what they subscribe to, and programs that keep what they read.

A program is told its files by `HOME`, which no test shares with another: `<name>.log` is what
it read, and `<name>.ready` stands when it heeds no polite signal any more and its first line has
come: from then on the host knows that it runs.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from typing import Final

from stella.wire.event import Dropped
from stella.wire.event import Event
from stella.wire.event import read_event
from tests.making.ends import Place
from tests.making.ends import asks
from tests.making.plugins import written

MANIFEST: Final = """\
name = "{name}"

[loop]
participation = "observer"
events = {events}

[runtime]
argv = ["python3", "-I", "-S", "${{plugin_dir}}/main.py"]
timeout_secs = 1
env = ["PATH", "HOME"]
"""

BEGIN: Final = """\
import os, pathlib, select, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
name = pathlib.Path(__file__).parent.name
home = pathlib.Path(os.environ["HOME"])
log = open(home / (name + ".log"), "ab", buffering=0)
select.select([0], [], [])
(home / (name + ".ready")).touch()
def until(path):
    while not path.exists():
        time.sleep(0.005)
"""
"""How every program begins; what follows may use `home`, `log` and `until`."""

COPY: Final = "for line in sys.stdin.buffer:\n    log.write(line)\n"
"""Writes down every line until the stream ends."""


def observer(folder: Path, *events: str, name: str = "watch", then: str = COPY) -> Path:
    """Write an observer whose program begins with `BEGIN` and goes on with `then`."""
    manifest = MANIFEST.format(name=name, events=json.dumps(list(events)))
    return written(folder / name, manifest, BEGIN + then)


def waits(*names: str, also: str = "true") -> dict[str, Any]:
    """A reply that goes on when these observers are ready, and `also` has been done."""
    ready = (f'until [ -e "$HOME/{name}.ready" ]; do sleep 0.01; done' for name in names)
    return asks("bash", command="; ".join((*ready, also)))


def waits_for_record(kind: str) -> dict[str, Any]:
    """A reply that goes on when the journal holds a notice of this code."""
    journal = ".stella/private/sessions/*/journal.jsonl"
    script = f'until grep -q \'"code":"{kind}"\' {journal}; do sleep 0.01; done'
    return asks("bash", command=script)


def heard(where: Place, name: str = "watch") -> list[Event | Dropped]:
    """The whole lines that an observer wrote down."""
    data = (where.person / f"{name}.log").read_bytes()
    return [read_event(line) for line in data[: data.rfind(b"\n") + 1].splitlines()]


def events(where: Place, name: str = "watch") -> list[Event]:
    """The events that an observer wrote down; nothing may have been dropped."""
    found = heard(where, name)
    assert not [line for line in found if isinstance(line, Dropped)]
    return [line for line in found if isinstance(line, Event)]


def names(where: Place, name: str = "watch") -> list[str]:
    return [event.name for event in events(where, name)]


def lost(where: Place, name: str) -> list[int]:
    """The numbers in the `dropped` notices about a plugin, in their order."""
    texts: list[str] = [each["text"] for each in where.told("notice") if each["code"] == "dropped"]
    return [int(text.split()[-2]) for text in texts if text.startswith(f"{name} ")]


def notices(where: Place, keep: Callable[[str], bool]) -> list[str]:
    """The texts of the notices whose code is kept."""
    return [each["text"] for each in where.told("notice") if keep(each["code"])]
