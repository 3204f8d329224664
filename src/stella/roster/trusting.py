"""A person's yes to a workspace, and taking it back [I-52, I-57].

What is recorded is what was shown: everything is looked at again after the answer, and a
difference records nothing. Nothing here prints or asks.
"""

from collections.abc import Callable
from dataclasses import dataclass

from stella import limits
from stella.clock import Clock
from stella.errors import Untrusted
from stella.escape import listed
from stella.roster import lock
from stella.roster.contribution import Contribution
from stella.roster.contribution import HookEntries
from stella.roster.contribution import contribution
from stella.roster.items import differing
from stella.roster.lock import AcceptedBy
from stella.roster.place import token
from stella.roster.scope import Places
from stella.roster.scope import Scope
from stella.roster.scope import alone
from stella.roster.trust_file import drop_trusted
from stella.roster.trust_file import path_text
from stella.roster.trust_file import put_trusted
from stella.roster.trust_file import trusted_now


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What a yes came to: the plugins that it accepted by name, and what else to tell."""

    plugins: tuple[str, ...]
    notices: tuple[str, ...] = ()


def trust_workspace(
    places: Places,
    path_value: str | None,
    hook_entries: HookEntries,
    ask: Callable[[Contribution], bool],
    clock: Clock,
) -> Done | None:
    """Record a yes to all that the workspace contributes; None when `ask` says no [I-52].

    Each plugin without a record gets one of its own [I-34]. Raises `Untrusted` when nothing can
    be trusted or something changed meanwhile, `RosterError` for what the system refuses, and
    whatever `ask` raises; a plugin's record may be there then, the trust is not.
    """
    before = contribution(places, path_value, hook_entries)
    here = trusted_now(places.workspace, before.items, clock.now())
    if not ask(before):
        return None
    after = contribution(places, path_value, hook_entries)
    changed = differing(before.marks, after.marks)
    again = trusted_now(places.workspace, after.items, clock.now())
    same = (here.device, here.inode) == (again.device, again.inode) and before.text == after.text
    if changed or not same:
        shown = listed(changed, limits.CHANGED_PATHS_SHOWN) or "the directory, or what is in it"
        raise Untrusted(f"it changed while the question was open: {shown}; nothing was recorded")
    mark = token(clock)
    tier = places.tier(Scope.PROJECT)
    with alone(tier):
        for each in before.offers:
            lock.put(tier, each.record(AcceptedBy.TRUST, clock.now()), mark=token(clock))
    notice = put_trusted(places.home, again, mark=mark)
    return Done(
        plugins=tuple(each.name for each in before.offers),
        notices=() if notice is None else (notice,),
    )


def revoke(places: Places, clock: Clock) -> bool:
    """Forget that this workspace was trusted and return whether it was [I-57].

    Sessions that are open keep what they read when they opened. Raises `RosterError`.
    """
    return drop_trusted(places.home, path_text(places.workspace), mark=token(clock))
