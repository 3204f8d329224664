import pytest

from stella.consent.answer import accepts
from stella.consent.answer import digest_of


@pytest.mark.parametrize("answer", ["y", "Y", "yes", "YES", "yEs", " y ", "yes\n", "\tYes\r\n"])
def test_y_and_yes_are_a_yes_trimmed_and_in_any_case(answer: str) -> None:
    """[I-9]"""
    assert accepts(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        " ",
        "\n",
        "n",
        "no",
        "yep",
        "yeah",
        "ye",
        "yy",
        "y y",
        "y.",
        "yes!",
        "true",
        "1",
        "\uff59",
        "ye\u017f",
        "\u0443",
        "y\u200b",
        "y\u0301",
        "\u00a0y",
        "y\x00",
        "\x1by",
        "\x03",
        "\x04",
    ],
)
def test_everything_else_is_a_no(answer: str) -> None:
    """[I-9, C73]"""
    assert not accepts(answer)


def test_the_digest_is_sha_256_of_the_utf_8_bytes() -> None:
    """[I-26]"""
    assert digest_of("abc") == (
        "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    )
    assert digest_of("\u00e9") != digest_of("e\u0301")
