"""Puts the planes of a run together: what its plugins may ask of the host [D-50 to D-60]."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from stella.candidates.workspaces import Workspaces
from stella.context.recall import Recall
from stella.session.agents import Agents
from stella.session.attempts import Attempts
from stella.session.children import Children
from stella.session.options import Options
from stella.session.pipeline import Bound
from stella.session.recalling import Recalling
from stella.session.serving import Serving
from stella.session.testing import Testing
from stella.session.watching import Watching
from stella.session.workshop import Workshop
from stella.turn.allowance import RunAllowance
from stella.turn.seats import Seating

_INDEX: Final = (".stella", "private", "recall")


@dataclass(frozen=True, slots=True, kw_only=True)
class Planes:
    """What serves the plugins of one run, and the candidates to take away when it is over."""

    serving: Serving
    attempts: Attempts


def planes_of(
    bound: Bound, shop: Workshop, watching: Watching, workspaces: Workspaces, options: Options
) -> Planes:
    """Return the planes of a pipeline; nothing is made, built or started yet."""
    root = watching.root
    agents = Agents(workshop=shop)
    seating = Seating(seats=options.tiers)
    allowance = RunAllowance()
    attempts = Attempts(
        agents=agents,
        workspaces=workspaces,
        seating=seating,
        allowance=allowance,
        watching=watching,
        telling=shop.telling,
        max_steps=options.max_steps,
    )
    serving = Serving(
        members={member.name: member for member in bound.composition.members},
        telling=shop.telling,
        recalling=_recalling(root, shop, options),
        children=Children(agents=agents, seating=seating, allowance=allowance, root=root),
        testing=Testing(
            plan=bound.granting.plan,
            root=root,
            env=shop.environment,
            private=shop.private,
            telling=shop.telling,
            root_of=attempts.root_of,
        ),
        attempts=attempts,
    )
    return Planes(serving=serving, attempts=attempts)


def _recalling(root: Path, shop: Workshop, options: Options) -> Recalling:
    recall = Recall(
        root=root,
        home=options.home,
        directory=root.joinpath(*_INDEX),
        path_value=shop.path_value,
        clock=shop.clock,
        trusted=options.trusted,
    )
    return Recalling(recall=recall)
