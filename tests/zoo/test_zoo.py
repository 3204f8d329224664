"""Hostile plugins under the real command: each gives its fault, and the turn's work stands.

Every animal is a program of a few lines in `animals/`, installed as an arbiter that is asked
after the turn. Whatever it does decides nothing, leaves nothing behind and breaks no journal.
"""

import json
import re
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path
from typing import Final

import pytest

from tests.making.ends import TEST
from tests.making.ends import WORK
from tests.making.ends import Json
from tests.making.ends import Place
from tests.making.ends import place
from tests.making.ends import says
from tests.making.ends import works
from tests.making.plugins import STATED
from tests.making.plugins import arbiter

ANIMALS: Final = Path(__file__).parent / "animals"
NAME: Final = "judge"
KEYS: Final = {
    "ANTHROPIC_API_KEY": "sk-ant-0123456789abcdef0123",
    "AWS_ACCESS_KEY_ID": "AKIA0123456789ABCDEF",
    "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI0K7MDENG0bPxRfiCYEXAMPLEKEY",
    "AWS_SESSION_TOKEN": "FwoGZXIvYXdzEBYaD0123456789",
}
OF_THE_INTERPRETER: Final = {"LC_CTYPE", "__CF_USER_TEXT_ENCODING"}
"""Variables that Python, or the C library under it, sets in itself."""
LARGE: Final = 300_000
"""Characters of an answer whose request no pipe of the system holds."""

UNOBSERVED: Final[Json] = {"undecided": {"reason": "flip_unobservable"}}
MET: Final[Json] = {"met": {"evidence": "plugin-reported"}}
TAMPERED: Final[Json] = {
    "unmet": {
        "unmet": [
            {
                "requirement": key,
                "statement": statement,
                "because": {"tampered": {"artifact": "check.py"}},
            }
            for key, statement in STATED.items()
        ]
    }
}
CODES: Final = {"met": 0, "unmet": 4, "undecided": 5}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fate:
    """What becomes of one animal.

    `fault` and `words` are its fault in `round`, None when its answer was used. `left` counts
    the processes it left behind. `secs` is its deadline, `text` what the model says.
    """

    fault: str | None
    words: str = ""
    round: int = 0
    verdict: Json = field(default_factory=lambda: UNOBSERVED)
    left: int = 0
    secs: int = 20
    text: str = "Done."


FATES: Final = {
    "accomplice": Fate(fault=None, verdict=TAMPERED),
    "crash": Fate(fault="Exit", words="code 1; stderr: Traceback.*no answer today"),
    "daemon_answering": Fate(fault=None, verdict=MET, left=1),
    "daemon_silent": Fate(fault="NoResponse", words="exit 0 without an answer", left=1),
    "echoer": Fate(fault="Decode", words="unknown-key: body.wrapper"),
    "env_thief": Fate(fault="Exit", words="code 1; stderr: variable PATH"),
    "exits_three": Fate(fault="Exit", words="code 3, after a valid answer, which is not used"),
    "flood_stderr": Fate(fault="OutputCap", words="stderr"),
    "flood_stdout": Fate(fault="OutputCap", words="stdout"),
    "forker": Fate(fault="NoResponse", words="exit 0 without an answer", left=50),
    "garbage": Fate(fault="Decode", words="not-utf8: byte 10"),
    "hang": Fate(fault="Timeout", words="1 s", secs=1),
    "killed": Fate(fault="Exit", words="signal 9"),
    "late_writer": Fate(fault="Timeout", words="1 s", secs=1),
    "liar": Fate(fault="Decode", words="unknown-key: body.verdict"),
    "murderer": Fate(fault="Transport", words="guard"),
    "reader_never": Fate(fault=None, text="x" * LARGE),
    "self_updater": Fate(fault="NotAccepted", words="changed main.py", round=1),
    "shouter": Fate(fault="Decode", words="got: INFO: judge 1.0 starts"),
    "stopped": Fate(fault="Timeout", words="1 s", secs=1),
    "stubborn": Fate(fault="Timeout", words="1 s", secs=1),
    "two_answers": Fate(fault=None),
}


