"""The one way to run a tool: known, well formed, permitted, once, under a ceiling."""

import asyncio
import inspect
from collections.abc import Awaitable
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from stella import limits
from stella.authority.gate import Mode
from stella.authority.gate import Permit
from stella.authority.gate import judge
from stella.authority.risk import Risk
from stella.message import Asked
from stella.message import ErrorClass
from stella.message import Failure
from stella.message import Output
from stella.message import failed
from stella.message import succeeded
from stella.tools.all import TOOLS
from stella.tools.tool import Tool
from stella.tools.tool import ToolContext
from stella.tools.tool import contract
from stella.tools.toolbox import Prepared
from stella.tools.toolbox import Toolbox
from tests.making.hands import Hands
from tests.making.hands import hands
from tests.making.hands import permit_for


class Nothing(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """No input."""

    path: str = ""


def tool(
    run: Callable[[], Awaitable[Output]], name: str = "probe", risk: Risk = Risk.LOW
) -> Tool[Nothing]:
    """A tool that does what it is told."""

    async def ran(_: Nothing, __: ToolContext) -> Output:
        return await run()

    return Tool(
        contract=contract(name, "Probe.", Nothing, risk, read_only=risk is Risk.LOW),
        shape=Nothing,
        result_bytes=1000,
        paths=lambda given: (given.path,),
        risk=lambda _given, _context: risk,
        run=ran,
    )


async def fine() -> Output:
    return succeeded("fine")


def ready(own: Hands, name: str = "probe", **arguments: Any) -> Prepared:
    prepared = own.prepare(name, **arguments)
    assert isinstance(prepared, Prepared)
    return prepared


# ── looking up ────────────────────────────────────────────────────────────────────────


def test_contracts_stand_in_the_order_of_the_list(tmp_path: Path) -> None:
    with hands(tmp_path) as own:
        assert own.toolbox.contracts == tuple(tool.contract for tool in TOOLS)


def test_two_tools_of_one_name_are_the_callers_fault(tmp_path: Path) -> None:
    """T2-5: who wins a name is decided before."""
    with hands(tmp_path) as own, pytest.raises(ValueError, match="one name"):
        Toolbox((tool(fine), tool(fine)), own.context)


def refusal(own: Hands, name: str, arguments: dict[str, Any] | str) -> Failure:
    output = own.toolbox.prepare(own.asked(name, arguments))
    assert isinstance(output, Output)
    assert output.error is not None
    return output.error


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"path": ', "EOF while parsing a value at line 1 column 9"),
        ("", "EOF"),
        ("{'path': 1}", "line 1 column 2"),
        ('{"path": "a", "path": "b"}', "duplicate key"),
        ("[" * 100, "nested"),
        ("\ud800", "not UTF-8"),
    ],
)
def test_arguments_that_are_not_json_are_refused_with_the_parsers_words(
    tmp_path: Path, text: str, words: str
) -> None:
    """E-23 item 1: message and position; before the name is looked at."""
    with hands(tmp_path) as own:
        for name in ("read_file", "nowhere"):
            error = refusal(own, name, text)
            assert error.kind is ErrorClass.INVALID_INPUT
            assert words in error.message


@pytest.mark.parametrize("text", ["[]", '"x"', "1", "null", "true"])
def test_arguments_that_are_no_object_are_refused(tmp_path: Path, text: str) -> None:
    """E-23 item 1."""
    with hands(tmp_path) as own:
        error = refusal(own, "nowhere", text)
    assert error == Failure(
        message="the arguments are not a JSON object", kind=ErrorClass.INVALID_INPUT
    )


def test_arguments_as_text_that_parse_are_taken(tmp_path: Path) -> None:
    with hands(tmp_path) as own:
        prepared = own.toolbox.prepare(own.asked("read_file", '{"path": "a"}'))
    assert isinstance(prepared, Prepared)
    assert prepared.paths == ("a",)


def test_an_unknown_tool_is_not_found_with_near_names(tmp_path: Path) -> None:
    """E-23 item 2, M-8."""
    with hands(tmp_path) as own:
        error = refusal(own, "raed_file", {"anything": 1})
        assert error.kind is ErrorClass.NOT_FOUND
        assert error.message == 'no tool is named "raed_file"; did you mean read_file?'
        assert "legal here: read_file, write_file" in refusal(own, "delegate", {}).message
        strange = refusal(own, "\x1b[2J" + "x" * 500, {}).message
        assert strange.startswith('no tool is named "\\u{1B}[2Jxxx')
        assert len(strange) < 500
    with hands(tmp_path, tools=()) as own:
        assert refusal(own, "bash", {}).message == 'no tool is named "bash"'


def test_a_switched_off_tool_answers_like_an_unknown_one(tmp_path: Path) -> None:
    """T2-6: what is not in the box is not known."""
    without = tuple(tool for tool in TOOLS if tool.contract.name != "bash")
    with hands(tmp_path, tools=without) as own:
        assert refusal(own, "bash", {"command": "true"}).kind is ErrorClass.NOT_FOUND


