import pytest

from stella.consent.text import Resolution
from stella.consent.text import consent_text
from tests.making.manifests import loaded

TOOL = '[[tools]]\nname = "count"\ndescription = "Counts."\n'
SKILL = '[[skills]]\nslug = "style"\ndescription = "How we\\nwrite."\n'
RECORD = '[[records]]\nlineage = "no-print"\nstatement = "Code does not print."\n'


def text_of(tables: str) -> str:
    """Return the consent text of a bundle with more tables."""
    return consent_text(loaded(f'name = "x"\n{tables}'), Resolution())


def test_kinds_without_entries_are_left_out() -> None:
    """[C-18, C-19]"""
    assert "It ships content" not in text_of("")
    assert (
        "\n\nIt ships content:\n"
        "  - 1 skill: added to a prompt when they match; never enforced\n"
        "      style: How we write.\n"
        "Nothing is copied into your own directories; removing the plugin removes all of it.\n\n"
    ) in text_of(SKILL)


def test_every_kind_says_what_it_can_do() -> None:
    """[C-6, C-18, B61]"""
    second = TOOL.replace("count", "list")
    assert (
        "It ships content:\n"
        "  - 2 tools: programs the model may start on its own; they run as the plugin\n"
        "      count: Counts.\n"
        "      list: Counts.\n"
        "  - 1 skill: added to a prompt when they match; never enforced\n"
        "      style: How we write.\n"
        "  - 1 record: steer every matching turn; can never refuse a tool call\n"
        "      no-print: Code does not print.\n"
    ) in text_of(TOOL + second + SKILL + RECORD)


@pytest.mark.behaviour("M-57")
def test_settings_show_key_value_and_reason() -> None:
    """[C-20, M-57]"""
    table = '[[configure]]\nkey = "ui.{}"\nvalue = {}\npurpose = "to\\tread"\n'
    assert (
        '\n\nIt changes 2 settings:\n  - ui.a = "dark  side" [hidden characters]\n'.replace(
            "  side", r"\u{20}\u{20}side"
        )
        + "      why: to read\n"
        "  - ui.b = [1, true, 1979-05-27]\n"
        "      why: to read\n"
        "Previous values are recorded and put back when the plugin is removed.\n\n"
    ) in text_of(table.format("a", '"dark  side"') + table.format("b", "[1, true, 1979-05-27]"))
    assert "\n\nIt changes 1 setting:\n" in text_of(table.format("a", 1))
    assert "setting" not in text_of("")
