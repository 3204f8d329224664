import pytest

from stella import limits
from stella.manifest.sheet import Place
from stella.manifest.sheet import Unestablished
from stella.wire.grade import Grade
from tests.making.manifests import sheet

GRADE = Place(("loop", "participation"), Grade, Grade.NONE)
TOOL = Place(("tool",), str, "")


def test_a_value_is_what_was_read_or_what_it_is_when_absent() -> None:
    assert sheet('loop.participation = "arbiter"').get(GRADE) is Grade.ARBITER
    assert sheet("").get(GRADE) is Grade.NONE
    assert sheet("[loop]").raw("loop", "hooks") is None
    assert sheet('[loop]\nhooks = ["Stop"]').raw("loop", "hooks") == ["Stop"]


@pytest.mark.parametrize("text", ['loop.participation = "arbitre"', "loop = 1"])
def test_a_value_that_did_not_decode_cannot_be_read(text: str) -> None:
    """[M-5]"""
    with pytest.raises(Unestablished):
        sheet(text).get(GRADE)
    assert sheet(text).peek(GRADE) is None


def test_a_table_is_there_though_something_in_it_is_wrong() -> None:
    """[M-5]"""
    found = sheet("[oracle]\nflip = 1\n[runtime]")
    assert found.has("oracle")
    assert found.has("runtime")
    assert not found.has("subloop")
    with pytest.raises(Unestablished):
        sheet("oracle = 1").has("oracle")


def test_a_list_keeps_the_places_of_the_entries_that_decoded() -> None:
    """[Q-7]"""
    hooks = sheet('loop.hooks = ["Stop", "Sotp", 1, "TurnEnd", "Stop"]').words("loop", "hooks")
    assert [(entry.number, entry.value, entry.repeated) for entry in hooks] == [
        (1, "Stop", False),
        (4, "TurnEnd", False),
        (5, "Stop", True),
    ]
    assert not hooks.whole
    assert not hooks.empty
    assert hooks.has("Stop")
    with pytest.raises(Unestablished):
        hooks.has("TurnStart")


def test_a_whole_list_is_sure_of_what_it_lacks() -> None:
    """[Q-7]"""
    hooks = sheet('loop.hooks = ["Stop"]').words("loop", "hooks")
    assert hooks.whole
    assert not hooks.has("TurnStart")
    assert sheet("").words("loop", "hooks").empty
    assert not sheet('loop.hooks = ["Sotp"]').words("loop", "hooks").empty


def test_tables_are_told_apart_by_a_trimmed_name() -> None:
    """[M-51]"""
    text = "".join(
        f"[[capabilities]]\n{tool}\n"
        for tool in ('tool = "a"', 'tool = " a "', 'tool = " "', 'tool = " "', "tool = 1", "")
    )
    found = sheet(text).tables("capabilities", name=TOOL)
    assert [(entry.name, entry.repeated) for entry in found] == [
        ("a", False),
        ("a", True),
        ("", False),
        ("", False),
        ("", False),
        ("", False),
    ]
    assert [entry.value.peek(TOOL) for entry in found] == ["a", " a ", " ", " ", None, None]
    assert found.whole


def test_an_entry_that_is_no_table_leaves_a_gap() -> None:
    """[Q-7]"""
    found = sheet('capabilities = [1, { tool = "a" }]').tables("capabilities", name=TOOL)
    assert [entry.number for entry in found] == [2]
    assert not found.whole


def test_the_keys_of_a_table_stand_in_byte_order() -> None:
    """[M-13]"""
    found = sheet('[requirements]\nb = "x"\nB = "x"\n"\u00e9" = "x"\na = 1\n')
    assert found.keys("requirements") == ("B", "a", "b", "\u00e9")
    assert found.keys("roles") == ()


def test_near_words_are_looked_for_where_that_is_cheap() -> None:
    """[M-8]"""
    word = "a" * limits.NEAR_CHARS
    found = sheet("")
    assert found.near(word[1:], [word]) == (word,)
    assert found.near(word, [f"a{word}"]) == (f"a{word}",)
    assert found.near(f"a{word}", [word]) == ()
    many = [f"name-{number}" for number in range(limits.NEAR_CANDIDATES)]
    assert found.near("name-x", many) != ()
    assert found.near("name-x", [*many, "name-y"]) == ()


def test_near_words_are_looked_for_so_often_and_no_more() -> None:
    """[M-8]"""
    found = sheet("")
    answers = [found.near("fst", ["fast"]) for _ in range(limits.NEAR_LOOKUPS + 1)]
    assert answers == [("fast",)] * limits.NEAR_LOOKUPS + [()]