def test_all_faults_of_the_arguments_are_told(tmp_path: Path) -> None:
    """E-23 item 3, E-25."""
    arguments = {"files": [{"path": 1}, {"offset": 0}], "lmit": 3, "offset": "x"}
    with hands(tmp_path) as own:
        error = refusal(own, "read_file", arguments)
    assert error.kind is ErrorClass.INVALID_INPUT
    first, *lines = error.message.splitlines()
    assert first == "the arguments do not fit:"
    assert [line.partition(":")[0] for line in lines] == [
        "files[0].path",
        "files[1].offset",
        "files[1].path",
        "lmit",
        "offset",
    ]


def test_a_fault_that_quotes_much_is_cut(tmp_path: Path) -> None:
    with hands(tmp_path) as own:
        error = refusal(own, "bash", {"command": "x", "y" * 100_000: 1})
    assert len(error.message) < 2 * limits.EXCERPT_CHARS


# ── permits ───────────────────────────────────────────────────────────────────────────


def test_a_permitted_call_runs(tmp_path: Path) -> None:
    with hands(tmp_path, tools=(tool(fine),)) as own:
        prepared = ready(own, path="x")
        assert (prepared.contract.name, prepared.paths, prepared.risk) == (
            "probe",
            ("x",),
            Risk.LOW,
        )
        assert asyncio.run(own.toolbox.run(prepared, permit_for(prepared))) == succeeded("fine")


class Counter:
    """Counts how often it ran."""

    def __init__(self) -> None:
        self.ran = 0

    async def __call__(self) -> Output:
        self.ran += 1
        return succeeded("ran")


class Forged(Permit):
    """A permit that nobody gave."""

    def __init__(self, call_id: str, name: str, risk: Risk) -> None:
        self.call_id, self.tool, self.risk = call_id, name, risk


@pytest.mark.parametrize("permit", [None, True, object(), "permit"])
def test_without_a_permit_nothing_runs(tmp_path: Path, permit: Any) -> None:
    """A-34, A-36, law 5."""
    counter = Counter()
    with hands(tmp_path, tools=(tool(counter),)) as own:
        prepared = ready(own)
        with pytest.raises(TypeError):
            asyncio.run(own.toolbox.run(prepared, permit))
        forged = Forged(prepared.call_id, "probe", Risk.DESTRUCTIVE)
        with pytest.raises(TypeError):
            asyncio.run(own.toolbox.run(prepared, forged))
    assert counter.ran == 0


def test_a_permit_for_anything_else_runs_nothing(tmp_path: Path) -> None:
    """A-34: another call, another tool, a lower risk."""
    counter = Counter()
    boxed = (tool(counter), tool(counter, "other"), tool(counter, "high", Risk.HIGH))
    with hands(tmp_path, tools=boxed) as own:
        first, second = ready(own), ready(own)
        other = own.toolbox.prepare(Asked(call_id=first.call_id, name="other", input={}))
        high = ready(own, "high")
        assert isinstance(other, Prepared)
        low = judge(
            call_id=high.call_id,
            contract=contract("high", "", Nothing, Risk.LOW, read_only=True),
            risk=Risk.LOW,
            mode=Mode.ALL,
        )
        assert isinstance(low, Permit)
        for prepared, permit in (
            (first, permit_for(second)),
            (first, permit_for(other)),
            (high, low),
        ):
            with pytest.raises(ValueError, match="the permit is for"):
                asyncio.run(own.toolbox.run(prepared, permit))
    assert counter.ran == 0


def test_a_permit_is_good_for_one_run(tmp_path: Path) -> None:
    """A-34, E-26: neither the same call again nor another one of its id."""
    counter = Counter()
    with hands(tmp_path, tools=(tool(counter),)) as own:
        prepared = ready(own)
        permit = permit_for(prepared)
        asyncio.run(own.toolbox.run(prepared, permit))
        again = own.toolbox.prepare(Asked(call_id=prepared.call_id, name="probe", input={}))
        assert isinstance(again, Prepared)
        for call in (prepared, again):
            with pytest.raises(ValueError, match="has run already"):
                asyncio.run(own.toolbox.run(call, permit))
    assert counter.ran == 1


def test_a_call_of_another_toolbox_does_not_run(tmp_path: Path) -> None:
    """A-34: a child's call is not the parent's."""
    counter = Counter()
    boxed = (tool(counter),)
    with hands(tmp_path, tools=boxed) as parent, hands(tmp_path, tools=boxed) as child:
        prepared = ready(child)
        with pytest.raises(ValueError, match="another toolbox"):
            asyncio.run(parent.toolbox.run(prepared, permit_for(prepared)))
    assert counter.ran == 0


