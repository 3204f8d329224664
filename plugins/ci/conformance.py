"""Run a plugin against the vectors of `plugins/testdata` and say where it differs.

    conformance.py --plugin DIR [--testdata DIR]
    conformance.py [--testdata DIR] -- ARGV...

With `--plugin` the command comes from `plugin.toml` and runs in that directory, the way a
host starts it; with `--` it is the given one and runs here. Either way `PATH` is its whole
environment. Standard library only and independent of the host, so that an author of a
plugin in any language can use it alone. Exit 0 when every vector passed, 1 when one failed
or the vectors themselves are not usable, 2 for a wrong command line.
"""

import argparse
import contextlib
import difflib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

VECTOR_SECS = 60.0
GRACE_SECS = 1.0
U64_MAX = 2**64 - 1
TESTDATA = Path(__file__).resolve().parent.parent / "testdata"
ROOT = b"${workspace_root}"
UNCOMPARED = "test-duration-ms"
PARTS = ("request.json", "expected.json", "refusal.txt", "calls.json", "stderr.txt", "workspace")
NAME = re.compile(r"\d\d-[a-z0-9-]+")


class UnusableError(Exception):
    """The vectors or the plugin cannot be used; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """What is started for each vector: a command and the directory it runs in."""

    argv: tuple[str, ...]
    directory: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How one process of the plugin ended; no `code` when the deadline passed first."""

    code: int | None
    stdout: bytes = b""
    stderr: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vector:
    """One request and the one way in which a plugin must meet it [K-200]."""

    folder: Path
    name: str

    def part(self, suffix: str) -> Path:
        """Return the path of one file of this vector, which need not exist."""
        return self.folder / f"{self.name}.{suffix}"


def main(words: Sequence[str]) -> int:
    """Run every vector and return the exit status."""
    try:
        plugin, folder = command_line(words)
        vectors = found(folder)
    except UnusableError as error:
        print(f"conformance: {error}", file=sys.stderr)
        return 1
    failed = 0
    for vector in vectors:
        faults = list(check(plugin, vector))
        failed += bool(faults)
        print(f"{'FAIL' if faults else 'ok  '} {vector.name}", flush=True)
        for line in faults:
            print(f"     {line}", flush=True)
    print(f"{len(vectors) - failed} passed, {failed} failed")
    return 1 if failed else 0


def command_line(words: Sequence[str]) -> tuple[Plugin, Path]:
    """Return the plugin and the folder of vectors that the command line names."""
    cut = words.index("--") if "--" in words else len(words)
    given = words[cut + 1 :]
    parser = argparse.ArgumentParser(
        prog="conformance.py", usage="%(prog)s [--testdata DIR] (--plugin DIR | -- ARGV...)"
    )
    parser.add_argument("--plugin", type=Path)
    parser.add_argument("--testdata", type=Path, default=TESTDATA)
    options = parser.parse_args(words[:cut])
    if (options.plugin is None) == (not given):
        parser.error("name the plugin: either --plugin DIR or -- ARGV...")
    if options.plugin is None:
        return Plugin(argv=tuple(given), directory=Path.cwd()), options.testdata
    return declared(options.plugin.resolve()), options.testdata


def declared(directory: Path) -> Plugin:
    """Return the plugin as its manifest declares it, `${plugin_dir}` replaced [M-34]."""
    manifest = directory / "plugin.toml"
    try:
        argv = tomllib.loads(manifest.read_text("utf-8"))["runtime"]["argv"]
    except (OSError, ValueError, KeyError) as error:
        raise UnusableError(f"{manifest}: no [runtime] argv can be read: {error!r}") from error
    words = tuple(word.replace("${plugin_dir}", str(directory)) for word in argv)
    return Plugin(argv=words, directory=directory)


def found(folder: Path) -> list[Vector]:
    """Return the vectors of a folder by name, or raise when it is not a set of vectors."""
    suffixes = {path: part for part in PARTS for path in folder.glob(f"*.{part}")}
    names = sorted({path.name.removesuffix(f".{part}") for path, part in suffixes.items()})
    vectors = [Vector(folder=folder, name=name) for name in names]
    if not vectors:
        raise UnusableError(f"{folder}: holds no vector, no file named NN-name.request.json")
    for vector in vectors:
        if not NAME.fullmatch(vector.name):
            raise UnusableError(f"{vector.name}: a vector is named like 07-two-digits-and-words")
        if not vector.part("request.json").is_file():
            raise UnusableError(f"{vector.name}: has no {vector.name}.request.json")
        outcomes = [vector.part(part).is_file() for part in ("expected.json", "refusal.txt")]
        if outcomes.count(True) != 1:
            which = "both" if all(outcomes) else "neither"
            raise UnusableError(
                f"{vector.name}: needs exactly one of expected.json and refusal.txt, has {which}"
            )
    return vectors


