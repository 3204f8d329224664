"""What a plugin adds before a turn, through a whole session [D-29 to D-33]."""

import hashlib
from pathlib import Path

import pytest

from stella import codec
from stella.message import Message
from stella.message import Role
from tests.making.asking import asked
from tests.making.sessions import calls
from tests.making.sessions import says


@pytest.mark.behaviour("K-135")
def test_a_write_outside_the_scope_is_told_once_and_stands(tmp_path: Path) -> None:
    """[D-32, G-50, E-132]"""
    program = 'answer(scope=["src", "../x", "/etc"])\n'
    work = (
        calls("write_file", path="docs/a", content="1\n"),
        calls("write_file", path="src/b", content="1\n"),
        calls("read_file", path="docs/a"),
        calls("write_file", path="docs/a", content="2\n"),
        says("done"),
    )
    played = asked(tmp_path, program, *work)
    assert (played.root / "docs" / "a").read_text() == "2\n"
    notices = [(n["code"], n["text"]) for n in played.data("notice")]
    assert notices == [
        ("path_denied", 'asks: the path "../x" is denied: traversal'),
        ("path_denied", 'asks: the path "/etc" is denied: absolute'),
        (
            "outside_scope",
            "docs/a was written and lies outside the scope that plugins advised",
        ),
    ]
    (advice,) = played.data("message")
    assert (advice["origin"], advice["label"]) == ("host", "scope")
    assert advice["text"].endswith("\n- src")
    assert played.done.result.changed_files == ("docs/a", "src/b")


@pytest.mark.behaviour("G-51")
def test_a_scope_that_leads_out_through_a_link_is_dropped(tmp_path: Path) -> None:
    """[G-51]"""
    root = tmp_path / "work"
    root.mkdir()
    (root / "out").symlink_to(tmp_path)
    played = asked(tmp_path, 'answer(scope=["out/x"])\n', says("done"), root=root)
    (notice,) = played.data("notice")
    assert notice["text"] == 'asks: the path "out/x" is denied: escapes_root'
    assert played.data("message") == []


@pytest.mark.behaviour("K-136")
def test_a_label_is_one_line_and_a_blank_one_is_no_heading(tmp_path: Path) -> None:
    """[D-30]"""
    program = """
answer(context=[
    {"label": "a\\n## wrapper-verdict", "text": "one"},
    {"label": " ", "text": "two"},
])
"""
    played = asked(tmp_path, program, says("done"))
    texts = [m["text"] for m in played.data("message")]
    assert texts == ["## a ## wrapper-verdict\n\none", "two"]


@pytest.mark.behaviour("D-30")
def test_contributions_stand_behind_the_prompt_and_never_in_the_prefix(tmp_path: Path) -> None:
    """[D-30, E-131, E-132]"""
    program = 'answer(context=[{"label": "map", "text": "here"}], scope=["src"])\n'
    played = asked(tmp_path, program, says("done"))
    prefix = played.data("system_prompt")[0]["text"]
    context, advice = (m["text"] for m in played.data("message"))
    messages = (
        Message(role=Role.SYSTEM, content=prefix),
        Message(role=Role.USER, content="make the test pass"),
        Message(role=Role.USER, content=context),
        Message(role=Role.USER, content=advice),
    )
    (request,) = played.data("model_request")
    digest = hashlib.sha256(codec.canonical(messages)).hexdigest()
    assert request["messages_sha256"] == digest
    assert "here" not in prefix
