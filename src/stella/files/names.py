"""Names and paths of files as text: which a package may have, which directories they lie in.

What is shown of a package must be what is copied, on every file system [I-4].
"""

import unicodedata
from collections.abc import Iterable

from stella.errors import PackageRefused
from stella.escape import visible


def refuse_name(path: str, name: str, twins: dict[str, str], *, reserved: str) -> None:
    """Refuse a name that cannot be shown as it is [A19], or that a file system may merge [A20].

    `name` is the last part of `path`; `twins` are the names met beside it, which it joins.
    `reserved` is a path that the host keeps for itself [I-6]. Raises `PackageRefused`.
    """
    if any(unicodedata.category(char) == "Cs" for char in name):
        raise _refused(path, "the name is not UTF-8")
    if visible(name) != name:
        raise _refused(path, "the name holds characters or spaces that do not show")
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())
    if path.casefold() == reserved:
        raise PackageRefused(
            f"{path}: the host keeps a file of that name in a plugin", "I-6", "ReservedName"
        )
    if twin := twins.get(folded):
        raise _refused(path, f'"{twin}" beside it is the same name on some file systems')
    twins[folded] = name


def above(paths: Iterable[str]) -> frozenset[str]:
    """Return every directory that a relative path of `paths` lies in."""
    found: set[str] = set()
    for path in paths:
        at = path.rstrip("/").rpartition("/")[0]
        while at and at not in found:
            found.add(at)
            at = at.rpartition("/")[0]
    return frozenset(found)


def _refused(path: str, says: str) -> PackageRefused:
    return PackageRefused(f"{visible(path)}: {says}", "I-4", "FileNameRefused")