def check(plugin: Plugin, vector: Vector) -> Iterator[str]:
    """Yield what is wrong with the plugin's answer to one vector; nothing when it is right."""
    if vector.part("calls.json").exists():
        yield "a vector with calls.json: host calls are not run by this program yet"
        return
    with tempfile.TemporaryDirectory(prefix="conformance-", ignore_cleanup_errors=True) as fresh:
        workspace = Path(fresh).resolve() / "workspace"
        if vector.part("workspace").is_dir():
            shutil.copytree(vector.part("workspace"), workspace)
        else:
            workspace.mkdir()
        place = json.dumps(str(workspace), ensure_ascii=False)[1:-1].encode()
        request = vector.part("request.json").read_bytes().replace(ROOT, place)
        ended = start(plugin, request)
    if ended.code is None:
        yield f"did not end within {VECTOR_SECS:.0f} s"
    elif vector.part("refusal.txt").is_file():
        yield from refused(vector, ended)
    else:
        yield from answered(vector, ended)


def start(plugin: Plugin, request: bytes) -> Ended:
    """Run the plugin once; its whole process group has ended when this returns."""
    environment = {"PATH": os.environ.get("PATH", "")}
    try:
        child = subprocess.Popen(
            plugin.argv,
            cwd=plugin.directory,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        return Ended(code=-1, stderr=f"{plugin.argv[0]} did not start: {error}".encode())
    with child:
        try:
            stdout, stderr = child.communicate(request, timeout=VECTOR_SECS)
        except subprocess.TimeoutExpired:
            child.terminate()  # a plugin that minds it ends what it started itself
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(GRACE_SECS)
            return Ended(code=None)
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):  # nobody is left
                os.killpg(child.pid, signal.SIGKILL)
    return Ended(code=child.returncode, stdout=stdout, stderr=stderr)


def refused(vector: Vector, ended: Ended) -> Iterator[str]:
    """Yield how a process differs from a refusal: one line on stderr, no answer [W-29]."""
    if ended.code is None or ended.code <= 0:
        yield f"expected a non-zero exit status, got {ended.code}"
    if ended.stdout:
        yield f"expected nothing on stdout, got {ended.stdout[:200]!r}"
    yield from differs(vector.part("refusal.txt"), ended.stderr)


def answered(vector: Vector, ended: Ended) -> Iterator[str]:
    """Yield how a process differs from exit 0 with the one expected JSON value."""
    if ended.code != 0:
        yield f"expected exit status 0, got {ended.code}"
        yield f"stderr: {ended.stderr[-400:].decode('utf-8', 'replace')!r}"
        return
    if vector.part("stderr.txt").is_file():
        yield from differs(vector.part("stderr.txt"), ended.stderr)
    expected = strict(vector.part("expected.json").read_bytes())
    try:
        answer = strict(ended.stdout)
    except ValueError as error:
        yield f"stdout is not one JSON document: {error}: {ended.stdout[:200]!r}"
        return
    yield from uncompared(expected, answer)
    yield from diff(pretty(expected), pretty(answer))


def differs(path: Path, stderr: bytes) -> Iterator[str]:
    """Yield the difference of stderr and a file; both are compared trimmed."""
    wanted = path.read_text("utf-8").strip().splitlines()
    yield from diff(wanted, stderr.decode("utf-8", "replace").strip().splitlines())


def strict(data: bytes) -> Any:
    """Return the one JSON document in `data`, or raise `ValueError`."""

    def table(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) != len(pairs):
            raise ValueError("a key stands twice in one object")
        return dict(pairs)

    def constant(name: str) -> None:
        raise ValueError(f"{name} is no JSON")

    return json.loads(data.decode("utf-8"), object_pairs_hook=table, parse_constant=constant)


def uncompared(expected: Any, answer: Any) -> Iterator[str]:
    """Yield when the duration is no u64; make it equal in both values when it is [K-202]."""
    holders = []
    for value in (expected, answer):
        holder = value
        for key in ("body", "evidence", "measurements"):
            holder = holder.get(key) if isinstance(holder, dict) else None
        holders.append(holder if isinstance(holder, dict) else {})
    wanted, given = holders
    if UNCOMPARED not in wanted or UNCOMPARED not in given:
        return
    number = given[UNCOMPARED]
    if type(number) is not int or not 0 <= number <= U64_MAX:
        yield f"expected an unsigned 64-bit integer as {UNCOMPARED}, got {number!r}"
    given[UNCOMPARED] = wanted[UNCOMPARED]


def pretty(value: Any) -> list[str]:
    """Return a JSON value as lines; equal lines mean equal values, `1` and `1.0` differ."""
    return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False).splitlines()


def diff(expected: list[str], got: list[str]) -> Iterator[str]:
    """Yield a unified difference, nothing when the lines are equal."""
    return difflib.unified_diff(expected, got, "expected", "got", lineterm="")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
