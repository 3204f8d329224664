"""The reference pages: their tables are the code's, their examples are read by the host."""

import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stella import codec
from stella.codec import Refused
from stella.manifest.read import Loaded
from stella.manifest.read import Unloadable
from stella.manifest.read import examine
from stella.wire.before_turn import PublishedSignal
from stella.wire.driver import DriverAsk
from stella.wire.driver import DriverEnd
from stella.wire.driver import read_drive
from stella.wire.driver import read_driver_message
from stella.wire.driver import read_driver_result
from stella.wire.envelope import PointAnswer
from stella.wire.envelope import read_message
from stella.wire.envelope import read_request
from stella.wire.event import read_event
from stella.wire.event import write_event
from stella.wire.evidence import Flip
from stella.wire.hook import Deny
from stella.wire.hook import NoOpinion
from stella.wire.hook import read_decision
from stella.wire.host_call import HostCall
from stella.wire.host_result import read_result
from stella.wire.occasion import read_payload
from stella.wire.occasion import write_payload
from stella.wire.points import Call
from stella.wire.points import Hook

REPOSITORY = Path(__file__).parents[2]
DOCS = REPOSITORY / "docs"
GENERATE = DOCS / "generate.py"
PAGES = ("manifest.md", "wire.md")
FENCE = re.compile(r"^```(\w+) ([^\n]+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FRAGMENTS = {"PublishedSignal": PublishedSignal}


def text(page: str) -> str:
    return (DOCS / page).read_text("utf-8")


def fences(page: str, language: str) -> list[tuple[str, str]]:
    """Every fence of a language that says what it holds: the saying and the content."""
    found = [(kind, body) for tongue, kind, body in FENCE.findall(text(page)) if tongue == language]
    assert found, f"{page} has no example in {language}"
    return found


EXAMPLES = [(kind, line) for kind, body in fences("wire.md", "json") for line in body.splitlines()]


def generate(*arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, str(GENERATE), *arguments],
        capture_output=True,
        text=True,
        cwd=REPOSITORY,
        check=False,
    )
    assert not done.stderr
    return done.returncode, done.stdout


def test_the_tables_are_what_the_types_say() -> None:
    assert generate("--check") == (0, "")


@pytest.mark.parametrize(
    ("page", "row", "region"),
    [
        ("manifest.md", "| `max_calls` | u32", "keys Loop"),
        ("wire.md", "| `Timeout` | you", "words FaultCode"),
    ],
)
def test_a_region_that_differs_is_named_with_its_page(
    page: str, row: str, region: str, tmp_path: Path
) -> None:
    copy = tmp_path / page
    copy.write_text(text(page).replace(row, f"{row} and more", 1), "utf-8")
    assert generate("--check", str(copy)) == (
        1,
        f"{page}: the region {region} differs; run make docs\n",
    )
    assert generate(str(copy)) == (0, "")
    assert copy.read_text("utf-8") == text(page)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("<!-- generated: nonsense -->\n<!-- end -->\n", 'no region is called "nonsense"'),
        ("<!-- generated: limits -->\n| a |\n", "a region is not closed"),
        ("<!-- end -->\n", "a region is not closed"),
    ],
)
def test_a_region_that_is_none_is_told(body: str, said: str, tmp_path: Path) -> None:
    page = tmp_path / "wire.md"
    page.write_text(body, "utf-8")
    status, told = generate(str(page))
    assert status == 1
    assert told.startswith(f"wire.md: {said}")
    assert page.read_text("utf-8") == body


def test_every_table_and_every_word_is_on_a_page() -> None:
    regions = set(runpy.run_path(str(GENERATE))["REGIONS"])
    shown = {
        name for page in PAGES for name in re.findall(r"<!-- generated: ([\w -]+) -->", text(page))
    }
    assert shown == regions


def call(line: str) -> None:
    assert isinstance(read_message(line.encode()), HostCall)


def answer(line: str) -> None:
    assert isinstance(read_message(line.encode()), PointAnswer)


def ask(line: str) -> None:
    assert isinstance(read_driver_message(line.encode()), DriverAsk)


def end(line: str) -> None:
    assert isinstance(read_driver_message(line.encode()), DriverEnd)


def told(line: str) -> None:
    """A hook's payload, byte for byte as the host writes it."""
    assert write_payload(*read_payload(line.encode())) == f"{line}\n".encode()


def event(line: str) -> None:
    assert write_event(read_event(line.encode())) == f"{line}\n".encode()


