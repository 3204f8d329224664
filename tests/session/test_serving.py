"""Host calls over a real conversation with a real process [T-18, T-19, D-48]."""

import json
from pathlib import Path

import pytest

from stella import limits
from stella.turn.facts import Noticed
from stella.turn.plugin_facts import PluginFaulted
from stella.wire.points import Refusal
from tests.making.asking import TALK
from tests.making.asking import Played
from tests.making.asking import asked
from tests.making.asking import manifest
from tests.making.plugins import written
from tests.making.repositories import repository
from tests.making.sessions import calls
from tests.making.sessions import installed
from tests.making.sessions import project
from tests.making.sessions import says

DONE = says("done")


def words(played: Played) -> list[str]:
    """Call by call: `ok`, or the word of the refusal."""
    return ["ok" if c.refusal is None else c.refusal.refusal.value for c in played.calls]


@pytest.mark.behaviour("K-33", "T-19")
def test_two_calls_in_one_write_are_answered_in_order_one_line_each(tmp_path: Path) -> None:
    """[T-19, W-33]"""
    program = """
def line(n):
    return json.dumps({"call": "emit", "id": n, "args": {"name": f"n{n}", "payload": {}}})
print(line(3) + line(1), flush=True)
got = [json.loads(sys.stdin.readline()) for _ in range(2)]
answer(context=[{"label": "got", "text": json.dumps(got)}])
"""
    played = asked(tmp_path, program, DONE)
    (message,) = played.data("message")
    assert json.loads(message["text"].partition("\n\n")[2]) == [
        {"result": 3, "ok": {"emitted": "plugin.asks.n3"}},
        {"result": 1, "ok": {"emitted": "plugin.asks.n1"}},
    ]
    assert [call.id for call in played.calls] == [3, 1]


@pytest.mark.behaviour("D-49")
def test_every_refusal_is_kept_with_its_plugin_point_and_round(tmp_path: Path) -> None:
    """[D-48, D-49, W-36, S-22]"""
    program = """
for _ in range(2):
    ask("run_test", candidate="host-tree")
for _ in range(10):
    ask("emit", name="a.*", payload={})
answer()
"""
    played = asked(tmp_path, program, DONE, declared={"calls": ("emit",)})
    assert words(played) == ["undeclared"] * 2 + ["failed"] * 8 + ["allowance-spent"] * 2
    rows = json.loads(json.dumps([_row(row) for row in played.done.result.refusals]))
    assert rows[0] == {
        "kind": "host_call",
        "plugin": "asks",
        "point": "before_turn",
        "round": 0,
        "call": "run_test",
        "refusal": "undeclared",
        "detail": 'the manifest does not list "run_test"; it lists emit',
    }
    assert len(rows) == 12
    assert played.done.result.status.value == "completed"


def _row(row: object) -> dict[str, object]:
    return {name: getattr(row, name) for name in row.__struct_fields__}  # type: ignore[attr-defined]  # a row is a struct


@pytest.mark.behaviour("K-146")
def test_an_event_of_a_plugin_is_a_record_of_its_own(tmp_path: Path) -> None:
    """[D-60, W-8]"""
    program = """
ask("emit", name="flip.seen", payload={"p": 0.5, "deep": [{"n": 1}]})
answer()
"""
    played = asked(tmp_path, program, DONE)
    (event,) = [r for r in played.told if r["type"] == "plugin.asks.flip.seen"]
    assert event["turn"] == "t1"
    assert event["data"] == {"payload": {"p": 0.5, "deep": [{"n": 1}]}}


def test_without_a_listed_call_no_channel_is_open(tmp_path: Path) -> None:
    """[D-47, W-50]"""
    program = 'ask("emit", name="x", payload={})\nanswer()\n'
    played = asked(tmp_path, program, DONE, declared={"calls": ()})
    (fault,) = [f for f in played.done.told if isinstance(f, PluginFaulted)]
    assert fault.fault == "UnannouncedCall"
    assert played.calls == []


@pytest.mark.parametrize(
    ("program", "fault", "said"),
    [
        ('print(\'{"call":"emit","id":1,"args":{"name":"x","payload":{}}}\', flush=True)',
         "UnansweredCall", 'it asked "emit" last and gave no answer'),
        ('ask("emit", name="x", payload={})\nraise SystemExit(3)', "Exit", "code 3"),
        ('ask("emit", name="x", payload={})\nprint("{", flush=True)',
         "NoResponse", "cut off"),
        ('ask("emit", name=7, payload={})', "Decode", "wrong-type: args.name"),
        ('ask("emit", name="x", payload={}, more=1)', "Decode", "unknown-key: args.more"),
        ('ask("sleep")', "Decode", "unknown-token: call"),
        ('ask("emit", name="x", payload={})\nprint("log", flush=True)\nanswer()',
         "Decode", "what follows a document"),
        ('ask("emit", name="x", payload={})\nsys.stdout.buffer.write(b"\\xef\\xbb\\xbf{}\\n")',
         "Decode", "misplaced-bom"),
        ("""
import os
os.close(0)
for n in range(9):
    print(json.dumps({"call": "emit", "id": n, "args": {"name": "x", "payload": {}}}), flush=True)
    import time; time.sleep(0.05)
""", "AnswerChannelFailed", 'it asked "emit", and its stdin is closed to the answer'),
    ],
)  # fmt: skip
@pytest.mark.behaviour("W-50")
def test_a_conversation_that_goes_wrong_is_a_fault_and_the_turn_runs(
    tmp_path: Path, program: str, fault: str, said: str
) -> None:
    """[W-50, W-51, T-14]"""
    played = asked(tmp_path, program, DONE)
    (told,) = [f for f in played.done.told if isinstance(f, PluginFaulted)]
    assert told.fault == fault
    assert said in told.message
    assert played.done.result.status.value == "completed"
    assert played.data("message") == []


