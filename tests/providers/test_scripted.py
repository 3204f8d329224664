import asyncio
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stella import codec
from stella import limits
from stella.errors import UsageError
from stella.message import FinishReason
from stella.message import ModelFault
from stella.message import NoReply
from stella.message import Reply
from stella.message import ToolCall
from stella.message import Usage
from stella.providers.provider import ModelRequest
from stella.providers.scripted import Script
from stella.providers.scripted import ScriptedModel
from stella.providers.scripted import read_script
from tests.making.clocks import HandClock

EXAMPLE = b"""{"tool_calls":[{"name":"read_file","input":{"path":"calc.py"}}]}
{"error":{"kind":"rate_limited","retry_after_ms":10}}
{"text":"Done.","usage":{"input_tokens":900,"output_tokens":12},"delay_ms":5}
"""


def scripted(tmp_path: Path, text: bytes) -> Script:
    path = tmp_path / "s.jsonl"
    path.write_bytes(text)
    return read_script(path)


def answers(script: Script, count: int, clock: HandClock | None = None) -> list[Reply | NoReply]:
    model = ScriptedModel(script, clock or HandClock())

    async def ask() -> list[Reply | NoReply]:
        return [await model.reply(ModelRequest(messages=(), role="worker")) for _ in range(count)]

    return asyncio.run(ask())


def faults(tmp_path: Path, text: bytes) -> list[str]:
    with pytest.raises(UsageError) as caught:
        scripted(tmp_path, text)
    assert (caught.value.exit_code, caught.value.code) == (2, "usage")
    return [
        line.removeprefix(f"script {tmp_path / 's.jsonl'}, ")
        for line in caught.value.message.split("\n")
    ]


def test_replies_come_in_order(tmp_path: Path) -> None:
    """[M2-20, M2-21] the example of the rule."""
    clock = HandClock()
    script = scripted(tmp_path, EXAMPLE)
    name = f"script:{tmp_path / 's.jsonl'}"
    assert ScriptedModel(script, clock).name == name
    first, second, third = answers(script, 3, clock)
    assert first == Reply(
        text="",
        tool_calls=(ToolCall(name="read_file", input={"path": "calc.py"}),),
        usage=Usage(reported=True, input_tokens=0, output_tokens=0),
        model=name,
        cost_usd=0.0,
        finish_reason=FinishReason.TOOL_CALLS,
    )
    assert second == NoReply(
        kind=ModelFault.RATE_LIMITED, message="scripted rate_limited", retry_after_ms=10
    )
    assert third == Reply(
        text="Done.",
        tool_calls=(),
        usage=Usage(reported=True, input_tokens=900, output_tokens=12),
        model=name,
        cost_usd=0.0,
        finish_reason=FinishReason.STOP,
    )
    assert clock.slept == [5]


@pytest.mark.parametrize(
    ("text", "held"),
    [(b"", "0 replies"), (b"\n {}\n\n", "1 reply"), (b"{}\r\n{}\n\t\n{}", "3 replies")],
)
def test_running_out_says_how_many_replies_there_were(
    tmp_path: Path, text: bytes, held: str
) -> None:
    """[M2-21] blank lines are no replies."""
    script = scripted(tmp_path, text)
    count = len(script.steps)
    *_, last, after = answers(script, count + 2)
    path = tmp_path / "s.jsonl"
    assert last == NoReply(
        kind=ModelFault.SCRIPT_EXHAUSTED,
        message=f"script {path} holds {held}; request {count + 1} has none",
    )
    assert isinstance(after, NoReply)
    assert after.message.endswith(f"request {count + 2} has none")


def test_everything_a_reply_can_say_is_kept(tmp_path: Path) -> None:
    """[M2-20] bad arguments stay as the text they are."""
    line = {
        "text": "é",
        "tool_calls": [{"name": "a", "input": "{not json"}, {"name": "b", "input": {}}],
        "usage": {
            "input_tokens": 5,
            "output_tokens": 4,
            "cached_input_tokens": 3,
            "cache_write_tokens": 2,
            "reasoning_tokens": 1,
            "cost_usd": 1,
        },
        "finish_reason": "length",
    }
    (reply,) = answers(scripted(tmp_path, codec.encode(line)), 1)
    assert reply == Reply(
        text="é",
        tool_calls=(ToolCall(name="a", input="{not json"), ToolCall(name="b", input={})),
        usage=Usage(
            reported=True,
            input_tokens=5,
            output_tokens=4,
            cached_input_tokens=3,
            cache_write_tokens=2,
            reasoning_tokens=1,
        ),
        model=f"script:{tmp_path / 's.jsonl'}",
        cost_usd=1.0,
        finish_reason=FinishReason.LENGTH,
    )
    assert isinstance(reply, Reply)
    assert type(reply.cost_usd) is float


