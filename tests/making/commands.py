"""The command `stella` in this process, with surroundings of its own."""

from collections.abc import Iterator
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from stella.cli.main import run
from tests.making.sessions import project


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a command line came to."""

    code: int
    out: str
    err: str


@dataclass(slots=True)
class Shell:
    """A person's surroundings: a home, a workspace they stand in, and what was printed."""

    root: Path
    home: Path
    capture: pytest.CaptureFixture[str]

    def stella(self, *words: str | Path) -> Said:
        """Run one command line."""
        code = run([str(word) for word in words])
        out, err = self.capture.readouterr()
        return Said(code=code, out=out, err=err)


@contextmanager
def shell(
    tmp_path: Path, capture: pytest.CaptureFixture[str], env: Mapping[str, str] | None = None
) -> Iterator[Shell]:
    """Stand in a workspace below `tmp_path`, with `HOME` and `STELLA_HOME` beside it."""
    root, home = project(tmp_path / "work"), tmp_path / "home"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        patch.setenv("HOME", str(tmp_path))
        patch.setenv("STELLA_HOME", str(home))
        for name, value in (env or {}).items():
            patch.setenv(name, value)
        yield Shell(root, home, capture)
