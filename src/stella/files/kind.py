"""What stands at a path, in one word for everybody who looks [I-5]."""

import stat
from enum import Enum
from typing import Final


class Kind(Enum):
    """What stands at a path; the value is how a person is told."""

    FILE = "regular file"
    DIRECTORY = "directory"
    LINK = "symbolic link"
    FIFO = "fifo"
    SOCKET = "socket"
    DEVICE = "device"
    OTHER = "special file"


_KINDS: Final = {
    stat.S_IFREG: Kind.FILE,
    stat.S_IFDIR: Kind.DIRECTORY,
    stat.S_IFLNK: Kind.LINK,
    stat.S_IFIFO: Kind.FIFO,
    stat.S_IFSOCK: Kind.SOCKET,
    stat.S_IFCHR: Kind.DEVICE,
    stat.S_IFBLK: Kind.DEVICE,
}


def kind_of(mode: int) -> Kind:
    """Return the kind that a `st_mode` stands for [I-5]."""
    return _KINDS.get(stat.S_IFMT(mode), Kind.OTHER)
