from pathlib import Path

import pytest

from stella.errors import ModelError
from stella.errors import UsageError
from stella.providers.all import OPENERS
from stella.providers.all import open_model
from tests.making.clocks import HandClock


def test_a_script_is_opened_by_name(tmp_path: Path) -> None:
    """[M2-10] relative to the given directory, shown as written; colons may follow."""
    (tmp_path / "a:b").mkdir()
    (tmp_path / "a:b/s.jsonl").write_text("{}", "utf-8")
    path = tmp_path / "a:b/s.jsonl"
    for name in (f"script:{path}", "script:a:b/s.jsonl"):
        model = open_model(name, clock=HandClock(), base=tmp_path)
        assert model.name == name


def test_the_faults_of_a_script_are_told(tmp_path: Path) -> None:
    """[M2-21]"""
    (tmp_path / "s").write_text('{"txt":1}', "utf-8")
    with pytest.raises(UsageError, match=r"^script s, line 1: txt: unknown key"):
        open_model("script:s", clock=HandClock(), base=tmp_path)


@pytest.mark.parametrize(
    "name",
    [
        "replay:ses-20260811T120000Z-abcdefgh",
        "anthropic/a",
        "openai/a/b:c",
        "gemini/a",
        "remote/a",
        "local/qwen3-coder",
        "a-1/b",
        f"{'a' * 32}/b",
    ],
)
def test_a_kind_this_release_does_not_answer_says_what_it_answers(name: str) -> None:
    """[M2-10, M2-11]"""
    with pytest.raises(ModelError) as caught:
        open_model(name, clock=HandClock())
    assert caught.value.message == f'model "{name}": this release answers only script:PATH'
    assert (caught.value.exit_code, caught.value.code) == (1, "no_model")
    assert list(OPENERS) == ["script"]


@pytest.mark.parametrize(
    ("name", "forms"),
    [
        ("script", ("script:PATH", "gemini/<model>")),
        ("antropic", ("anthropic/<model>", None)),
        ("scrpt:x", ("script:PATH", None)),
        ("anthropic:x", ("anthropic/<model>", None)),
        ("script/x", ("script:PATH", None)),
        ("remote:x", ("remote/<name>", None)),
        ("OpenAI", ("openai/<model>", None)),
        ("script:", ("script:PATH", None)),
        ("openai/", ("openai/<model>", None)),
        ("Local/x", (None, None)),
        (f"{'a' * 33}/b", (None, None)),
        ("1a/b", (None, None)),
        ("/x", (None, None)),
        ("", ("script:PATH", "replay:SESSION")),
        ("model-a", ("anthropic/model-a", "openai/model-a")),
        ("../demo.jsonl", ("script:../demo.jsonl", "anthropic/<model>")),
        ("demo.jsonl", ("script:demo.jsonl", "openai/demo.jsonl")),
    ],
)
def test_a_name_of_no_valid_form_shows_the_two_nearest(
    name: str, forms: tuple[str | None, str | None]
) -> None:
    """[M2-11]"""
    with pytest.raises(UsageError) as caught:
        open_model(name, clock=HandClock())
    start = f'model "{name}": expected a kind and a name, such as '
    assert caught.value.message.startswith(start)
    shown = caught.value.message.removeprefix(start).split(" or ")
    assert len(shown) == 2
    for expected, found in zip(forms, shown, strict=True):
        assert expected in {None, found}


def test_a_name_forges_no_line() -> None:
    with pytest.raises(UsageError) as caught:
        open_model("a\nb\x1b[2J.jsonl", clock=HandClock())
    assert caught.value.message.isprintable()
