"""A shielded process keeps variables, files and memory from the same person's others."""

import ctypes
import sys
from types import SimpleNamespace

import pytest

from stella.process.shield import shield
from tests.making.child import said

GET_DUMPABLE = 3


@pytest.mark.skipif(sys.platform != "linux", reason="the system has no such switch")
def test_a_shielded_process_is_closed_to_others() -> None:
    """E127: the system then asks for more than the same person's rights."""

    def work() -> str:
        before = ctypes.CDLL(None).prctl(GET_DUMPABLE, 0, 0, 0, 0)
        shield()
        return f"{before} {ctypes.CDLL(None).prctl(GET_DUMPABLE, 0, 0, 0, 0)}"

    assert said(work) == "1 0"


@pytest.mark.parametrize(("platform", "asked"), [("linux", [4, 0, 0, 0, 0]), ("darwin", [])])
def test_only_linux_is_asked(
    monkeypatch: pytest.MonkeyPatch, platform: str, asked: list[int]
) -> None:
    """The test run itself stays open."""
    heard: list[int] = []

    def prctl(option: int, *words: ctypes.c_ulong) -> None:
        heard.extend((option, *(word.value for word in words)))

    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(ctypes, "CDLL", lambda _: SimpleNamespace(prctl=prctl))
    shield()
    assert heard == asked
