"""What every agent of a session shares, and the hands each one gets from it.

The lead works in the workspace, a candidate's agent in its own copy; both with the same model
settings, the same mode and the same gate.
"""

import hashlib
import platform
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from dataclasses import field
from errno import ENOTDIR
from pathlib import Path

from stella import codec
from stella.authority.gate import Mode
from stella.clock import Clock
from stella.process.git import Repository
from stella.providers.provider import Model
from stella.session.facts import OfferedTool
from stella.session.facts import PromptPart
from stella.session.facts import SystemPrompt
from stella.session.facts import ToolsOffered
from stella.session.hands import Hands
from stella.session.hooked import NOBODY
from stella.session.hooked import Hooked
from stella.session.steered import NOTHING
from stella.session.steered import Steered
from stella.session.telling import Telling
from stella.session.watching import Granting
from stella.session.watching import Watching
from stella.tools.all import TOOLS
from stella.tools.paths import held_root
from stella.tools.seen import Seen
from stella.tools.tool import Offered
from stella.tools.tool import ToolContext
from stella.tools.toolbox import Toolbox
from stella.turn.prompt import BASE
from stella.turn.prompt import system_prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class Workshop:
    """The means of one session; `models` are those of the seats that have one of their own.

    `tools` are all that the lead is offered [P-14].
    `environment` is the children's, already without what they must not see [T2-45]; `path_value`
    is where the host looks programs up.
    """

    telling: Telling
    clock: Clock
    model: Model
    mode: Mode
    environment: Mapping[str, str]
    path_value: str
    umask: int
    models: Mapping[str, Model] = field(default_factory=dict)
    hooked: Hooked = NOBODY
    steered: Steered = NOTHING
    tools: tuple[Offered, ...] = TOOLS

    @property
    def session(self) -> str:
        """The session's id, under which its files lie."""
        return self.private.name

    @property
    def private(self) -> Path:
        """The session's own directory."""
        return self.telling.journal.path.parent

    @contextmanager
    def hands(
        self,
        root: Path,
        tools: Sequence[Offered],
        principal: str,
        granting: Granting | None = None,
        within: Repository | None = None,
    ) -> Iterator[Hands]:
        """Give an agent its hands in a canonical `root`; they end with the block.

        `within` is the repository of a copy whose own word for it is not to be trusted. Raises
        `OSError` when the root is gone, or leads elsewhere by now.
        """
        with held_root(str(root)) as held:
            if held.path != str(root):
                raise NotADirectoryError(ENOTDIR, "another directory is in its place", str(root))
            context = ToolContext(
                root=held,
                environment=self.environment,
                clock=self.clock,
                seen=Seen(),
                session_id=self.session,
                umask=self.umask,
            )
            yield Hands(
                telling=self.telling,
                clock=self.clock,
                model_port=self.model,
                models=self.models,
                toolbox=Toolbox(tools, context),
                mode=self.mode,
                principal=principal,
                hooked=self.hooked,
                guards=self.steered.guards,
                watching=Watching(
                    root=root,
                    env=self.environment,
                    path_value=self.path_value,
                    private=self.private,
                    clock=self.clock,
                    telling=self.telling,
                    granting=granting,
                    within=within,
                ),
            )

    def introduce(
        self,
        hands: Hands,
        *,
        seat: str,
        agent: str | None = None,
        more: str = "",
        context: str = "",
    ) -> str:
        """Tell an agent's system prompt and tools and return the prompt [E-130, E-131].

        `more` is what the prompt says besides to an agent that is not the lead, `context` the
        text of hooks for the lead [D-64].
        """
        model = self.models.get(seat, self.model).name
        environment = self._environment(hands.watching.root, model)
        agents, pinned = self.steered.agents, self.steered.pinned
        text = system_prompt(environment, agents=agents, pinned=pinned, context=context)
        named = (
            ("base", BASE),
            ("environment", environment),
            ("agents", agents),
            ("records", pinned),
            ("session_context", context),
        )
        parts = [PromptPart(name=name, chars=len(part)) for name, part in named if part]
        if more:
            text = f"{text}\n\n{more}"
            parts.append(PromptPart(name="agent", chars=len(more)))
        digest = hashlib.sha256(text.encode()).hexdigest()
        self.telling.tell(agent, SystemPrompt(sha256=digest, text=text, parts=tuple(parts)))
        self.telling.tell(agent, ToolsOffered(agent=agent, tools=_offered(hands)))
        return text

    def _environment(self, root: Path, model: str) -> str:
        versioned = "yes" if (root / ".git").exists() else "no"
        return "\n".join(
            (
                f"workspace root: {root}",
                f"under version control: {versioned}",
                f"operating system: {platform.system()}",
                f"date: {self.clock.now():%Y-%m-%d}",
                f"model: {model}",
            )
        )


def _offered(hands: Hands) -> tuple[OfferedTool, ...]:
    return tuple(
        OfferedTool(
            name=c.name,
            origin=c.origin,
            risk=c.risk.value,
            read_only=c.read_only,
            description=c.description,
            input_schema=c.input_schema,
        )
        for c in hands.toolbox.contracts
    )


def tools_digest(hands: Hands) -> str:
    """Return the digest of the tools as the model is told of them [J2-41]."""
    return hashlib.sha256(codec.canonical(hands.schemas)).hexdigest()


def side_by_side(hands: Hands) -> frozenset[str]:
    """Return the tools that may run beside others: the trusted read-only ones [A-5, E-20]."""
    return frozenset(c.name for c in hands.toolbox.contracts if c.trusted_read_only)
