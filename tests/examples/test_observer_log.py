"""The example of an observer, as it stands in the repository."""

import subprocess
import sys
from pathlib import Path

from tests.making.ends import asks
from tests.making.ends import place
from tests.making.ends import says
from tests.making.ends import works

EXAMPLE = Path(__file__).parents[2] / "examples" / "plugins" / "observer-log"
WRITTEN = 'until grep -q tool.call.started "$OBSERVER_LOG"; do sleep 0.01; done'


def test_it_writes_down_what_happens(tmp_path: Path) -> None:
    """[D-70, D-74] From the first event to the last."""
    where = place(tmp_path)
    where.install(EXAMPLE)
    where.scripted(asks("bash", command=WRITTEN), works(), says())
    log = tmp_path / "events.txt"
    done = where.stella("run", "go", *where.asked, env={"OBSERVER_LOG": str(log)})
    assert (done.code, done.result["status"]) == (0, "completed")
    lines = [line.split(" ", 4) for line in log.read_text("utf-8").splitlines()]
    assert {line[1] for line in lines} == {done.result["session"]}
    assert {line[2] for line in lines} == {"-", "t1"}
    names = [line[3] for line in lines]
    assert (names[0], names[-1]) == ("session.created", "session.completed")
    assert names.count("tool.call.completed") == 2
    assert [line[4] for line in lines if line[3] == "file.diff.computed"] == [
        '{"path": "answer.txt", "kind": "created", "added": 2, "removed": 0}'
    ]
    assert log.stat().st_mode & 0o777 == 0o600
    assert not where.told("notice")


def test_it_names_a_loss_and_leaves_a_cut_line_out(tmp_path: Path) -> None:
    """[W-45, W-47] Without a place of its own it writes into the home directory."""
    event = (
        b'{"id":"evt_s_1","name":"a.new.name","timestamp":"T","session_id":"s","turn_id":"t1",'
        b'"agent_id":"t1.a2","sequence":1,"payload":{"key":"\xe2\x9c\x93"}}\n'
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", EXAMPLE / "main.py"],
        input=b'{"dropped":7}\n' + event + event[:40],
        env={"HOME": str(tmp_path)},
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert (done.stdout, done.stderr) == (b"", b"")
    assert (tmp_path / "observer-log.txt").read_text("utf-8").splitlines() == [
        "... 7 events were not delivered",
        'T s t1.a2 a.new.name {"key": "\\u2713"}',
    ]
