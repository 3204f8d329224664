"""The host's own types and transport against every vector of the shipped plugins [K-76, K-203].

A vector is a request and what the plugin makes of it. Here the host reads each request as a
plugin would, and sends those it can read through its own socket.
"""

import asyncio
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from stella import codec
from stella.codec import Refused
from stella.process.program import Program
from stella.wire.after_turn import AfterTurnAnswer
from stella.wire.envelope import read_request
from stella.wire.envelope import write_request
from stella.wire.silence import FaultCode
from stella.wire.silence import Silence
from stella.wrapper.plugin import PluginProcess
from tests.making.shipped import PATH
from tests.making.shipped import TESTDATA
from tests.making.shipped import Shipped
from tests.making.shipped import each_plugin

VECTORS = sorted(TESTDATA.glob("*.request.json"))
# What the plugin refuses and the host does not: another point, a version it may not speak, a root
# that is no absolute path. A host never sends the last two.
STRICTER = ("82-", "83-", "88-")


def stem(path: Path) -> str:
    return path.name.removesuffix(".request.json")


def workspace(path: Path, tmp_path: Path) -> Path:
    source = path.with_name(f"{stem(path)}.workspace")
    root = tmp_path / "root"
    if source.is_dir():
        shutil.copytree(source, root)
    else:
        root.mkdir()
    return root


def spoken_to(plugin: Shipped) -> PluginProcess:
    return PluginProcess(
        name="verify",
        arguments=plugin.command,
        directory=plugin.directory,
        env={"PATH": PATH},
        timeout_secs=60,
        cleared=lambda: Program(path="/usr/bin/env"),
    )


def filled(path: Path, root: Path) -> bytes:
    return path.read_bytes().replace(b"${workspace_root}", os.fsencode(root))


def test_there_are_enough_vectors_and_refusals_among_them() -> None:
    assert len(VECTORS) >= 17
    assert len(list(TESTDATA.glob("*.refusal.txt"))) >= 5


@pytest.mark.parametrize("path", VECTORS, ids=stem)
@pytest.mark.behaviour("K-76", "K-203")
def test_the_host_and_the_plugin_agree_on_what_a_request_is(path: Path, tmp_path: Path) -> None:
    """[K-203]"""
    refused = path.with_name(f"{stem(path)}.refusal.txt").exists()
    data = filled(path, workspace(path, tmp_path))
    if refused and not path.name.startswith(STRICTER):
        with pytest.raises(Refused):
            read_request(data)
        return
    request = read_request(data)
    assert read_request(write_request(request)) == request


ANSWERED = [path for path in VECTORS if path.with_name(f"{stem(path)}.expected.json").exists()]


@pytest.mark.parametrize("path", ANSWERED, ids=stem)
@pytest.mark.behaviour("K-202", "K-203")
@each_plugin
def test_every_answer_comes_through_the_hosts_own_socket(
    plugin: Shipped, path: Path, tmp_path: Path
) -> None:
    """[K-203, K-200, K-202]"""
    root = workspace(path, tmp_path)
    spoken = asyncio.run(spoken_to(plugin).ask(read_request(filled(path, root))))
    assert isinstance(spoken.answer, AfterTurnAnswer), spoken.answer
    expected: Any = json.loads(path.with_name(f"{stem(path)}.expected.json").read_text("utf-8"))
    answer = {"point": "after_turn", "body": codec.plain(spoken.answer)}
    assert timed(answer) == timed(expected)


def timed(answer: dict[str, Any]) -> dict[str, Any]:
    """The answer with its duration checked and taken out [K-202]."""
    numbers = answer["body"]["evidence"].get("measurements", {})
    if "test-duration-ms" in numbers:
        assert isinstance(numbers.pop("test-duration-ms"), int)
    return answer


@pytest.mark.behaviour("W-29")
@each_plugin
def test_a_refusal_is_heard_as_an_exit_with_its_line(plugin: Shipped) -> None:
    """[W-29]"""
    path = next(p for p in VECTORS if p.name.startswith("82-"))
    spoken = asyncio.run(spoken_to(plugin).ask(read_request(path.read_bytes())))
    assert isinstance(spoken.answer, Silence)
    assert spoken.answer.code is FaultCode.EXIT
    line = path.with_name(f"{stem(path)}.refusal.txt").read_text("utf-8").strip()
    assert line in spoken.answer.message
