"""The message corpus: what it holds reads back, and it is what its maker says [W-56, W-57]."""

from collections.abc import Callable
from typing import Any

import pytest

from stella import codec
from stella.wire.after_turn import TurnOutcome
from stella.wire.before_turn import ContextEntry
from stella.wire.before_turn import PublishedSignal
from stella.wire.driver import DriverAsk
from stella.wire.driver import DriverEnd
from stella.wire.driver import read_drive
from stella.wire.driver import read_driver_message
from stella.wire.driver import read_driver_result
from stella.wire.driver import write_drive
from stella.wire.driver import write_driver_result
from stella.wire.envelope import PointAnswer
from stella.wire.envelope import read_message
from stella.wire.envelope import read_request
from stella.wire.envelope import write_request
from stella.wire.event import read_event
from stella.wire.event import write_event
from stella.wire.evidence import ObservedEvidence
from stella.wire.grant import CandidateGrant
from stella.wire.grant import TestPlan
from stella.wire.hook import Action
from stella.wire.hook import NoOpinion
from stella.wire.hook import read_decision
from stella.wire.host_call import HostCall
from stella.wire.host_result import read_result
from stella.wire.host_result import write_result
from stella.wire.occasion import read_payload
from stella.wire.occasion import write_payload
from stella.wire.points import HOST_STAGES
from stella.wire.points import Call
from stella.wire.points import DriverVerb
from stella.wire.points import Hook
from stella.wire.points import Refusal
from tests.making import corpus

CORPUS = codec.parse(corpus.PLACE.read_bytes())
assert isinstance(CORPUS, dict)
SECTIONS = (
    "requests",
    "responses",
    "parts",
    "host_calls",
    "host_results",
    "hooks",
    "events",
    "driver_session",
    "driver_calls",
    "driver_results",
)
ENTRIES = [(name, entry["case"], entry["message"]) for name in SECTIONS for entry in CORPUS[name]]
PARTS: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        TestPlan,
        CandidateGrant,
        TurnOutcome,
        PublishedSignal,
        ContextEntry,
        ObservedEvidence,
    )
}


def request(case: str, data: bytes) -> object:
    return codec.parse(write_request(read_request(data)))


def response(case: str, data: bytes) -> object:
    told = read_message(data)
    assert isinstance(told, PointAnswer)
    assert corpus.answer(told.body)["point"] == told.point.value
    return corpus.answer(told.body)


def part(case: str, data: bytes) -> object:
    return codec.plain(codec.read(PARTS[case.split(maxsplit=1)[0]], data))


def host_call(case: str, data: bytes) -> object:
    called = read_message(data)
    assert isinstance(called, HostCall)
    return codec.plain(called)


def host_result(case: str, data: bytes) -> object:
    kind = case.split(maxsplit=1)[0]
    call = Call.RECALL if kind == "refused" else Call(kind)
    return codec.parse(write_result(read_result(data, call)))


def session(case: str, data: bytes) -> object:
    if case == "opening":
        return codec.parse(write_drive(read_drive(data)))
    end = read_driver_message(data)
    assert isinstance(end, DriverEnd)
    return {"point": "drive", "body": codec.plain(end)}


def driver_call(case: str, data: bytes) -> object:
    asked = read_driver_message(data)
    assert isinstance(asked, DriverAsk)
    return codec.plain(asked)


def driver_result(case: str, data: bytes) -> object:
    return codec.parse(write_driver_result(read_driver_result(data)))


def hook(case: str, data: bytes) -> object:
    """A payload, named as its hook, or a decision, `decision <hook> …`."""
    kind, *more = case.split()
    if kind == "decision":
        decision = read_decision(Hook(more[0]), data)
        assert not isinstance(decision, NoOpinion)
        return codec.plain(decision)
    scene, occasion = read_payload(data)
    assert occasion.event is Hook(kind)
    return codec.parse(write_payload(scene, occasion))


def event(case: str, data: bytes) -> object:
    return codec.parse(write_event(read_event(data)))


READERS: dict[str, Callable[[str, bytes], object]] = {
    "requests": request,
    "responses": response,
    "parts": part,
    "host_calls": host_call,
    "host_results": host_result,
    "hooks": hook,
    "events": event,
    "driver_session": session,
    "driver_calls": driver_call,
    "driver_results": driver_result,
}


@pytest.mark.behaviour("W-56")
def test_the_corpus_has_its_sections_and_every_word() -> None:
    assert isinstance(CORPUS, dict)
    assert set(CORPUS) == {"protocol_version", "vocabulary", *SECTIONS}
    assert CORPUS["protocol_version"] == 1
    words = CORPUS["vocabulary"]
    assert words["stage"] == [*HOST_STAGES, "triage-lite"]
    assert words["hook"] == [each.value for each in Hook]
    assert words["action"] == [action.value for action in Action]
    for section in SECTIONS:
        assert CORPUS[section], section
        assert all(set(entry) == {"case", "message"} for entry in CORPUS[section])
        cases = [entry["case"] for entry in CORPUS[section]]
        assert len(cases) == len(set(cases))


def test_the_corpus_has_every_call_verb_hook_decision_and_refusal() -> None:
    assert isinstance(CORPUS, dict)

    def values(section: str, *path: str) -> set[Any]:
        found = set()
        for entry in CORPUS[section]:
            spot = entry["message"]
            for step in path:
                spot = spot.get(step, {})
            found.add(spot if isinstance(spot, str) else None)
        return found

    assert values("host_calls", "call") == {call.value for call in Call}
    assert values("driver_calls", "call") == {verb.value for verb in DriverVerb}
    refusals = {refusal.value for refusal in Refusal}
    assert values("host_results", "err", "refusal") == refusals | {None}
    assert values("driver_results", "err", "refusal") == refusals | {None}
    assert values("hooks", "event") == {each.value for each in Hook} | {None}
    assert values("hooks", "action") == {action.value for action in Action} | {None}
    assert set(PARTS) == {entry["case"].split()[0] for entry in CORPUS["parts"]}


@pytest.mark.parametrize(
    ("section", "case", "message"), ENTRIES, ids=[f"{name}-{case}" for name, case, _ in ENTRIES]
)
@pytest.mark.behaviour("W-57")
def test_a_message_of_the_corpus_reads_back(section: str, case: str, message: object) -> None:
    again = READERS[section](case, codec.canonical(message))
    assert again == message
    # Equal as JSON: 1 is neither 1.0 nor true there, and in Python it is.
    assert codec.canonical(again) == codec.canonical(message)


def test_the_file_is_what_its_maker_says() -> None:
    """[W-57] `python -m tests.making.regenerate` writes it anew."""
    assert corpus.PLACE.read_bytes() == corpus.text()


def test_keys_inside_messages_are_sorted() -> None:
    """[W-56]"""

    def held(tree: object) -> bool:
        if isinstance(tree, dict):
            return list(tree) == sorted(tree) and all(map(held, tree.values()))
        return all(map(held, tree)) if isinstance(tree, list) else True

    assert all(held(message) for _, _, message in ENTRIES)


@pytest.mark.behaviour("W-14")
def test_the_first_line_of_a_process_has_one_key_that_only_its_kind_has() -> None:
    """Requests, hooks, events and the opening of a driver: nothing else comes first."""
    telling = ("point", "event", "sequence", "dropped")
    kinds = {"requests": "point", "hooks": "event", "driver_session": "point"}
    for section, case, message in ENTRIES:
        if section == "events":
            assert [key for key in telling if key in message] in (["sequence"], ["dropped"])
        elif section in kinds and not case.startswith("decision"):
            assert [key for key in telling if key in message] == [kinds[section]]
