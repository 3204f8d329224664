"""What every question about a plugin has in common, whichever command asks it [I-2, I-33, I-34]."""

import os
from collections.abc import Mapping

from stella import limits
from stella.consent.text import Resolution
from stella.consent.text import consent_text
from stella.errors import PackageRefused
from stella.escape import visible
from stella.manifest.plugin import PluginManifest
from stella.roster.scope import Places
from stella.roster.scope import Scope
from stella.roster.scope import entered
from stella.roster.shelf import shelf


def text_of(manifest: PluginManifest, found: Resolution) -> str:
    """Return the consent text; raises `PackageRefused` when it is longer than anybody reads."""
    text = consent_text(manifest, found)
    size = len(text.encode())
    if size > limits.CONSENT_BYTES:
        said = f"the consent text has {size} bytes, more than anybody reads; the limit is "
        raise PackageRefused(f"{said}{limits.CONSENT_BYTES}", "I-2", "TooLong")
    return text


def recordable(program: str | None) -> str | None:
    """Return the path if TOML can hold it exactly: a system's path need not be UTF-8."""
    if program is None or program != os.fsencode(program).decode(errors="replace"):
        return None
    return program


def other_copies(places: Places, scope: Scope) -> Mapping[str, str]:
    """Return for each name in the other tier which copy will be used [I-2, step 9; I-42]."""
    found: dict[str, str] = {}
    for tier in places.tiers:
        if tier.scope is scope:
            continue
        with entered(tier, make=False) as directory:
            standing, _ = shelf(tier, directory)
        for each in standing:
            if each.declared is not None:
                at = visible(str(each.directory))
                found.setdefault(
                    each.declared,
                    f"{visible(each.declared)} is in the {tier.scope.value} scope too, at {at}; in "
                    "this workspace the copy of the project scope is used, not the one of the "
                    "user scope",
                )
    return found
