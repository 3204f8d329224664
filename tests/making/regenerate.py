"""Write every generated vector anew: `python -m tests.making.regenerate`, then read the difference.

What the loader says of each manifest and what a person is shown of it goes into the file beside
it, and the corpus of messages is made from the types. A test compares each with what its maker
says now.
"""

from pathlib import Path

from stella.consent.text import Resolution
from stella.consent.text import consent_text
from stella.manifest.fault import report
from stella.manifest.fault import warning_report
from stella.manifest.read import Unloadable
from stella.manifest.read import examine
from stella.manifest.read import read_manifest
from stella.roster.shelf import MANIFEST
from tests.making import corpus
from tests.making.manifests import manifest_vectors


def expected(path: Path) -> str:
    """Return the report on a vector, an empty text when there is nothing to report [M-12]."""
    found = examine(path.read_bytes())
    faults = report(MANIFEST, found.faults) if isinstance(found, Unloadable) else ""
    parts = (faults, warning_report(MANIFEST, found.warnings))
    return "".join(f"{part}\n" for part in parts if part)


def expected_file(path: Path) -> Path:
    """Return where the report on a vector is kept."""
    return path.with_suffix(".expected.txt")


def resolution_of(path: Path) -> Resolution:
    """Where the programs of a vector were found; its name says when they were not."""
    if path.stem.endswith("-not-found"):
        return Resolution()
    return Resolution(runtime="/usr/bin/python3", oracle="/usr/bin/make")


def consent(path: Path) -> str:
    """Return the consent text of a vector and a newline [C-1]."""
    return f"{consent_text(read_manifest(path.read_bytes()).manifest, resolution_of(path))}\n"


def regenerate() -> list[Path]:
    """Rewrite the corpus and every expected file that is no longer what it was; return these."""
    changed: list[Path] = []
    for kind in ("manifest/accepted", "manifest/refused"):
        for path in manifest_vectors(kind):
            file, text = expected_file(path), expected(path)
            if not file.exists() or file.read_text("utf-8") != text:
                file.write_text(text, "utf-8")
                changed.append(file)
    for path in manifest_vectors("consent"):
        file, text = path.with_suffix(".txt"), consent(path)
        if not file.exists() or file.read_text("utf-8") != text:
            file.write_text(text, "utf-8")
            changed.append(file)
    corpus.regenerate()
    return changed


if __name__ == "__main__":
    for path in regenerate():
        print(path)
