"""Events a manifest may name: the host's catalogue and the three forms of a pattern [M-18, H-20].

Nothing here subscribes anybody; it says what a pattern means and which names exist.
"""

import re
from typing import Final

from stella import limits

ANY: Final = "*"
BELOW: Final = ".*"
FOREIGN: Final = ("plugin.", "host.")
"""Prefixes under which names are made by plugins and embedders, so any name may exist [M-20]."""

CATALOGUE: Final = (
    "session.created",
    "session.started",
    "session.paused",
    "session.resumed",
    "session.cancel_requested",
    "session.cancelled",
    "session.completed",
    "session.failed",
    "agent.turn.started",
    "agent.turn.completed",
    "agent.step.started",
    "agent.step.completed",
    "agent.message.delta",
    "agent.thinking.delta",
    "agent.message.completed",
    "agent.error",
    "transcript.entry.created",
    "model.request.started",
    "model.request.completed",
    "model.request.failed",
    "model.rate_limited",
    "model.context.compacted",
    "tool.registered",
    "tool.call.requested",
    "tool.call.validated",
    "tool.call.started",
    "tool.call.completed",
    "tool.call.failed",
    "tool.call.cancelled",
    "policy.evaluated",
    "policy.allowed",
    "policy.blocked",
    "approval.requested",
    "approval.granted",
    "approval.denied",
    "approval.expired",
    "secret.detected",
    "sensitive_operation.detected",
    "workspace.opened",
    "file.read",
    "file.created",
    "file.updated",
    "file.deleted",
    "file.diff.computed",
    "files_touched.updated",
    "command.started",
    "command.completed",
    "command.failed",
    "test.started",
    "test.completed",
    "test.failed",
    "git.commit.requested",
    "git.push.requested",
    "pull_request.requested",
    "deployment.requested",
    "git.commit.created",
    "git.push.completed",
    "pull_request.created",
    "deployment.completed",
    "hook.stop.blocked",
    "hook.pre_compact.vetoed",
    "extension.loaded",
    "extension.unloaded",
    "extension.error",
    "extension.quarantined",
)
"""The names the host emits, in the order of their table [H-20]."""

_NAME: Final = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*")


def dotted(name: str) -> bool:
    """Return whether a name is segments of a to z, 0 to 9, `_` and `-`, joined by dots [M-18]."""
    return _NAME.fullmatch(name) is not None


def well_formed(pattern: str) -> bool:
    """Return whether a pattern is `*`, a full name, or a prefix followed by `.*` [M-18]."""
    if len(pattern.encode()) > limits.EVENT_PATTERN_BYTES:
        return False
    return pattern == ANY or dotted(pattern.removesuffix(BELOW))


def matches(pattern: str, name: str) -> bool:
    """Return whether a pattern takes an event; a prefix asks for a non-empty rest [M-18]."""
    if pattern in {ANY, name}:
        return True
    prefix = pattern.removesuffix(ANY)
    return pattern.endswith(BELOW) and name.startswith(prefix) and len(name) > len(prefix)


def exists(pattern: str) -> bool:
    """Return whether a pattern may ever match: only an exact name can be a misspelling [M-20]."""
    return pattern.endswith(ANY) or pattern.startswith(FOREIGN) or pattern in CATALOGUE
