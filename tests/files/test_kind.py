"""What stands at a path [I-5]."""

import stat

import pytest

from stella.files.kind import Kind
from stella.files.kind import kind_of


@pytest.mark.parametrize(
    ("mode", "kind"),
    [
        (stat.S_IFREG, Kind.FILE),
        (stat.S_IFDIR, Kind.DIRECTORY),
        (stat.S_IFLNK, Kind.LINK),
        (stat.S_IFIFO, Kind.FIFO),
        (stat.S_IFSOCK, Kind.SOCKET),
        (stat.S_IFCHR, Kind.DEVICE),
        (stat.S_IFBLK, Kind.DEVICE),
        (0o150000, Kind.OTHER),
    ],
)
def test_each_kind_is_told_from_its_mode_whatever_the_permissions(mode: int, kind: Kind) -> None:
    """I-5, A13: a door, a whiteout or another special file is none of the known kinds."""
    assert {kind_of(mode | bits) for bits in (0, 0o644, 0o7777)} == {kind}
