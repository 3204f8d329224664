"""A concealed process keeps variables, files and memory from the same person's others."""

import ctypes
import sys
from types import SimpleNamespace

import pytest

from stella.process.conceal import conceal
from tests.making.child import said
from tests.making.processes import GET_DUMPABLE
from tests.making.processes import linux_only

OPEN = "programs started here can read the variables and files of this command: "


@linux_only
def test_a_concealed_process_is_closed_to_others() -> None:
    """E127: the system then asks for more than the same person's rights."""

    def work() -> str:
        before = ctypes.CDLL(None).prctl(GET_DUMPABLE, 0, 0, 0, 0)
        told = conceal()
        return f"{before} {told} {ctypes.CDLL(None).prctl(GET_DUMPABLE, 0, 0, 0, 0)}"

    assert said(work) == "1 None 0"


@pytest.mark.parametrize(
    ("platform", "answer", "asked", "told"),
    [
        ("linux", 0, [4, 0, 0, 0, 0], None),
        ("linux", -1, [4, 0, 0, 0, 0], f"{OPEN}the system refused"),
        ("darwin", -1, [], None),
    ],
)
def test_only_linux_is_asked_and_what_it_refuses_is_told(
    monkeypatch: pytest.MonkeyPatch, platform: str, answer: int, asked: list[int], told: str | None
) -> None:
    """The test run itself stays open."""
    heard: list[int] = []

    def prctl(option: int, *words: ctypes.c_ulong) -> int:
        heard.extend((option, *(word.value for word in words)))
        return answer

    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(ctypes, "CDLL", lambda _: SimpleNamespace(prctl=prctl))
    assert conceal() == told
    assert heard == asked


def test_a_python_without_ctypes_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some builds lack it; the command goes on and does not keep quiet about it."""
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setitem(sys.modules, "ctypes", None)
    assert (conceal() or "").startswith(f"{OPEN}import of ctypes halted")