def met(where: Place) -> tuple[Json, str]:
    """Run with the plugin; return the result and what standard error says.

    What holds for all of them is looked at here: one object whose exit code is that of the
    process, nobody left, the turn's own work, a whole journal.
    """
    process = where.started(
        *("run", "go", *where.asked, "--pipeline", NAME, "--test-command", TEST), env=KEYS
    )
    with process:
        out, err = process.communicate(timeout=60)
    assert where.left(process.pid) == []
    result: Json = json.loads(out)
    (status,) = result["verdict"]
    assert result["status"] == status
    assert process.returncode == result["exit_code"] == CODES[status]
    assert (where.root / "answer.txt").read_bytes() == WORK.encode()
    where.verified()
    return result, err.decode()


def test_the_zoo_and_the_table_hold_the_same_animals() -> None:
    assert {path.stem for path in ANIMALS.glob("*.py")} == set(FATES)


@pytest.mark.behaviour("K-32", "K-35", "K-36", "K-38", "K-43", "K-148", "K-160", "Q-27")
@pytest.mark.behaviour("B1", "B2", "B4", "B10", "C5", "E103", "E104", "E107", "E112", "E113")
@pytest.mark.behaviour("E115", "E116")
@pytest.mark.parametrize("animal", FATES)
def test_an_animal_gives_its_fault_and_the_work_stands(tmp_path: Path, animal: str) -> None:
    """[W-50, W-52, W-54, T-22 to T-30, D-77]"""
    fate = FATES[animal]
    where = place(tmp_path)
    program = (ANIMALS / f"{animal}.py").read_text("utf-8")
    where.install(arbiter(tmp_path / animal, program, name=NAME, timeout=fate.secs))
    where.scripted(works(), says(fate.text), says())
    result, err = met(where)
    assert result["verdict"] == fate.verdict
    used = where.told("verdict")[-1]["evidence"]["provenance"] == "plugin-reported"
    assert used == (fate.fault is None)
    ended = f"{NAME} left {fate.left} of its processes behind at after_turn; they were ended"
    assert [n["text"] for n in where.told("notice")] == [ended] * bool(fate.left)
    faults = [(f["fault"], f["plugin"], f["point"], f["round"]) for f in result["faults"]]
    assert faults == [(fate.fault, NAME, "after_turn", fate.round)] * (fate.fault is not None)
    for fault in result["faults"]:
        assert re.search(fate.words, fault["message"]), fault["message"]
        assert f"fault  {fate.fault}: {NAME} after_turn: " in err


@pytest.mark.behaviour("G-3", "T-10", "T-11")
@pytest.mark.behaviour("K-44")
def test_a_thief_finds_no_key_even_where_its_manifest_lists_them(tmp_path: Path) -> None:
    """[T-10, T-11]"""
    where = place(tmp_path)
    program = (ANIMALS / "env_thief.py").read_text("utf-8")
    folder = arbiter(tmp_path / "thief", program, name=NAME)
    listed = ", ".join(f'"{name}"' for name in ("PATH", "NOT_SET", *KEYS))
    changed(folder, 'env = ["PATH"]', f"env = [{listed}]")
    where.install(folder)
    where.scripted(works(), says())
    result, err = met(where)
    (fault,) = result["faults"]
    names = set(re.findall(r"variable (\S+)", fault["message"]))
    assert {"PATH"} <= names <= {"PATH", *OF_THE_INTERPRETER}
    journal = where.journals()[0].read_text("utf-8")
    for name, value in KEYS.items():
        assert f"lists {name}, a credential; it is withheld" in err
        assert value not in err
        assert value not in journal


def test_a_program_that_is_not_there_is_a_failed_start(tmp_path: Path) -> None:
    """[T-8]"""
    where = place(tmp_path)
    folder = arbiter(tmp_path / "ghost", "", name=NAME)
    changed(folder, '"python3"', '"no-such-interpreter"')
    where.install(folder)
    where.scripted(works(), says())
    result, _ = met(where)
    (fault,) = result["faults"]
    assert (fault["fault"], result["status"]) == ("Spawn", "undecided")
    assert "no-such-interpreter" in fault["message"]


def changed(folder: Path, old: str, new: str) -> None:
    """Change one place of a plugin's manifest."""
    path = folder / "plugin.toml"
    text = path.read_text("utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), "utf-8")
