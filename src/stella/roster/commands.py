"""The programs that tools of a package start, as far as the package holds them [P-12, G7, G8].

Looked at when a package is shown to a person and at every load. Files are read and none is run.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from stella.errors import PackageRefused
from stella.escape import brief
from stella.escape import visible
from stella.files.tree import Package
from stella.manifest.runtime import PLUGIN_DIR
from stella.roster.content import Content
from stella.roster.reconcile import Finding
from stella.roster.start import own_program
from stella.roster.start import program_fault
from stella.roster.start import spoiled_first_line


def unstartable(content: Content, package: Package, directory: Path) -> Iterator[Finding]:
    """Yield a finding for each tool whose own program is missing or may not be executed [G7].

    What is given without `${plugin_dir}` is not the package's to hold, and no finding.
    """
    for each in content.tools:
        word = each.value.command[0]
        fault = program_fault(word, package, directory) if PLUGIN_DIR in word else None
        if fault is not None:
            yield Finding(
                path=each.path,
                kind="tool",
                identity=each.value.name,
                rule="P-15",
                word="ProgramRefused",
                says=f'command[0] = "{brief(word)}": {fault}',
            )


def doubtful(content: Content, package: Package, directory: Path, root: int) -> Iterator[str]:
    """Yield a warning for each script that no system can start and each file that is not there.

    `root` is the open package; only a program itself knows what its other words mean [M-9, G8].
    """
    for each in content.tools:
        word, *others = each.value.command
        inner = own_program(word, directory) if PLUGIN_DIR in word else None
        try:
            odd = None if inner is None else spoiled_first_line(root, inner)
        except PackageRefused as error:
            odd = str(error)
        if odd is not None:
            yield f"{visible(each.path)}: {odd}"
        for at, other in enumerate(others, 1):
            path = other.removeprefix(f"{PLUGIN_DIR}/")
            if path != other and path.strip("/.") and not package.entry(os.path.normpath(path)):
                where = f"{visible(each.path)}: command[{at}]"
                yield f'{where}: the package has no file "{brief(path)}"'
