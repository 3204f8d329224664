import json

import pytest

from stella import codec
from stella import limits
from stella.codec import JsonFault
from stella.codec import Refused
from stella.wire.grant import TestBaseline
from stella.wire.host_result import OK
from stella.wire.host_result import AdoptOk
from stella.wire.host_result import Attempt
from stella.wire.host_result import CallOk
from stella.wire.host_result import ChildTurnOk
from stella.wire.host_result import EmitOk
from stella.wire.host_result import FanoutOk
from stella.wire.host_result import Frame
from stella.wire.host_result import HostResult
from stella.wire.host_result import RecallOk
from stella.wire.host_result import RefusedCall
from stella.wire.host_result import RunTestOk
from stella.wire.host_result import read_result
from stella.wire.host_result import write_result
from stella.wire.points import Call
from stella.wire.points import Refusal

FRAME = Frame(label="week parser", kind="memory", source="notes", content="Monday first.")
ATTEMPT = Attempt(
    candidate="c-1", root="/w/c", report="done", completed=True, files_changed=1, lines_changed=6
)
TESTED = RunTestOk(
    candidate="host-tree",
    passed=False,
    baseline=TestBaseline.FAILED,
    duration_ms=412,
    output_tail="1 failed\n",
)
LINES: dict[str, tuple[Call, CallOk | RefusedCall]] = {
    '{"result":7,"ok":{"frames":[{"label":"week parser","kind":"memory","source":"notes",'
    '"content":"Monday first."}]}}': (Call.RECALL, RecallOk(frames=(FRAME,))),
    '{"result":7,"ok":{}}': (Call.RECALL, RecallOk()),
    '{"result":7,"ok":{"role":"planner","seat":"plan","report":"1. read","completed":true}}': (
        Call.CHILD_TURN,
        ChildTurnOk(role="planner", seat="plan", report="1. read", completed=True),
    ),
    '{"result":7,"ok":{"candidate":"host-tree","passed":false,"exit_code":null,'
    '"baseline":"failed","duration_ms":412,"output_tail":"1 failed\\n"}}': (
        Call.RUN_TEST,
        TESTED,
    ),
    '{"result":7,"ok":{"requested":3,"candidates":[{"candidate":"c-1","root":"/w/c",'
    '"report":"done","completed":true,"files_changed":1,"lines_changed":6}]}}': (
        Call.CANDIDATE_FANOUT,
        FanoutOk(requested=3, candidates=(ATTEMPT,)),
    ),
    '{"result":7,"ok":{"requested":3,"candidates":[]}}': (
        Call.CANDIDATE_FANOUT,
        FanoutOk(requested=3, candidates=()),
    ),
    '{"result":7,"ok":{"adopted":"c-1","discarded":["c-2"]}}': (
        Call.ADOPT_CANDIDATE,
        AdoptOk(adopted="c-1", discarded=("c-2",)),
    ),
    '{"result":7,"ok":{"adopted":"c-1"}}': (Call.ADOPT_CANDIDATE, AdoptOk(adopted="c-1")),
    '{"result":7,"ok":{"emitted":"plugin.judge.seen"}}': (
        Call.EMIT,
        EmitOk(emitted="plugin.judge.seen"),
    ),
    '{"result":7,"err":{"refusal":"unavailable","detail":"no plan"}}': (
        Call.RUN_TEST,
        RefusedCall(refusal=Refusal.UNAVAILABLE, detail="no plan"),
    ),
}


@pytest.mark.parametrize("line", LINES)
@pytest.mark.behaviour("W-33", "W-34")
def test_a_result_is_one_line_and_reads_back(line: str) -> None:
    """[W-33]"""
    call, outcome = LINES[line]
    result = HostResult(id=7, outcome=outcome)
    assert write_result(result).decode() == line + "\n"
    assert read_result(line.encode(), call) == result


@pytest.mark.parametrize(
    "line",
    ['{"result":7}', '{"result":7,"ok":{},"err":{"refusal":"failed","detail":"no"}}'],
)
@pytest.mark.behaviour("W-33")
def test_a_result_has_exactly_one_of_ok_and_err(line: str) -> None:
    """[W-33]"""
    with pytest.raises(Refused) as refused:
        read_result(line.encode(), Call.RECALL)
    assert refused.value.reasons[0].token is JsonFault.MIXED_MESSAGE


def test_a_number_of_a_result_has_its_own_width() -> None:
    """[W-6] limits.U64_MAX, which free data could not hold [W-8]."""
    tested = codec.plain(TESTED)
    for above, refusals in ((0, []), (1, ["ok.duration_ms"])):
        tested["duration_ms"] = limits.U64_MAX + above
        line = f'{{"result":7,"ok":{json.dumps(tested)}}}'.encode()
        found = []
        try:
            read_result(line, Call.RUN_TEST)
        except Refused as refused:
            found = [fault.at for fault in refused.reasons]
        assert found == refusals


def test_what_is_no_result_is_refused_in_its_place() -> None:
    """[W-9, W-33]"""
    with pytest.raises(Refused) as refused:
        read_result(b'{"result":7,"ok":[]}', Call.RECALL)
    assert refused.value.reasons[0].at == "ok"


def test_every_call_has_the_shape_of_its_result() -> None:
    """[W-33]"""
    assert set(OK) == set(Call)
