"""Evidence, clauses and whole runs, made in one line; and the vectors of the verdict room."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from typing import TypeVar

import msgspec

from stella import codec
from stella.verdict.again import Another
from stella.verdict.again import Ceiling
from stella.verdict.again import Continuation
from stella.verdict.again import Grant
from stella.verdict.again import State
from stella.verdict.again import Stopped
from stella.verdict.again import again
from stella.verdict.finding import Because
from stella.verdict.finding import Clause
from stella.verdict.finding import Failed
from stella.verdict.finding import NoFlip
from stella.verdict.finding import ObservedFlip
from stella.verdict.finding import OverBudget
from stella.verdict.finding import Reported
from stella.verdict.finding import Unmet
from stella.verdict.finding import Verdict
from stella.verdict.progress import Progress
from stella.verdict.progress import Standing
from stella.verdict.progress import progress
from stella.verdict.rule import VerdictRule
from stella.wire.evidence import Artifact
from stella.wire.evidence import EvidenceSet
from stella.wire.evidence import Flip
from stella.wire.evidence import Provenance
from stella.wire.evidence import Tamper
from stella.wire.evidence import Tampered
from stella.wire.evidence import TamperState

VECTORS = Path(__file__).parents[1] / "vectors" / "verdict"

T = TypeVar("T", bound="Vector")


class Vector(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file of inputs and the expected output; `about` says which row of the spec it is."""

    about: str


class JudgeVector(Vector, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One call of judge."""

    rule: VerdictRule
    evidence: EvidenceSet
    verdict: Verdict


class AgainVector(Vector, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One call of again."""

    verdict: Verdict
    state: State
    grant: Grant
    continuation: Continuation


class RoundLeft(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a round left, as a file spells it."""

    unmet: tuple[Clause, ...]
    tree_digest: str | None = None

    @property
    def standing(self) -> Standing:
        return Standing(unmet=self.unmet, tree_digest=self.tree_digest)


class ProgressVector(Vector, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One call of progress."""

    previous: RoundLeft | None = None
    current: RoundLeft
    progress: Progress


class RunVector(Vector, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A run whose every verdict is unmet: how many rounds happen, and why it stops."""

    grant: Grant
    host_max_holds: codec.U32
    rounds: tuple[RoundLeft, ...]
    happened: int
    stopped: Stopped


_KEY = {JudgeVector: "rule", AgainVector: "continuation", ProgressVector: "current"}


def vector_paths(kind: type[Vector]) -> list[Path]:
    """Return the files of one kind in order; there is always at least one."""
    key = _KEY.get(kind, "rounds")
    found = [path for path in sorted(VECTORS.glob("*.json")) if key in as_written(path)]
    assert found, f"no vector holds {key}"
    return found


def as_written(path: Path) -> Any:
    """Return the file as plain data with its keys in the order they stand in."""
    return json.loads(path.read_text("utf-8"))


def compact(tree: object) -> str:
    return json.dumps(tree, separators=(",", ":"), ensure_ascii=False)


def read_vector(kind: type[T], path: Path) -> T:
    return codec.read(kind, path.read_bytes())


def evidence(
    flip: Flip = Flip.ACHIEVED,
    tamper: Tamper = TamperState.CLEAN,
    provenance: Provenance = Provenance.PLUGIN_REPORTED,
    **measurements: int,
) -> EvidenceSet:
    return EvidenceSet(provenance=provenance, flip=flip, tamper=tamper, measurements=measurements)


def tampered(artifact: str = "tests/t.py") -> Tampered:
    return Tampered(tampered=Artifact(artifact=artifact))


def over_budget(check: str = "x <= 0", reported: int = 1) -> OverBudget:
    return OverBudget(budget=Reported(check=check, reported=reported))


def no_flip(observed: Flip = Flip.NOT_ACHIEVED) -> NoFlip:
    return NoFlip(no_flip=ObservedFlip(observed=observed))


def clause(
    requirement: str = "a", because: Because | None = None, statement: str = "a holds"
) -> Clause:
    return Clause(requirement=requirement, statement=statement, because=because or over_budget())


def unmet(*clauses: Clause) -> Unmet:
    return Unmet(unmet=Failed(unmet=clauses))


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """What a simulated round brings: its verdict, its tree, the limit it reached."""

    verdict: Verdict
    tree_digest: str | None
    ceiling: Ceiling | None = None


def held_run(grant: Grant, host_max_holds: int, rounds: Iterable[Round]) -> list[Continuation]:
    """Return what again says after each round, until it stops or the rounds end.

    Counts are the run's and are never set back [D-19]; what a round did in between, tool
    calls included, is no input.
    """
    said: list[Continuation] = []
    previous: Standing | None = None
    for holds, each in enumerate(rounds):
        clauses = each.verdict.clauses if isinstance(each.verdict, Unmet) else ()
        current = Standing(unmet=clauses, tree_digest=each.tree_digest)
        state = State(
            holds_spent=holds,
            host_max_holds=host_max_holds,
            progress=progress(previous, current),
            ceiling=each.ceiling,
        )
        said.append(again(each.verdict, state, grant))
        if not isinstance(said[-1], Another):
            break
        previous = current
    return said
