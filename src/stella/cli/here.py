"""Where a command stands: the person's surroundings, the workspace, its trust and its settings.

Read once for a command. Nothing is started and nothing is written.
"""

from dataclasses import dataclass

from stella.cli.page import tell
from stella.errors import RosterError
from stella.escape import visible
from stella.process.environment import SESSION
from stella.roster.carried import Carried
from stella.roster.carried import carried
from stella.roster.content import SKILLS
from stella.roster.content import TOOLS
from stella.roster.left_out import left_out
from stella.roster.roster import Roster
from stella.roster.roster import read_roster
from stella.roster.scope import Places
from stella.roster.scope import places
from stella.roster.switch import Off
from stella.roster.trust import Trust
from stella.roster.trust import read_trust
from stella.settings.ambient import Ambient
from stella.settings.ambient import ambient
from stella.settings.ambient import workspace_of
from stella.settings.load import Settings
from stella.settings.load import load_to_read


@dataclass(frozen=True, slots=True, kw_only=True)
class Here:
    """A workspace as a command that only reads sees it [S2-4]."""

    around: Ambient
    where: Places
    trust: Trust
    settings: Settings

    def roster(self) -> Roster:
        """Return the plugins of this workspace, as its next session will have them [I-40]."""
        return read_roster(
            self.where,
            self.around.env.get("PATH"),
            by_variable=self.trust.by_variable,
            switched=switched_off(self.settings, self.trust),
        )

    def tell(self) -> None:
        """Tell what is wrong with the settings and the records of trust."""
        tell(*(f"notice  {notice}" for notice in (*self.trust.notices, *self.settings.notices)))

    def content(self, roster: Roster) -> Carried:
        """Return the content that counts here, once it is told what is passed over and left out.

        What is wrong with a tool or a skill is for the list of its kind.
        """
        found = carried(self.where, roster, trusted=self.trust.trusted, vouched=self.trust.files)
        if not self.trust.trusted:
            missing = self.trust.without(self.where.workspace, left_out(self.where.workspace))
            tell(*(f"notice  {text}" for text in missing))
        unlisted = (each.line for each in found.faulty if each.kind not in {TOOLS, SKILLS})
        tell(*(f"notice  {line}" for line in (*unlisted, *found.notes)))
        return found


def standing_in(workspace: str | None) -> tuple[Ambient, Places]:
    """Return the surroundings and the places of a command; raises `UsageError` [S-7, S2-43]."""
    around = ambient()
    return around, places(around.home, workspace_of(workspace, around))


def looked_at(workspace: str | None) -> Here:
    """Return all a command that reads needs to know. Raises `UsageError`."""
    around, where = standing_in(workspace)
    trust = read_trust(where, around.env)
    settings = load_to_read(around.home, where.workspace, around.env, trusted=trust.trusted)
    return Here(around=around, where=where, trust=trust, settings=settings)


def switched_off(settings: Settings, trust: Trust) -> Off:
    """Return which plugins settings switch off, as the roster takes it [I-43]."""
    return Off(person=settings.off, project=settings.project_off, trusted=trust.trusted)


def refuse_session(around: Ambient) -> None:
    """Refuse a command that a tool call of a session runs: consent is a person's [I-9].

    The tools tell their children which session they belong to. A child can take that out of its
    environment again, so this is a bar and no wall; the wall is the permission gate.
    """
    if session := around.env.get(SESSION):
        raise RosterError(
            f"{SESSION} is set ({visible(session)}): a running session cannot change what a person"
            " accepted; run it from your own shell"
        )
