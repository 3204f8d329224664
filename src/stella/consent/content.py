"""What a package brings and changes: tools, skills, records, settings [C-18 to C-20]."""

from collections.abc import Iterable

from stella.consent.page import BULLET
from stella.consent.page import DETAIL
from stella.consent.page import Page
from stella.consent.page import Shown
from stella.consent.page import exact
from stella.consent.page import leading
from stella.consent.page import quoted
from stella.consent.page import shown
from stella.escape import counted
from stella.manifest.package import Configure
from stella.manifest.plugin import PluginManifest
from stella.manifest.written import toml_text


def content(page: Page, manifest: PluginManifest) -> None:
    """Add what is shipped, kind by kind, and that it goes when the plugin goes [C-18, C-19]."""
    page.line("It ships content:")
    _kind(
        page,
        "tool",
        "programs the model may start on its own; they run as the plugin",
        ((each.name, each.description) for each in manifest.tools),
    )
    _kind(
        page,
        "skill",
        "added to a prompt when they match; never enforced",
        ((each.slug, each.description) for each in manifest.skills),
    )
    _kind(
        page,
        "record",
        "steer every matching turn; can never refuse a tool call",
        ((each.lineage, each.statement) for each in manifest.records),
    )
    page.line("Nothing is copied into your own directories; removing the plugin removes all of it.")


def ships(manifest: PluginManifest) -> bool:
    """Return whether the package declares content at all."""
    return bool(manifest.tools or manifest.skills or manifest.records)


def _kind(page: Page, noun: str, what: str, items: Iterable[tuple[str, str]]) -> None:
    found = tuple(items)
    if not found:
        return
    page.line(BULLET, f"{counted(len(found), noun)}: {what}")
    for name, text in found:
        page.line(DETAIL, leading(name, ":"), ": ", shown(text))


def settings(page: Page, changes: tuple[Configure, ...]) -> None:
    """Add the settings the package asks to have set, each with its value and reason [C-20]."""
    page.line(f"It changes {counted(len(changes), 'setting')}:")
    for change in changes:
        page.line(BULLET, exact(change.key), " = ", _value(change.value))
        page.line(DETAIL, "why: ", shown(change.purpose))
    page.line("Previous values are recorded and put back when the plugin is removed.")


def _value(value: object) -> Shown:
    """Return a value as TOML; its strings cannot be mistaken for others [M-57]."""
    hidden = False

    def string(text: str) -> str:
        nonlocal hidden
        piece = quoted(text)
        hidden = hidden or piece.hidden
        return piece.text

    return Shown(toml_text(value, string), hidden)
