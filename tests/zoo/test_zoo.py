"""Hostile plugins under the real command: each gives its fault, and the turn's work stands.

Every animal is a program of a few lines in `animals/`, installed as an arbiter that is asked
after the turn. Whatever it does decides nothing, leaves nothing behind and breaks no journal.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from typing import Final

import pytest
from tests.making.ends import TEST
from tests.making.ends import WORK
from tests.making.ends import Place
from tests.making.ends import place
from tests.making.ends import says
from tests.making.ends import works
from tests.making.plugins import arbiter

ANIMALS: Final = Path(__file__).parent / "animals"
NAME: Final = "judge"
KEYS: Final = {
    "ANTHROPIC_API_KEY": "sk-ant-0123456789abcdef0123",
    "AWS_ACCESS_KEY_ID": "AKIA0123456789ABCDEF",
    "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI0K7MDENG0bPxRfiCYEXAMPLEKEY",
    "AWS_SESSION_TOKEN": "FwoGZXIvYXdzEBYaD0123456789",
}
LARGE: Final = 300_000
"""Characters of an answer whose request no pipe of the system holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fate:
    """What becomes of one animal: its fault and the words of it, in which round, and the run."""

    fault: str | None
    words: str = ""
    round: int = 0
    status: str = "undecided"
    code: int = 5
    provenance: str = "host-observed"
    secs: int = 20
    text: str = "Done."


def unfazed(status: str, code: int, **more: Any) -> Fate:
    """The fate of an animal whose answer is used."""
    return Fate(fault=None, provenance="plugin-reported", status=status, code=code, **more)


FATES: Final = {
    "accomplice": unfazed("unmet", 4),
    "crash": Fate(fault="Exit", words="code 1; stderr: Traceback.*no answer today"),
    "daemon_answering": unfazed("met", 0),
    "daemon_silent": Fate(fault="NoResponse", words="exit 0 without an answer"),
    "echoer": Fate(fault="Decode", words="unknown-key: body.wrapper"),
    "env_thief": Fate(fault="Exit", words="code 1; stderr: variable PATH"),
    "exits_three": Fate(fault="Exit", words="code 3, after a valid answer, which is not used"),
    "flood_stderr": Fate(fault="OutputCap", words="stderr"),
    "flood_stdout": Fate(fault="OutputCap", words="stdout"),
    "forker": Fate(fault="NoResponse", words="exit 0 without an answer"),
    "garbage": Fate(fault="Decode", words="not-utf8: byte 10"),
    "hang": Fate(fault="Timeout", words="1 s", secs=1),
    "killed": Fate(fault="Exit", words="signal 9"),
    "late_writer": Fate(fault="Timeout", words="1 s", secs=1),
    "liar": Fate(fault="Decode", words="unknown-key: body.verdict"),
    "murderer": Fate(fault="Transport", words="guard"),
    "reader_never": unfazed("undecided", 5, text="x" * LARGE),
    "self_updater": Fate(fault="NotAccepted", words="changed main.py", round=1),
    "shouter": Fate(fault="Decode", words="got: INFO: judge 1.0 starts"),
    "stubborn": Fate(fault="Timeout", words="1 s", secs=1),
    "two_answers": unfazed("undecided", 5),
}


def kept(folder: Path, animal: str) -> Place:
    """A place with the animal installed and a turn that does the work."""
    where = place(folder)
    program = (ANIMALS / f"{animal}.py").read_text("utf-8")
    fate = FATES[animal]
    where.install(arbiter(folder / animal, program, name=NAME, timeout=fate.secs))
    where.scripted(works(), says(fate.text), says(fate.text))
    return where


def met(where: Place) -> tuple[int, dict[str, Any], str]:
    """Run with the animal; return the exit code, the result and what standard error says.

    What holds for all of them is looked at here: one object, a whole journal, the work, nobody left.
    """
    process = where.started(
        *("run", "go", *where.asked, "--pipeline", NAME, "--test-command", TEST), env=KEYS
    )
    with process:
        out, err = process.communicate(timeout=60)
    result = json.loads(out)
    assert where.left(process.pid) == []
    assert process.returncode == result["exit_code"]
    assert (where.root / "answer.txt").read_bytes() == WORK.encode()
    where.verified()
    return process.returncode, result, err.decode()


def test_the_zoo_and_the_table_hold_the_same_animals() -> None:
    assert {path.stem for path in ANIMALS.glob("*.py")} == set(FATES)


@pytest.mark.behaviour(
    *("K-32", "K-35", "K-36", "K-38", "K-43", "K-148", "K-150", "K-160"),
    *("Z-fault", "Z-work", "Z-left", "Z-journal"),
)
@pytest.mark.parametrize("animal", FATES)
def test_an_animal_gives_its_fault_and_the_work_stands(tmp_path: Path, animal: str) -> None:
    """[W-50, W-52, W-54, T-22 to T-30, D-77]"""
    fate = FATES[animal]
    where = kept(tmp_path, animal)
    code, result, err = met(where)
    assert (result["status"], code) == (fate.status, fate.code)
    told = where.told("verdict")[-1]
    assert told["evidence"]["provenance"] == fate.provenance
    if fate.fault is None:
        assert result["faults"] == []
        return
    (fault,) = result["faults"]
    assert fault["fault"] == fate.fault
    assert (fault["plugin"], fault["point"], fault["round"]) == (NAME, "after_turn", fate.round)
    assert re.search(fate.words, fault["message"]), fault["message"]
    assert f"fault  {fate.fault}: {NAME} after_turn: " in err
    assert result["verdict"] == {"undecided": {"reason": "flip_unobservable"}}
