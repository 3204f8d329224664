"""The third way a project's plugin runs: the variable says so, and its text is shown once [I-34].

What is shown is recorded apart from what a person accepted and counts only while the variable
trusts the workspace [Q-3]. Only a run does this; a command that reads writes nothing [Q-12].
"""

from collections.abc import Callable

from stella.clock import Clock
from stella.errors import RosterError
from stella.escape import visible
from stella.roster import lock
from stella.roster.drift import differences
from stella.roster.lock import AcceptedBy
from stella.roster.place import token
from stella.roster.plugin import Plugin
from stella.roster.roster import Roster
from stella.roster.scope import Places
from stella.roster.scope import Scope
from stella.roster.scope import alone
from stella.roster.trust import VARIABLE


def meet(
    roster: Roster, places: Places, clock: Clock, tell: Callable[[Plugin, str, str], None]
) -> None:
    """Show and record what the variable lets run and nobody was shown yet as it is.

    `tell` gets each such plugin with a heading and a text: the whole consent text, or how the
    plugin differs from what was recorded. One whose record cannot be kept does not run; the
    reading after this one says so. `roster` was read with `by_variable`.
    """
    tier = places.tier(Scope.PROJECT).apart
    for plugin in roster.plugins:
        found = plugin.offered
        if found is None:
            continue
        if plugin.record is None:
            head, text = "nobody accepted it here", found.consent
        else:
            head = "it is not what was recorded"
            text = "\n".join(differences(plugin.acceptance))
        tell(plugin, f"{plugin.name} runs because {VARIABLE} says so; {head}:", text)
        record = found.record(AcceptedBy.ENV, clock.now())
        try:
            with alone(tier):
                lock.put(tier, record, mark=token(clock))
        except RosterError as error:
            said = f"{plugin.name} does not run: its record cannot be kept"
            tell(plugin, said, visible(str(error)))
