"""What the operating system refused, said in the words of a tool's result [T2-2].

A refusal of our own is a `Failure` too; it is built where it is decided.
"""

import errno
from collections.abc import Sequence
from typing import Final

from stella.message import ErrorClass
from stella.message import Failure
from stella.message import Output
from stella.tools.text import path_shown

PROTECTED: Final = "protected_path"

_CLASSES: Final = {
    errno.ENOENT: ErrorClass.NOT_FOUND,
    errno.ENOTDIR: ErrorClass.NOT_FOUND,
    errno.EACCES: ErrorClass.PERMISSION_DENIED,
    errno.EPERM: ErrorClass.PERMISSION_DENIED,
    errno.EROFS: ErrorClass.PERMISSION_DENIED,
    errno.EISDIR: ErrorClass.INVALID_INPUT,
    errno.ENAMETOOLONG: ErrorClass.INVALID_INPUT,
}


def failure_of(error: OSError, path: str) -> Failure:
    """Return an operating system error about `path` as a failure: place first, then the words.

    What is not about the file itself (disk full, too many open files) is `environment`.
    """
    kind = _CLASSES.get(error.errno or 0, ErrorClass.ENVIRONMENT)
    reason = (error.strerror or str(error)).lower()
    return Failure(message=f"{path_shown(path)[0]}: {reason}", kind=kind)


def invalid(path: str, message: str) -> Failure:
    """Return a failure of the arguments about `path`."""
    return Failure(message=f"{path_shown(path)[0]}: {message}", kind=ErrorClass.INVALID_INPUT)


def protected(path: str, message: str) -> Failure:
    """Return the refusal to touch `path`, whatever the mode and the rules say [T2-31, T2-32]."""
    message = f"{path_shown(path)[0]}: {message}"
    return Failure(message=message, kind=ErrorClass.REFUSED_BY_POLICY, cause=PROTECTED)


def together(faults: Sequence[Failure]) -> Output:
    """Return all faults of a call as one result; the first gives class and cause [T2-34]."""
    first, *others = faults
    if not others:
        return Output(error=first)
    message = "nothing was changed:\n" + "\n".join(fault.message for fault in faults)
    return Output(error=Failure(message=message, kind=first.kind, cause=first.cause))
