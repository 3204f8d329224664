"""What a session tells around its runs: it opened, what it offers, how it ended [J2-40]."""

from typing import Any

import msgspec

from stella.turn.facts import Fact
from stella.turn.facts import RunStatus
from stella.turn.facts import UsageTotal


class SessionOpened(Fact, frozen=True, kw_only=True):
    """A session began: where, with which model, under which mode and limits."""

    type = "session_opened"
    schema: int
    session: str
    stella: str
    workspace: str
    workspace_id: str
    surface: str
    settings: tuple[dict[str, str], ...]
    model: str
    model_source: str
    tiers: dict[str, str]
    prices: dict[str, Any]
    mode: str
    mode_source: str
    limits: dict[str, Any]
    trusted: bool


class PromptPart(Fact, frozen=True, kw_only=True):
    """One part of the system prompt and its length."""

    type = "part"
    name: str
    chars: int


class SystemPrompt(Fact, frozen=True, kw_only=True):
    """The bytes that do not change within a session [E-131]."""

    type = "system_prompt"
    sha256: str
    text: str
    parts: tuple[PromptPart, ...]


class OfferedTool(Fact, frozen=True, kw_only=True):
    """One tool as a model is told of it."""

    type = "tool"
    name: str
    origin: str
    risk: str
    read_only: bool
    description: str
    input_schema: dict[str, Any]


class ToolsOffered(Fact, frozen=True, kw_only=True):
    """The tools an agent is offered; `agent` is None for the lead."""

    type = "tools_offered"
    agent: str | None = None
    tools: tuple[OfferedTool, ...]


class RunEnded(Fact, frozen=True, kw_only=True):
    """A run is over [J2-40]."""

    type = "run_ended"
    status: RunStatus
    exit_code: int
    rounds: int
    outcome: dict[str, Any]
    usage: UsageTotal
    cost_usd: float | None = msgspec.field(default_factory=lambda: None)


class SessionClosed(Fact, frozen=True, kw_only=True):
    """The session is over; nothing follows in the journal but a resumption."""

    type = "session_closed"
    status: RunStatus
    turns: int
    usage: UsageTotal
    cost_usd: float | None = msgspec.field(default_factory=lambda: None)
