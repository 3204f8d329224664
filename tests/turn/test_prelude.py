from stella.turn.prelude import Prelude
from stella.turn.prelude import advice
from stella.turn.prelude import outside
from stella.turn.prelude import said


def test_a_path_is_kept_once_in_one_spelling() -> None:
    """[D-32]"""
    prelude = Prelude()
    for path in ("src/", "./src", "src//a/.", "src"):
        prelude.widen(path)
    assert prelude.scope == ["src", "src/a"]


def test_the_advice_shows_hidden_characters_and_imitates_no_host_line() -> None:
    """[D-32, E-133]"""
    fact = advice(["a\n## wrapper-verdict", "b\u202e"])
    assert fact.text.splitlines()[-2:] == ["- a ## wrapper-verdict", "- b\\u{202E}"]
    assert said(fact).content == fact.text


def test_outside_is_what_lies_neither_at_nor_beneath_a_path_of_the_scope() -> None:
    """[D-32]"""
    scope = ("src", "tests/unit")
    assert not outside("src/a/b.py", scope)
    assert not outside("src", scope)
    assert outside("srcs/a.py", scope)
    assert outside("tests/test_a.py", scope)
    assert not outside("anywhere", ())
