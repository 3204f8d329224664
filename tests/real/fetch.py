"""Fetches the source of a published release without running anything of it.

Only wheels are taken: pip copies a wheel as it is, while the metadata of a source archive is
made by running its build. The digest is checked before the archive is opened, and nothing of
an archive can land outside the folder that the caller names.
"""

import hashlib
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Final

MEMBERS: Final = 5_000
UNPACKED_BYTES: Final = 64 * 1024 * 1024
PIP_SECONDS: Final = 100

_KINDS: Final = (0, stat.S_IFREG, stat.S_IFDIR)
_ENCRYPTED: Final = 0x1


class FetchError(Exception):
    """A release could not be had, or is not the one that was asked for."""


class UnsafeArchiveError(FetchError):
    """An archive holds something that must not be unpacked; nothing of it was."""


def source(package: str, version: str, sha256: str, cache: Path) -> Path:
    """Return the folder with the unpacked wheel of one release, fetching it only once.

    The folder lies below `cache`, is shared by every caller and must not be written to.
    Raises `FetchError` when the release cannot be had or its digest is another.
    """
    tree = cache / f"{package}-{version}"
    if not tree.is_dir():
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            archive = download(package, version, Path(folder))
            verify(archive, sha256)
            unpack(archive, tree)
    return tree


def download(package: str, version: str, folder: Path) -> Path:
    """Return the wheel of one release, put into the empty `folder` by pip.

    Only a wheel for every platform is accepted, so that all machines get the same file.
    """
    words = (
        *(sys.executable, "-I", "-m", "pip", "download", "--quiet", "--no-input"),
        *("--disable-pip-version-check", "--retries=2", "--timeout=20"),
        *("--no-deps", "--only-binary=:all:", "--platform=any", "--implementation=py"),
        *("--abi=none", f"--dest={folder}", f"{package}=={version}"),
    )
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, timeout=PIP_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise FetchError(f"{package} {version}: pip took over {PIP_SECONDS} s") from error
    found = sorted(folder.iterdir())
    if done.returncode != 0 or len(found) != 1:
        said = done.stderr.strip() or f"{len(found)} files came"
        raise FetchError(f"{package} {version}: pip ended with {done.returncode}: {said}")
    return found[0]


def verify(archive: Path, sha256: str) -> None:
    """Raise `FetchError` unless the file's SHA-256 is `sha256` (lower-case hex)."""
    with archive.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != sha256:
        raise FetchError(f"{archive.name}: expected sha256 {sha256}, got {found}")


def unpack(archive: Path, target: Path) -> None:
    """Unpack a wheel as the new folder `target`, whole or not at all.

    Raises `UnsafeArchiveError` for links, devices, encrypted members, names that are not plain
    paths below the root or come twice, more than `MEMBERS` members and more than
    `UNPACKED_BYTES` bytes.
    """
    with (
        zipfile.ZipFile(archive) as wheel,
        tempfile.TemporaryDirectory(dir=target.parent) as folder,
    ):
        members = wheel.infolist()
        _check(archive.name, members)
        root = Path(folder) / "tree"
        root.mkdir()
        for member in members:
            path = root / member.filename
            if member.is_dir():
                path.mkdir(parents=True, exist_ok=True)
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            # The reader gives no more than the size that was checked, and fails on a wrong CRC.
            with wheel.open(member) as packed, path.open("xb") as file:
                shutil.copyfileobj(packed, file)
        root.rename(target)


def _check(archive: str, members: list[zipfile.ZipInfo]) -> None:
    if len(members) > MEMBERS:
        raise UnsafeArchiveError(f"{archive}: {len(members)} members, at most {MEMBERS} allowed")
    size = sum(member.file_size for member in members)
    if size > UNPACKED_BYTES:
        raise UnsafeArchiveError(f"{archive}: {size} bytes, at most {UNPACKED_BYTES} allowed")
    seen: set[str] = set()
    for member in members:
        fault = _fault(member)
        if fault is None and member.filename in seen:
            fault = "comes twice"
        if fault is not None:
            raise UnsafeArchiveError(f"{archive}: {member.orig_filename!r} {fault}")
        seen.add(member.filename)


def _fault(member: zipfile.ZipInfo) -> str | None:
    name = member.filename
    if name != member.orig_filename or "\\" in name or ":" in name:
        return "is not a plain path"
    if name.startswith("/"):
        return "is an absolute path"
    if any(part in ("", os.curdir, os.pardir) for part in name.removesuffix("/").split("/")):
        return "has an empty, '.' or '..' component"
    if stat.S_IFMT(member.external_attr >> 16) not in _KINDS:
        return "is neither a file nor a folder"
    if member.flag_bits & _ENCRYPTED:
        return "is encrypted"
    return None
