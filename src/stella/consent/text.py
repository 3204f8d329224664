"""The text a person reads before they accept a plugin [C-1 to C-24].

A plain function of the manifest and of where its programs were found. It shows the
declaration and infers nothing; the same declaration always gives the same bytes.

Four things go beyond the letter of those rules, so that nobody is misled: an ask above a ceiling
names the ceiling [B44, M-21]; a name that could be misread, or begins a line like one of the
host's, stands in quotation marks [C79, K-68]; one attempt at a time "writes and spends" [C-6];
characters that are drawn as nothing are shown whatever their category [C65].
"""

from dataclasses import dataclass

from stella.consent.content import content
from stella.consent.content import settings
from stella.consent.content import ships
from stella.consent.page import Page
from stella.consent.page import exact
from stella.consent.page import opening
from stella.consent.powers import powers
from stella.consent.reach import driving
from stella.consent.reach import evidence
from stella.consent.reach import reach
from stella.manifest.loop import Power
from stella.manifest.plugin import PluginManifest


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """The absolute paths found for `argv[0]` of `[runtime]` and of `[oracle] command` [C-1].

    None for a program that is not on this machine, or that the manifest does not have.
    """

    runtime: str | None = None
    oracle: str | None = None


def consent_text(manifest: PluginManifest, resolution: Resolution) -> str:
    """Return what a person is shown, lines joined by a newline, none at the end [C-1].

    Manifests that grant different things have different texts [B62, C79].
    """
    page = Page()
    _heading(page, manifest)
    page.gap()
    powers(page, manifest, resolution.runtime, resolution.oracle)
    if manifest.driver is not None:
        page.gap()
        driving(page, manifest.driver)
    if manifest.oracle is not None and manifest.loop.holds(Power.ORACLE):
        page.gap()
        evidence(page, manifest.name)
    page.gap()
    reach(page, manifest.capabilities)
    if ships(manifest):
        page.gap()
        content(page, manifest)
    if manifest.configure:
        page.gap()
        settings(page, manifest.configure)
    page.gap()
    _closing(page)
    return page.text()


def _heading(page: Page, manifest: PluginManifest) -> None:
    page.line("Install the plugin `", exact(manifest.name, "`"), "`?")
    if manifest.description is not None and manifest.description.strip():
        page.line(opening(manifest.description))


def _closing(page: Page) -> None:
    """Add whose caller the plugin is, the warning of C-4, and that nothing is granted yet."""
    page.line(
        "Each tool call it makes is attributed to it as a caller of its own and may be refused "
        "whatever your own rights are."
    )
    if page.hidden:
        page.line(r"Some text above held hidden or control characters; they are shown as \u{…}.")
    page.line("Nothing above is granted until you accept.")
