"""The public face: what an embedding program may use, sorted, and nothing happens at import."""

import subprocess
import sys

import stella


def test_the_public_names_are_sorted_and_exist() -> None:
    assert list(stella.__all__) == sorted(stella.__all__)
    for name in stella.__all__:
        assert hasattr(stella, name)


def test_importing_stella_loads_none_of_its_rooms_and_prints_nothing() -> None:
    program = (
        "import sys, stella; print([m for m in sys.modules if m.startswith('stella.')], end='')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]"
    assert done.stderr == ""