def test_a_changed_input_is_prepared_anew_and_that_one_runs(tmp_path: Path) -> None:
    """E8: a hook may rewrite the arguments before anything runs."""
    (tmp_path / "a").write_text("a\n")
    (tmp_path / "b").write_text("b\n")
    with hands(tmp_path) as own:
        first = own.toolbox.prepare(Asked(call_id="t1.c1", name="read_file", input={"path": "a"}))
        second = own.toolbox.prepare(Asked(call_id="t1.c1", name="read_file", input={"path": "b"}))
        assert isinstance(first, Prepared)
        assert isinstance(second, Prepared)
        output = asyncio.run(own.toolbox.run(second, permit_for(second)))
    assert output.text == "1\tb"


# ── what a tool does wrong ────────────────────────────────────────────────────────────


def outcome(tmp_path: Path, run: Callable[[], Awaitable[Output]], ceiling: float = 60) -> Output:
    with hands(tmp_path, tools=(tool(run),), ceiling=ceiling) as own:
        return own.do("probe")


@pytest.mark.parametrize("error", [ValueError, OSError, TimeoutError, RecursionError, KeyError])
def test_a_tool_that_raises_is_internal_and_the_detail_is_kept(
    tmp_path: Path, error: type[Exception]
) -> None:
    """T2-4: for the journal, not for the model."""

    async def raising() -> Output:
        raise error("the secret detail")

    output = outcome(tmp_path, raising)
    assert output.error is not None
    assert output.error.kind is ErrorClass.INTERNAL
    assert "secret detail" not in output.error.message
    assert output.error.data is not None
    assert "secret detail" in output.error.data["detail"]
    assert error.__name__ in output.error.data["detail"]


@pytest.mark.parametrize("shape", [None, "text", {"ok": {"content": "x"}}, 1])
def test_a_tool_that_returns_another_shape_is_internal(tmp_path: Path, shape: Any) -> None:
    """T2-4."""

    async def wrong() -> Output:
        return shape  # type: ignore[no-any-return]  # that is the point

    output = outcome(tmp_path, wrong)
    assert output.error is not None
    assert output.error.kind is ErrorClass.INTERNAL


def test_a_tool_that_returns_both_or_neither_is_internal(tmp_path: Path) -> None:
    """T2-4: such an envelope cannot even be made."""

    async def both() -> Output:
        return Output(ok=succeeded("x").ok, error=Failure(message="y", kind=ErrorClass.OTHER))

    async def neither() -> Output:
        return Output()

    for run in (both, neither):
        output = outcome(tmp_path, run)
        assert output.error is not None
        assert output.error.kind is ErrorClass.INTERNAL


def test_a_failure_a_tool_returns_is_passed_on(tmp_path: Path) -> None:
    async def failing() -> Output:
        return failed(ErrorClass.NOT_FOUND, "no", "cause", {"a": 1})

    assert outcome(tmp_path, failing) == failed(ErrorClass.NOT_FOUND, "no", "cause", {"a": 1})


def test_a_tool_that_does_not_end_is_abandoned_at_the_ceiling(tmp_path: Path) -> None:
    """E-27: it is cancelled, and its effect is unknown."""
    heard = []

    async def endless() -> Output:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            heard.append("cancelled")
            raise
        return succeeded("never")

    output = outcome(tmp_path, endless, ceiling=0.01)
    assert heard == ["cancelled"]
    assert output.error is not None
    assert output.error.kind is ErrorClass.TIMEOUT
    assert output.error.message == ("probe was abandoned after 0.01 seconds; its effect is unknown")
    assert output.error.data == {"effect": "unknown"}


def test_the_ceiling_is_fifteen_minutes() -> None:
    """E-27."""
    assert inspect.signature(Toolbox).parameters["ceiling"].default == limits.TOOL_SECS == 900


def test_a_cancel_goes_through(tmp_path: Path) -> None:
    """E-113."""

    async def endless() -> Output:
        await asyncio.Event().wait()
        return succeeded("never")

    async def cancelled(own: Hands) -> None:
        prepared = ready(own)
        running = asyncio.create_task(own.toolbox.run(prepared, permit_for(prepared)))
        await asyncio.sleep(0)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    with hands(tmp_path, tools=(tool(endless),)) as own:
        asyncio.run(cancelled(own))


def test_a_result_that_is_too_long_is_cut(tmp_path: Path) -> None:
    """T2-3."""

    async def long() -> Output:
        return succeeded("x" * 1001, {"kept": True})

    output = outcome(tmp_path, long)
    assert output.ok is not None
    assert "bytes removed here]" in output.ok.content
    assert output.ok.data == {"kept": True}


def test_calls_of_a_group_run_beside_each_other(tmp_path: Path) -> None:
    """E-21: the toolbox holds nothing while a tool runs."""
    meeting = asyncio.Barrier(2)

    async def meet() -> Output:
        await meeting.wait()
        return succeeded("met")

    async def both(own: Hands) -> list[Output]:
        calls = [ready(own), ready(own)]
        runs = [own.toolbox.run(call, permit_for(call)) for call in calls]
        return await asyncio.wait_for(asyncio.gather(*runs), 30)

    with hands(tmp_path, tools=(tool(meet),)) as own:
        assert asyncio.run(both(own)) == [succeeded("met")] * 2
