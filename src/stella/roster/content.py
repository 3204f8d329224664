"""What this release does not install yet: a plugin that carries content [P-1, P-3].

A package with content is refused as a whole, because a part that lands unused is a part that
nobody accepted.
"""

from typing import Final

from stella.errors import PackageRefused
from stella.files.kind import Kind
from stella.files.tree import Package
from stella.manifest.plugin import PluginManifest

_DIRECTORIES: Final = ("tools", "skills", "rules")


def refuse_content(manifest: PluginManifest, package: Package) -> None:
    """Raise `PackageRefused` with all that is declared or shipped and cannot be installed yet."""
    tables = (
        ("[[tools]]", manifest.tools),
        ("[[skills]]", manifest.skills),
        ("[[records]]", manifest.records),
    )
    found = [name for name, entries in tables if entries]
    found += [
        f"{entry.path}/"
        for entry in package.entries
        # A file system that ignores case would let a later release read them.
        if entry.kind is Kind.DIRECTORY and entry.path.casefold() in _DIRECTORIES
    ]
    if found:
        raise PackageRefused(
            f"the package has {', '.join(found)}; this release installs plugins without content: "
            "no [[tools]], [[skills]] or [[records]], no directory tools/, skills/ or rules/",
            "P-1",
            "ContentRefused",
        )
