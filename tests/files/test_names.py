"""Names that a package may have, and the directories that a path lies in."""

import os

import pytest

from stella.errors import PackageRefused
from stella.files.names import above
from stella.files.names import refuse_name


def refusal(*paths: str) -> PackageRefused:
    """Refuse the last of these paths, which stand beside each other."""
    twins: dict[str, str] = {}
    for path in paths[:-1]:
        refuse_name(path, path.rpartition("/")[2], twins, reserved=".host.json")
    with pytest.raises(PackageRefused) as caught:
        refuse_name(paths[-1], paths[-1].rpartition("/")[2], twins, reserved=".host.json")
    return caught.value


@pytest.mark.parametrize(
    ("paths", "word", "says"),
    [
        (("a/b\x1b[2J",), "FileNameRefused", r"a/b\u{1B}[2J: the name holds characters or spaces"),
        (("two  spaces",), "FileNameRefused", "the name holds characters or spaces"),
        ((os.fsdecode(b"\xff"),), "FileNameRefused", r"\u{DCFF}: the name is not UTF-8"),
        (("Read", "read"), "FileNameRefused", 'read: "Read" beside it is the same name'),
        (("\u00e9", "e\u0301"), "FileNameRefused", "beside it is the same name"),
        ((".HOST.json",), "ReservedName", ".HOST.json: the host keeps a file of that name"),
    ],
)
def test_a_name_that_would_not_stay_what_it_is_is_refused(
    paths: tuple[str, ...], word: str, says: str
) -> None:
    """A19, A20, I-4, I-6."""
    refused = refusal(*paths)
    assert refused.word == word
    assert says in refused.message


def test_the_reserved_name_is_free_below_the_root() -> None:
    """I-6: of the root alone."""
    twins: dict[str, str] = {}
    refuse_name("sub/.host.json", ".host.json", twins, reserved=".host.json")
    assert twins == {".host.json": ".host.json"}


def test_every_directory_that_a_path_lies_in_is_above_it() -> None:
    assert above(["a/b/c", "a/b/d", "e", "f/g/"]) == {"a", "a/b", "f"}
    assert above([]) == frozenset()
