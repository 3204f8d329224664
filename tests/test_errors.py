import pytest

from stella import errors


def subclasses(kind: type[errors.StellaError]) -> list[type[errors.StellaError]]:
    return [kind, *(each for child in kind.__subclasses__() for each in subclasses(child))]


@pytest.mark.parametrize("kind", subclasses(errors.StellaError))
def test_every_error_has_a_code_and_an_exit_code(kind: type[errors.StellaError]) -> None:
    """[S-10, S-23]"""
    assert kind.code
    assert kind.exit_code == (2 if issubclass(kind, errors.UsageError) else 1)


def test_the_docstring_lists_the_whole_family() -> None:
    for kind in subclasses(errors.StellaError):
        assert kind.__name__ in (errors.__doc__ or "")


def test_a_message_is_kept() -> None:
    error = errors.UsageError("say how")
    assert (error.message, str(error)) == ("say how", "say how")


def test_a_shape_error_holds_every_fault() -> None:
    error = errors.ShapeError(["a: x", "b: y"])
    assert error.faults == ("a: x", "b: y")
    assert str(error) == "a: x; b: y"
