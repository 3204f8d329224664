"""What a plugin reaches: work outside turns, the evidence, the tools it names [C-14 to C-17]."""

from collections.abc import Iterable
from types import MappingProxyType
from typing import Final

from stella.authority.risk import Risk
from stella.consent.page import BULLET
from stella.consent.page import DETAIL
from stella.consent.page import Page
from stella.consent.page import exact
from stella.consent.page import leading
from stella.consent.page import quoted
from stella.consent.page import shown
from stella.escape import counted
from stella.manifest.capability import Capability
from stella.manifest.driver import FAMILIES
from stella.manifest.driver import Driver

_FAMILIES: Final = MappingProxyType(
    {
        "backlog": "takes, files, links and closes work items",
        "work": "starts, watches and abandons work",
        "deliver": "opens, watches and merges deliveries",
        "sweep": "audits the repository",
        "curate": "proposes, lists and accepts curated records",
    }
)
_RISKS: Final = MappingProxyType(
    {
        Risk.LOW: "easy to undo",
        Risk.MEDIUM: "changes things inside the workspace",
        Risk.HIGH: ("reaches outside the workspace or costs something version control cannot undo"),
        Risk.DESTRUCTIVE: "can destroy data or publish what cannot be taken back",
    }
)


def driving(page: Page, driver: Driver) -> None:
    """Add the work a plugin drives from outside turns, families in their order [C-14]."""
    page.line("It drives work from outside your turns.")
    if not driver.calls:
        page.line(BULLET, "asks the host for nothing")
        return
    for family in FAMILIES:
        if verbs := driver.of(family):
            listed = ", ".join(verb.value for verb in verbs)
            page.line(BULLET, f"{family}: {_FAMILIES[family]} ({listed})")
    if driver.max_calls is None:
        page.line(BULLET, "as many requests per session as the host allows")
    else:
        page.line(BULLET, f"at most {counted(driver.max_calls, 'request')} per session")
    page.line(BULLET, "the host performs all of these; the plugin holds no credentials")


def evidence(page: Page, name: str) -> None:
    """Add what the host does not verify, and what it does all the same [C-15]."""
    page.line(
        "No verification happens in base Stella: the evidence is what `",
        exact(name, "`"),
        "` reports, and the host neither runs nor re-checks it.",
    )
    page.gap()
    page.line(
        "The host applies the rule above, credits nothing that is left undecided, and watches "
        "the test files itself. It cannot tell an earned result from an invented one."
    )


def widest(capabilities: Iterable[Capability]) -> str:
    """Return the line that says how far any of these reaches [C-16]."""
    grades = [each.grade for each in capabilities]
    if not grades:
        return "It declares no reach outside the turn."
    most = max(grades, key=lambda grade: grade.rank)
    return f"Widest reach: {most.value.upper()}, {_RISKS[most]}."


def reach(page: Page, capabilities: tuple[Capability, ...]) -> None:
    """Add the widest reach and every capability in manifest order [C-16, C-17]."""
    page.line(widest(capabilities))
    if not capabilities:
        return
    page.line("It says it will use:")
    for each in capabilities:
        _capability(page, each)
    if any(each.scope for each in capabilities):
        page.gap()
        page.line("Limits are the author's claims; the permission gate does not check them.")


def _capability(page: Page, each: Capability) -> None:
    risk = each.grade.value.upper()
    page.line(BULLET, leading(each.tool, ",:"), f", {risk}: ", shown(each.purpose))
    for limit in each.scope:
        page.line(DETAIL, "claimed limit: ", shown(limit))
    if not each.graded:
        unknown = " is not a known grade and is read as destructive"
        page.line(DETAIL, "risk ", quoted(each.risk), unknown)