@pytest.mark.parametrize("kind", list(ModelFault))
def test_every_typed_error_can_be_scripted(tmp_path: Path, kind: ModelFault) -> None:
    """[M2-20, M2-30]"""
    error = {"kind": kind.value, "message": "m", "affordable_output_tokens": 7}
    (answer,) = answers(scripted(tmp_path, codec.encode({"error": error, "delay_ms": 1})), 1)
    assert answer == NoReply(kind=kind, message="m", affordable_output_tokens=7)


def test_an_error_message_has_its_bound(tmp_path: Path) -> None:
    """[M2-30] limits.MODEL_ERROR_CHARS, at the limit and one past it."""
    for size in (limits.MODEL_ERROR_CHARS, limits.MODEL_ERROR_CHARS + 1):
        line = codec.encode({"error": {"kind": "auth", "message": "x" * size}})
        (answer,) = answers(scripted(tmp_path, line), 1)
        assert isinstance(answer, NoReply)
        assert answer.message == "x" * limits.MODEL_ERROR_CHARS


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ({"texts": "a"}, 'texts: unknown key "texts"; did you mean text?'),
        ({"tool_calls": [{"name": "a"}]}, 'tool_calls[0].input: the required key "input"'),
        ({"tool_calls": [{"name": "a", "input": 1}]}, "tool_calls[0].input: expected a table or"),
        ({"tool_calls": {}}, "tool_calls: expected a list, got a table"),
        ({"usage": {"input": 1}}, 'usage.input: unknown key "input"'),
        ({"usage": {"reported": True}}, 'usage.reported: unknown key "reported"'),
        ({"usage": {"input_tokens": -1}}, "usage.input_tokens: expected 0"),
        ({"usage": {"cost_usd": -0.5}}, "usage.cost_usd: expected 0 or more, got -0.5"),
        ({"usage": {"cost_usd": "1"}}, "usage.cost_usd: expected a number, got a string"),
        ({"usage": 1}, "usage: expected a table, got an integer"),
        ({"finish_reason": "stopp"}, 'finish_reason: "stopp" is not one of the words'),
        ({"error": {"kind": "rate-limited"}}, 'error.kind: "rate-limited" is not one of the words'),
        ({"error": {}}, 'error.kind: the required key "kind" is missing'),
        ({"error": {"kind": "auth", "status": 1}}, 'error.status: unknown key "status"'),
        ([], "expected a table, got a list"),
        ("text", "expected a table, got a string"),
    ],
)
def test_a_line_of_another_shape_is_a_fault_with_its_place(
    tmp_path: Path, line: object, fault: str
) -> None:
    """[M2-21]"""
    (found,) = faults(tmp_path, b"{}\n\n" + codec.encode(line))
    assert found.startswith(f"line 3: {fault}")


@pytest.mark.parametrize("key", ["text", "tool_calls", "finish_reason"])
def test_an_error_is_no_reply_as_well(tmp_path: Path, key: str) -> None:
    """[M2-20] even a reply that says nothing; null is the same as absent."""
    empty = {"text": "", "tool_calls": [], "finish_reason": "stop"}[key]
    line = {"error": {"kind": "auth"}, key: empty}
    assert faults(tmp_path, codec.encode(line)) == [
        f'line 1: {key}: a line with "error" is no reply; leave "{key}" out'
    ]
    assert scripted(tmp_path, codec.encode({**line, key: None})).steps


def test_every_fault_of_every_line_is_told(tmp_path: Path) -> None:
    """[M2-21]"""
    lines = (
        b"\xef\xbb\xbf{}",
        b'{"a":1,"b":2,"delay_ms":"x"}',
        b"{}",
        b'{"text":"a","text":"b"}',
        b"not json",
        b"\xff",
    )
    told = faults(tmp_path, b"\n".join(lines))
    assert [line.partition(":")[0] for line in told] == [
        "line 1",
        "line 2",
        "line 2",
        "line 2",
        "line 4",
        "line 5",
        "line 6",
    ]


