"""The record types and the keys of their data, as one table [J2-40, J2-44].

A row gives the keys in the order they are written; `?` marks one that may be absent.
Version 1 of every type; a later shape gets a name of its own, `<type>@<n>` [J2-12].
"""

import re
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any
from typing import Final

from stella.escape import visible
from stella.near import suggestion

KINDS: Final[Mapping[str, str]] = {
    "session_opened": "schema session stella workspace workspace_id surface settings model"
    " model_source tiers prices mode mode_source limits trusted",
    "session_resumed": "head surface repaired? closed_calls",
    "session_closed": "status turns usage cost_usd",
    "repair": "bytes file",
    "system_prompt": "sha256 text parts",
    "tools_offered": "agent? tools",
    "prompt": "text source",
    "message": "role origin label? text",
    "turn_started": "round agent? principal max_steps",
    "turn_ended": "status cause? truncated? stop_gate steps usage cost_usd changed_files? text",
    "model_request": "step role model message_count messages_sha256 tools_sha256 max_output_tokens",
    "model_reply": "step model text tool_calls finish_reason usage cost_usd duration_ms",
    "model_error": "step attempt kind message delay_ms? partial_usage?",
    "call_requested": "call_id tool input? raw? provider_call_id?",
    "authz": "call_id tool principal risk decision cause? chain trace",
    "approval_requested": "approval_id call_id reason ttl_ms",
    "approval_answered": "approval_id answer by waited_ms text?",
    "tool_started": "call_id tool read_only",
    "tool_finished": "call_id tool input input_before? output duration_ms",
    "file_change": "path kind added removed bytes sha256 diff by",
    "hook_run": "event by cause decision exit_code duration_ms stdout_tail? stderr_tail?",
    "stop_gate": "asked decision by spent allowed reason",
    "loop_detected": "kind tool repeats aborted",
    "compaction": "pass before_tokens after_tokens rewrites span?",
    "control": "verb by detail?",
    "subagent_started": "agent parent depth access limits instruction",
    "subagent_finished": "agent status cause? steps cost_usd report truncated",
    "goal_round": "round met reasoning feedback parsed cost_usd",
    "pipeline_bound": "variant members rule max_holds signals",
    "baseline": "program path args baseline reason exit_code? duration_ms watched complete",
    "plugin_exchange": "plugin point stage? round request response? calls duration_ms",
    "plugin_fault": "plugin point stage? round fault message stdout_b64?",
    "tamper": "round finding artifacts",
    "verdict": "round verdict evidence rule_sha256 tree_digest? progress",
    "continuation": "round state again? stop?",
    "candidate": "event handle plugin root? files_changed?",
    "notice": "code text",
    "run_ended": "status exit_code rounds outcome usage cost_usd",
}
_EMITTED: Final = re.compile(r"(?:plugin|host)\.[^\s.@]+\.[^\s@]+")
_EMITTED_KEYS: Final = "payload"


def known(kind: str) -> bool:
    """Tell whether this reader knows a record type and its version [J2-12]."""
    return kind in KINDS or _EMITTED.fullmatch(kind) is not None


def arranged(kind: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return `data` with its keys in the order of the type [J2-10].

    A key that may not be absent is null when `data` lacks it, for that is what is known of it.
    An event that a plugin or an embedding program emits holds one key, `payload`. Raises
    `ValueError` for an unknown type or a key the type does not have: the caller is at fault,
    not the data.
    """
    if not known(kind):
        raise ValueError(_unknown("record type", kind, KINDS))
    row = KINDS.get(kind, _EMITTED_KEYS).split()
    keys = {key.removesuffix("?"): key.endswith("?") for key in row}
    for key in data:
        if key not in keys:
            raise ValueError(f"{kind}: {_unknown('key', key, keys)}")
    return {
        key: data.get(key)
        for key, may_be_absent in keys.items()
        if key in data or not may_be_absent
    }


def _unknown(noun: str, word: str, legal: Iterable[str]) -> str:
    hint = suggestion(word, legal)
    return f'unknown {noun} "{visible(word)}"' + (f"; {hint}" if hint else "")