def test_a_plugin_that_never_reads_its_answers_is_heard(tmp_path: Path) -> None:
    """[T-16]"""
    program = """
for n in range(3000):
    print(json.dumps({"call": "emit", "id": n, "args": {"name": "x", "payload": {}}}))
answer(context=[{"label": "", "text": "heard"}])
"""
    played = asked(tmp_path, program, DONE)
    assert [m["text"] for m in played.data("message")] == ["heard"]
    told = limits.REFUSALS_TOLD_PER_POINT
    assert words(played) == ["ok"] * 8 + ["allowance-spent"] * told
    assert [n["text"] for n in played.data("notice")] == [
        f"asks before_turn: {2992 - told} more host calls were refused"
    ]


@pytest.mark.behaviour("K-41")
def test_a_child_that_asks_for_ever_ends_at_its_one_deadline(tmp_path: Path) -> None:
    """[T-22, T-30]"""
    program = (
        'while True:\n    ask("emit", name="x", payload={})\n    import time; time.sleep(0.2)\n'
    )
    played = asked(tmp_path, program, DONE, declared={"timeout": 2})
    (told,) = [f for f in played.done.told if isinstance(f, PluginFaulted)]
    assert told.fault == "Timeout"
    assert "2 s" in told.message
    assert "ok" in words(played)


@pytest.mark.behaviour("K-42", "T-23")
def test_a_host_call_longer_than_the_deadline_ends_with_it_and_is_kept(tmp_path: Path) -> None:
    """[T-22, T-23, J2-44]"""
    slow = {"text": "too late", "delay_ms": 60_000}
    program = 'ask("child_turn", role="planner", instruction="think")\nanswer()\n'
    played = asked(tmp_path, program, slow, DONE, declared={"timeout": 2})
    (told,) = [f for f in played.done.told if isinstance(f, PluginFaulted)]
    assert told.fault == "Timeout"
    (call,) = played.calls
    assert call.refusal is not None
    assert call.refusal.refusal is Refusal.FAILED
    assert played.data("subagent_finished")[0]["status"] == "cancelled"
    assert played.done.result.status.value == "completed"


@pytest.mark.behaviour("K-47")
def test_the_next_point_starts_afresh(tmp_path: Path) -> None:
    """[D-45, T-4]"""
    program = """
if point == "before_turn":
    for _ in range(9):
        ask("emit", name="x", payload={})
    answer()
else:
    ask("emit", name="y", payload={})
    answer(evidence={"flip": "not-attempted"})
"""
    played = asked(tmp_path, program, DONE, declared={"points": ("before_turn", "after_turn")})
    assert [len(each.calls) for each in played.exchanges] == [9, 1]
    assert words(played) == ["ok"] * 8 + ["allowance-spent", "ok"]
    assert [n for n in played.done.told if isinstance(n, Noticed)] == []


def test_a_cancel_before_a_point_begins_tells_no_call_of_another(tmp_path: Path) -> None:
    """[J2-44, D-19] What a point was served is told and charged once, with that point."""
    root = project(tmp_path / "work")
    other = written(tmp_path / "two", manifest(name="two"), TALK + "answer()\n")
    installed(root, tmp_path / "home", other)
    played = asked(
        tmp_path,
        'ask("child_turn", role="planner", instruction="x")\nanswer()\n',
        says("child"),
        root=root,
        names=("asks", "two"),
        cancel="plugin_exchange",
    )
    first, second = played.exchanges
    assert (first.plugin, len(first.calls)) == ("asks", 1)
    assert (second.plugin, second.calls) == ("two", ())
    assert played.done.result.usage.model_calls == 1


def test_what_a_plugin_itself_changed_is_no_change_of_a_call(tmp_path: Path) -> None:
    """[T2-51]"""
    program = """
import pathlib
pathlib.Path(body["candidate"]["root"], "made.txt").write_text("m")
answer()
"""
    root = repository(tmp_path / "work", {"a.txt": "a\n"})
    played = asked(tmp_path, program, calls("bash", command="true"), DONE, root=root)
    assert (root / "made.txt").exists()
    assert played.data("file_change") == []
    assert played.done.result.changed_files == ()