def test_a_delay_has_its_bounds(tmp_path: Path) -> None:
    """[M2-20] limits.SCRIPT_DELAY_MS, at the limit and one past it, and below none."""
    clock = HandClock()
    most = limits.SCRIPT_DELAY_MS
    answers(scripted(tmp_path, b'{"delay_ms":0}\n{"delay_ms":%d}' % most), 2, clock)
    assert clock.slept == [most]
    for delay in (-1, most + 1):
        (fault,) = faults(tmp_path, b'{"delay_ms":%d}' % delay)
        assert fault == f"line 1: delay_ms: expected 0 to {most}, got {delay}"


def test_calls_at_once_are_answered_in_the_order_they_were_made(tmp_path: Path) -> None:
    """[M2-21] whatever their delays are."""
    lines = (b'{"text":"a","delay_ms":9}', b'{"text":"b"}', b'{"text":"c","delay_ms":1}')
    script = scripted(tmp_path, b"\n".join(lines))
    model = ScriptedModel(script, HandClock())
    request = ModelRequest(messages=(), role="subagent")

    async def ask() -> list[Reply | NoReply]:
        return await asyncio.gather(*(model.reply(request) for _ in range(3)))

    texts = [answer.text for answer in asyncio.run(ask()) if isinstance(answer, Reply)]
    assert texts == ["a", "b", "c"]


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^script .*none: No such file or directory$"):
        read_script(tmp_path / "none")
    with pytest.raises(UsageError, match="Is a directory"):
        read_script(tmp_path)


def test_a_pipe_that_nobody_writes_to_is_refused_without_waiting(tmp_path: Path) -> None:
    """[M2-21, S-23]"""
    place = tmp_path / "script"
    os.mkfifo(place)
    with pytest.raises(UsageError, match=r"^script .*/script: expected a regular file, got some"):
        read_script(place)


def test_a_path_forges_no_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        read_script(tmp_path / "a\nb\x1b")
    assert caught.value.message.isprintable()
    (tmp_path / "a\nb").write_bytes(b"")
    (answer,) = answers(read_script(tmp_path / "a\nb"), 1)
    assert isinstance(answer, NoReply)
    assert answer.message.isprintable()


def test_a_script_has_its_bound(tmp_path: Path) -> None:
    """limits.SCRIPT_BYTES, at the limit and one past it."""
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"{}\n".ljust(limits.SCRIPT_BYTES))
    assert len(read_script(path).steps) == 1
    with path.open("ab") as file:
        file.write(b" ")
    with pytest.raises(UsageError, match=f"expected at most {limits.SCRIPT_BYTES} bytes, got more"):
        read_script(path)


def test_a_reply_has_its_number_of_calls(tmp_path: Path) -> None:
    """[M2-43] limits.REPLY_CALLS, at the limit and one past it."""
    most = limits.REPLY_CALLS
    call = {"name": "a", "input": {}}
    lines = (
        codec.encode({"tool_calls": [call] * count, "delay_ms": 3}) for count in (most, most + 1)
    )
    clock = HandClock()
    fits, past = answers(scripted(tmp_path, b"\n".join(lines)), 2, clock)
    assert isinstance(fits, Reply)
    assert len(fits.tool_calls) == most
    assert past == NoReply(
        kind=ModelFault.MALFORMED,
        message=f"expected at most {most} calls in a reply, got {most + 1}",
    )
    assert clock.slept == [3, 3]


def test_a_reply_has_its_bytes(tmp_path: Path) -> None:
    """[M2-43] limits.REPLY_BYTES, at the limit and one past it; the end of the line is none."""
    most = limits.REPLY_BYTES
    room = most - len(b'{"text":""}')
    lines = (b'{"text":"%s"}\r' % (b"x" * size) for size in (room, room + 1))
    fits, past = answers(scripted(tmp_path, b"\n".join(lines)), 2)
    assert isinstance(fits, Reply)
    assert len(fits.text) == room
    assert past == NoReply(
        kind=ModelFault.MALFORMED,
        message=f"expected a reply of at most {most} bytes, got {most + 1}",
    )


@given(st.lists(st.text(st.characters(codec="utf-8")), max_size=5))
def test_every_text_comes_back_as_it_was_scripted(texts: list[str]) -> None:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        lines = b"\n".join(codec.encode({"text": text}) for text in texts)
        replies = answers(scripted(Path(folder), lines), len(texts))
    assert [reply.text for reply in replies if isinstance(reply, Reply)] == texts
