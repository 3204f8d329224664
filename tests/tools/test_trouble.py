"""What the system refused, in the words of a result."""

import errno
import os

import pytest

from stella.message import ErrorClass
from stella.message import Failure
from stella.tools.trouble import failure_of
from stella.tools.trouble import invalid
from stella.tools.trouble import protected
from stella.tools.trouble import together


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.ENOENT, ErrorClass.NOT_FOUND),
        (errno.ENOTDIR, ErrorClass.NOT_FOUND),
        (errno.EACCES, ErrorClass.PERMISSION_DENIED),
        (errno.EPERM, ErrorClass.PERMISSION_DENIED),
        (errno.EROFS, ErrorClass.PERMISSION_DENIED),
        (errno.EISDIR, ErrorClass.INVALID_INPUT),
        (errno.ENAMETOOLONG, ErrorClass.INVALID_INPUT),
        (errno.ENOSPC, ErrorClass.ENVIRONMENT),
        (errno.EMFILE, ErrorClass.ENVIRONMENT),
        (errno.EIO, ErrorClass.ENVIRONMENT),
    ],
)
def test_each_error_has_its_class(number: int, kind: ErrorClass) -> None:
    """T2-2."""
    failure = failure_of(OSError(number, os.strerror(number)), "a\nb")
    assert failure == Failure(message=f"a\\u{{A}}b: {os.strerror(number).lower()}", kind=kind)


def test_an_error_without_a_number_is_the_environments() -> None:
    failure = failure_of(OSError("it broke"), "a")
    assert (failure.kind, failure.message) == (ErrorClass.ENVIRONMENT, "a: it broke")


def test_our_own_refusals_name_place_and_cause() -> None:
    """A-51."""
    assert invalid("a", "no").kind is ErrorClass.INVALID_INPUT
    failure = protected("a\x1b", "no")
    assert (failure.kind, failure.cause) == (ErrorClass.REFUSED_BY_POLICY, "protected_path")
    assert failure.message == "a\\u{1B}: no"


def test_one_fault_is_itself_and_several_are_told_together() -> None:
    """T2-34: the first gives class and cause."""
    first, second = protected("a", "x"), invalid("b", "y")
    assert together([first]).error == first
    error = together([first, second]).error
    assert error is not None
    assert error.message.splitlines() == ["nothing was changed:", "a: x", "b: y"]
    assert (error.kind, error.cause) == (first.kind, first.cause)
