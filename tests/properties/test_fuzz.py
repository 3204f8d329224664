"""A short run of the fuzzer: each document is a value or a refusal, and the run can fail.

`make fuzz` is the long one.
"""

import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from stella import limits
from tests.fuzz import parts
from tests.fuzz.documents import MANIFEST_BYTES
from tests.fuzz.documents import MANIFESTS
from tests.fuzz.documents import MESSAGE_BYTES
from tests.fuzz.mutation import CHANGES
from tests.fuzz.mutation import mutated

REPOSITORY = Path(__file__).parents[2]


def test_generated_and_mutated_documents_are_values_or_refusals() -> None:
    words = ["--seed", "7", "--manifests", "2000", "--messages", "5000", "--jobs", "1"]
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz", *words],
        capture_output=True,
        text=True,
        cwd=REPOSITORY,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    manifests, messages = done.stdout.splitlines()
    assert manifests.startswith("manifests: 2000 read, ")
    assert messages.startswith("messages: 5000 read, ")
    for line in (manifests, messages):
        accepted = int(line.split(" accepted")[0].rsplit(" ", 1)[1])
        assert accepted > 50, "a fuzzer that makes nothing good looks at the surface only"


def test_the_same_seed_makes_the_same_documents() -> None:
    one, two = Random(3), Random(3)
    for make in (parts.a_manifest, parts.a_message):
        assert [make(one) for _ in range(50)] == [make(two) for _ in range(50)]


def test_every_change_changes_something_and_keeps_the_size() -> None:
    chance = Random(5)
    whole = max(MANIFESTS, key=len)
    for change in CHANGES:
        made = {change(chance, whole, MANIFESTS) for _ in range(30)}
        assert made - {whole}, change
    longest = max(len(mutated(chance, whole, MANIFESTS, 900)) for _ in range(50))
    assert longest <= 900
    assert max(MANIFEST_BYTES, MESSAGE_BYTES) <= limits.MANIFEST_BYTES


def test_an_error_and_a_slow_document_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(data: bytes) -> bool:
        raise ValueError(str(len(data)))

    def forges(data: bytes) -> bool:
        raise parts.Wrong("it is not safe to show")

    for reader, said in ((breaks, "ValueError"), (forges, "not safe")):
        monkeypatch.setitem(parts.PARTS, "bad", (parts.a_message, (reader,)))
        found = parts.share("bad", "s", 20)
        assert found.failure is not None
        assert said in found.failure
        assert found.read == 1
        assert found.document

    monkeypatch.setattr(parts, "SLOW_SECS", 0.0)
    assert " ms" in str(parts.share("messages", "s", 20).failure)


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ((100, 111, 112), "the process grew from 100 to 111 and 112 bytes"),
        ((100, 111, 111), None),
        ((100, 110), None),
    ],
)
def test_a_process_that_goes_on_growing_is_found(
    sizes: tuple[int, ...], said: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step that the allocator keeps is no leak."""
    told = iter(sizes)
    monkeypatch.setattr(parts, "resident", lambda: next(told))
    assert parts.share("manifests", "s", 20).failure == said


@pytest.mark.parametrize("text", ["\x1b[2J", "a\rb", "\u202e"])
def test_a_text_that_could_forge_a_line_is_found(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "report", lambda _name, _faults: text)
    with pytest.raises(parts.Wrong, match="not safe to show"):
        parts.examined(b"name = 1")
