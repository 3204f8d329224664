"""What must hold before a file is changed."""

import asyncio
import stat
from contextlib import ExitStack
from pathlib import Path

import pytest

from stella import limits
from stella.authority.risk import Risk
from stella.message import ErrorClass
from stella.message import Failure
from stella.tools.change import known
from stella.tools.change import mode_of
from stella.tools.change import risk_of
from stella.tools.change import to_change
from stella.tools.change import too_large
from stella.tools.change import twice
from stella.tools.change import writable
from stella.tools.paths import Spot
from tests.making.hands import hands


def spot(place: Path, path: str, held: ExitStack, *, whole: bool = True) -> Spot | Failure:
    own = held.enter_context(hands(place))
    for name in ("read", "part"):
        if (place / name).exists():
            own.text("read_file", path=name, limit=1)
    return asyncio.run(to_change(path, own.context, held, whole=whole))


def test_a_new_file_needs_nothing_and_an_old_one_a_read(tmp_path: Path) -> None:
    """T2-33."""
    (tmp_path / "read").write_text("1\n")
    (tmp_path / "part").write_text("1\n2\n")
    (tmp_path / "unread").write_text("1\n")
    with ExitStack() as held:
        assert isinstance(spot(tmp_path, "new", held), Spot)
        assert isinstance(spot(tmp_path, "read", held), Spot)
        assert isinstance(spot(tmp_path, "part", held, whole=False), Spot)
        for path, words in {"part": "edit_file", "unread": "edit_file"}.items():
            failure = spot(tmp_path, path, held)
            assert isinstance(failure, Failure)
            assert (failure.cause, words in failure.message) == ("not_read", True)
        failure = spot(tmp_path, "unread", held, whole=False)
        assert isinstance(failure, Failure)
        assert failure.message == "unread: read it with read_file first"


def test_a_file_that_went_away_since_it_was_found_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "read").write_text("1\n")
    with ExitStack() as held:
        place = spot(tmp_path, "read", held)
        assert isinstance(place, Spot)
        (tmp_path / "read").unlink()
        own = held.enter_context(hands(tmp_path))
        failure = asyncio.run(known(place, own.context.seen, whole=False))
        assert failure is not None
        assert failure.kind is ErrorClass.NOT_FOUND
        (tmp_path / "read").mkdir()
        failure = asyncio.run(known(place, own.context.seen, whole=False))
        assert failure is not None
        assert failure.kind is ErrorClass.INVALID_INPUT


def test_what_is_not_there_yet_is_writable(tmp_path: Path) -> None:
    with ExitStack() as held:
        place = spot(tmp_path, "new", held)
        assert isinstance(place, Spot)
        assert writable(place) is None
        assert too_large(place, limits.WRITE_BYTES) is None
        assert too_large(place, limits.WRITE_BYTES + 1) is not None


def test_every_repetition_is_a_fault(tmp_path: Path) -> None:
    """T2-34."""
    with ExitStack() as held:
        found = [spot(tmp_path, path, held) for path in ("a", "b", "./a", "../c", "a")]
        assert [fault.message.partition(":")[0] for fault in twice(found)] == ["a", "a"]


@pytest.mark.parametrize(
    ("bits", "kept"), [(0o600, 0o600), (0o755, 0o755), (0o6755, 0o755), (0o1666, 0o666)]
)
def test_the_mode_of_a_file_is_kept_without_the_bits_that_lend_rights(
    tmp_path: Path, bits: int, kept: int
) -> None:
    """T2-13."""
    (tmp_path / "a").touch()
    (tmp_path / "a").chmod(bits)
    status = (tmp_path / "a").stat()
    assert stat.S_IMODE(status.st_mode) == bits
    assert mode_of(status) == kept
    assert mode_of(None) == 0o644


def test_the_worst_path_decides_the_grade(tmp_path: Path) -> None:
    """T2-32."""
    with hands(tmp_path) as own:
        assert risk_of(["a", "b"], own.context, Risk.MEDIUM) is Risk.MEDIUM
        assert risk_of(["a", ".stella/x"], own.context, Risk.MEDIUM) is Risk.DESTRUCTIVE
        assert risk_of([], own.context, Risk.LOW) is Risk.LOW