READERS: dict[str, Callable[[str], Any]] = {
    "request": lambda line: read_request(line.encode()),
    "answer": answer,
    "call": call,
    "hook": told,
    "event": event,
    **{
        f"decision {it.value}": lambda line, it=it: read_decision(it, line.encode())  # type: ignore[misc]
        for it in (Hook.PRE_TOOL_USE, Hook.PRE_COMPACT, Hook.STOP)
    },
    "drive": lambda line: read_drive(line.encode()),
    "drive-ask": ask,
    "drive-end": end,
    "drive-result": lambda line: read_driver_result(line.encode()),
    **{
        f"result {it.value}": lambda line, it=it: read_result(line.encode(), it)  # type: ignore[misc]
        for it in Call
    },
    **{
        f"fragment {name}": lambda line, kind=kind: codec.read(kind, line.encode())  # type: ignore[misc]
        for name, kind in FRAGMENTS.items()
    },
}


@pytest.mark.parametrize(("kind", "line"), EXAMPLES, ids=[kind for kind, _ in EXAMPLES])
def test_every_message_of_the_page_is_read_by_the_host(kind: str, line: str) -> None:
    READERS[kind](line)


@pytest.mark.parametrize(("kind", "line"), EXAMPLES, ids=[kind for kind, _ in EXAMPLES])
def test_every_message_of_the_page_is_one_compact_line(kind: str, line: str) -> None:
    """[W-2] The order of keys as on the wire, so that encoding the plain data gives the line."""
    assert codec.encode(codec.parse(line.encode())).decode() == line


def test_every_kind_of_message_has_an_example() -> None:
    assert {kind for kind, _ in EXAMPLES} == set(READERS)
    called = {read_message(line.encode()).call for kind, line in EXAMPLES if kind == "call"}  # type: ignore[union-attr]
    assert called == set(Call)


def test_a_reader_of_the_page_can_refuse() -> None:
    with pytest.raises(Refused):
        READERS["request"]('{"point":"before_turn","body":{}}')


@pytest.mark.parametrize(("kind", "body"), fences("manifest.md", "toml"))
def test_every_manifest_of_the_page_does_what_stands_beside_it(kind: str, body: str) -> None:
    found = examine(body.encode())
    if kind == "accepted":
        assert isinstance(found, Loaded)
        assert not found.warnings
        return
    assert isinstance(found, Unloadable)
    assert [f"refused {fault.rule}" for fault in found.faults] == [kind]


def slug(title: str) -> str:
    """The anchor of a heading, as pages are shown."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def anchors(page: str) -> set[str]:
    prose = re.sub(r"^```.*?^```$", "", text(page), flags=re.DOTALL | re.MULTILINE)
    titles = re.findall(r"^#+ (.+)$", prose, flags=re.MULTILINE)
    assert len(titles) == len(set(titles)), "two headings of one name"
    return {slug(title) for title in titles}


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_somewhere(page: str) -> None:
    links = re.findall(r"\]\(([^)#]*)#?([^)]*)\)", text(page))
    assert links
    for target, anchor in links:
        there = target or page
        assert (DOCS / there).is_file(), target
        assert not anchor or anchor in anchors(there), f"{target}#{anchor}"


@pytest.mark.parametrize(
    ("program", "baseline", "flip"),
    [
        ("true", "failed", Flip.ACHIEVED),
        ("false", "failed", Flip.NOT_ACHIEVED),
        ("true", "passed", Flip.UNOBSERVABLE),
    ],
)
def test_the_plugin_of_the_page_works(
    program: str, baseline: str, flip: Flip, tmp_path: Path
) -> None:
    (_, source), _ = fences("wire.md", "python")
    line = next(line for kind, line in EXAMPLES if kind == "request")
    asked = line.replace("/home/dev/shop", str(tmp_path)).replace('"failed"', f'"{baseline}"')
    done = subprocess.run(
        [sys.executable, "-c", source],
        input=asked.replace('"pytest"', f'"{program}"') + "\n",
        capture_output=True,
        text=True,
        check=True,
    )
    told = read_message(done.stdout.encode())
    assert isinstance(told, PointAnswer)
    assert told.body.evidence.flip is flip  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("command", "refused"), [("git push", True), ("git  push", False), ("git status", False)]
)
def test_the_guard_of_the_page_works(command: str, refused: bool) -> None:
    _, (kind, source) = fences("wire.md", "python")
    assert kind == "guard"
    (line,) = (line for kind, line in EXAMPLES if kind == "hook")
    assert '"git push"' in line
    done = subprocess.run(
        [sys.executable, "-c", source],
        input=line.replace("git push", command) + "\n",
        capture_output=True,
        text=True,
        check=True,
    )
    decision = read_decision(Hook.PRE_TOOL_USE, done.stdout.encode())
    assert isinstance(decision, Deny if refused else NoOpinion)
