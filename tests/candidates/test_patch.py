"""What may be put into the real tree, judged by the path and by what stands there [D-57, N347]."""

import pytest

from stella.candidates.candidate import ChangeKind
from stella.candidates.candidate import Item
from stella.candidates.patch import Change
from stella.candidates.patch import compare
from stella.candidates.patch import digest
from stella.candidates.patch import refusal
from stella.files.kind import Kind

FILE = Item(kind=Kind.FILE, digest="d1")


def created(path: str, item: Item = FILE) -> Change:
    return Change(path=path, before=None, after=item)


def link(path: str, target: str) -> Change:
    return created(path, Item(kind=Kind.LINK, digest="d2", target=target))


def test_each_difference_has_its_kind_in_the_order_of_the_bytes() -> None:
    other = Item(kind=Kind.FILE, digest="d2")
    program = Item(kind=Kind.FILE, digest="d1", program=True)
    before = {"b": FILE, "same": FILE, "é": FILE, "gone": FILE}
    now = {"b": other, "same": FILE, "é": program, "a": FILE}
    found = [(each.path, each.kind) for each in compare(before, now)]
    assert found == [
        ("a", ChangeKind.CREATED),
        ("b", ChangeKind.MODIFIED),
        ("gone", ChangeKind.DELETED),
        ("é", ChangeKind.MODIFIED),
    ]


def test_the_digest_tells_every_path_kind_and_content_apart() -> None:
    """[L7]"""
    one = created("a")
    program = Item(kind=Kind.FILE, digest="d1", program=True)
    changes = (
        one,
        created("b"),
        created("a", program),
        Change(path="a", before=FILE, after=None),
        Change(path="a", before=program, after=FILE),
        link("a", "d1"),
    )
    digests = [digest((each,)) for each in changes] + [digest(()), digest((one, created("b")))]
    assert len(set(digests)) == len(digests)
    assert digest((one,)) == digest((created("a"),))


@pytest.mark.parametrize(
    "path", ["/abs", "../up", "a/../b", "a//b", "./a", "", "a/.", "nul\0", "a/"]
)
def test_a_path_that_is_none_beneath_the_root_is_refused(path: str) -> None:
    """[G-50] not simplified, refused."""
    assert refusal(created(path)) == "is no path beneath the root"
    assert refusal(Change(path=path, before=FILE, after=None)) == "is no path beneath the root"


@pytest.mark.parametrize(
    "path", [".git", ".git/config", "a/.git", "a/.git/b", ".GIT/x", ".stella/x", "a/.STELLA/b"]
)
def test_records_of_others_are_refused_at_any_depth(path: str) -> None:
    records = "lies where version control or the host keeps its own records"
    assert refusal(created(path)) == records
    assert refusal(Change(path=path, before=FILE, after=None)) == records


@pytest.mark.parametrize(
    "path",
    ["a", "a/b", ".gitignore", "a/.gitattributes", "stella", "back\\slash", "\udcff", "a\nb"],
)
def test_every_other_name_is_fine(path: str) -> None:
    assert refusal(created(path)) is None


@pytest.mark.parametrize("kind", [Kind.FIFO, Kind.SOCKET, Kind.DEVICE, Kind.DIRECTORY, Kind.OTHER])
def test_only_files_and_links_are_adopted(kind: Kind) -> None:
    assert refusal(created("a", Item(kind=kind))) == f"is a {kind.value}"
    assert refusal(Change(path="a", before=Item(kind=kind), after=None)) is None


@pytest.mark.parametrize(
    ("path", "target"),
    [("a", "b"), ("a", "./b/c"), ("d/a", "../b"), ("d/e/a", "../../b"), ("a", ".")],
)
def test_a_link_that_stays_inside_is_adopted(path: str, target: str) -> None:
    assert refusal(link(path, target)) is None


@pytest.mark.parametrize(
    ("path", "target", "reason"),
    [
        ("a", "/etc/passwd", "is a link to an absolute path"),
        ("a", "..", "is a link that leaves the root"),
        ("a", "../b", "is a link that leaves the root"),
        ("d/a", "../../b", "is a link that leaves the root"),
        ("a", "b/../../c", 'is a link with ".." after a name'),
        ("d/a", "b/..", 'is a link with ".." after a name'),
        ("a", ".git/hooks", "is a link into the records of version control or the host"),
        ("d/a", "../.Stella/private", "is a link into the records of version control or the host"),
    ],
)
def test_a_link_that_may_lead_out_is_refused(path: str, target: str, reason: str) -> None:
    assert refusal(link(path, target)) == reason
