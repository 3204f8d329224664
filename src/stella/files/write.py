"""Writing one file so that a crash leaves the old contents or the new, never a part [T2-35].

Everything happens beside the file, in a directory that the caller holds open: no path is
looked up twice. Chance enters as the caller's `token`; every fault is the system's `OSError`.
"""

import errno
import os
import stat
from typing import Final

from stella import limits

TEMPORARY: Final = ".stella-tmp-"

_CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
# What some file systems answer when a directory cannot be synced: they do it by themselves.
_NEEDS_NO_SYNC: Final = frozenset({errno.EINVAL, errno.ENOTSUP})


def write_atomic(dir_fd: int, name: str, data: bytes, mode: int, *, token: str) -> None:
    """Put `data` into `name` in the directory `dir_fd`, with exactly `mode` [T2-35].

    In order: temporary file, contents, mode, sync, rename, sync of the directory. What stood
    there is replaced. On an `OSError` the file is as it was and the temporary one is gone.
    """
    temporary = stage(dir_fd, data, mode, token=token)
    try:
        os.rename(temporary, name, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)
    except OSError:
        os.unlink(temporary, dir_fd=dir_fd)
        raise
    sync_directory(dir_fd)


def stage(dir_fd: int, data: bytes, mode: int, *, token: str) -> str:
    """Return the name of a new, synced temporary file that holds `data` with `mode`."""
    name = f"{TEMPORARY}{token}"
    descriptor = os.open(name, _CREATE, 0o600, dir_fd=dir_fd)
    try:
        with os.fdopen(descriptor, "wb", buffering=0) as file:
            write_all(file.fileno(), data)
            _finish(file.fileno(), mode)
    except OSError:
        os.unlink(name, dir_fd=dir_fd)
        raise
    return name


def keep(dir_fd: int, name: str, *, token: str) -> str:
    """Return the name of a synced temporary copy of the regular file `name`, mode included."""
    source = os.open(name, READ, dir_fd=dir_fd)
    with os.fdopen(source, "rb", buffering=0) as old:
        mode = stat.S_IMODE(os.fstat(source).st_mode)
        copy = f"{TEMPORARY}{token}"
        descriptor = os.open(copy, _CREATE, 0o600, dir_fd=dir_fd)
        try:
            with os.fdopen(descriptor, "wb", buffering=0) as file:
                while block := old.read(limits.MIB):
                    write_all(file.fileno(), block)
                _finish(file.fileno(), mode)
        except OSError:
            os.unlink(copy, dir_fd=dir_fd)
            raise
    return copy


def sync_directory(dir_fd: int) -> None:
    """Make the names in a directory durable, where the file system leaves that to us."""
    try:
        os.fsync(dir_fd)
    except OSError as error:
        if error.errno not in _NEEDS_NO_SYNC:
            raise


def write_all(descriptor: int, data: bytes) -> None:
    """Write a whole block to an open file. Raises the system's `OSError`."""
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]


def _finish(descriptor: int, mode: int) -> None:
    os.fchmod(descriptor, mode)
    os.fsync(descriptor)
