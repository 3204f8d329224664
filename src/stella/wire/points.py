"""The closed vocabularies of the wire [W-48]: points, calls, refusals, hooks, signals, stages.

They stand below the manifest, which names points and must not invent them.
"""

from typing import Final

from stella.codec import Word

PROTOCOL_VERSION: Final = 1


class Point(Word):
    """A moment at which a plugin is asked [W-16]."""

    BEFORE_TURN = "before_turn"
    AFTER_TURN = "after_turn"


class Call(Word):
    """What a plugin may ask the host for between request and answer [W-30]."""

    RECALL = "recall"
    CHILD_TURN = "child_turn"
    RUN_TEST = "run_test"
    CANDIDATE_FANOUT = "candidate_fanout"
    ADOPT_CANDIDATE = "adopt_candidate"
    EMIT = "emit"


class Refusal(Word):
    """Why a host call was not served [W-35]."""

    UNDECLARED = "undeclared"
    FORBIDDEN = "forbidden"
    UNSUPPORTED = "unsupported"
    ALLOWANCE_SPENT = "allowance-spent"
    UNAVAILABLE = "unavailable"
    FAILED = "failed"


class Hook(Word):
    """The twelve lifecycle events a manifest may list [M-15]."""

    SESSION_START = "SessionStart"
    SESSION_END = "SessionEnd"
    USER_PROMPT_SUBMIT = "UserPromptSubmit"
    TURN_START = "TurnStart"
    TURN_END = "TurnEnd"
    TURN_ERROR = "TurnError"
    PRE_TOOL_USE = "PreToolUse"
    POST_TOOL_USE = "PostToolUse"
    SUBAGENT_START = "SubagentStart"
    SUBAGENT_STOP = "SubagentStop"
    STOP = "Stop"
    PRE_COMPACT = "PreCompact"


class DriverVerb(Word):
    """What a driver may ask the host for from outside turns, family by family [M-47]."""

    BACKLOG_NEXT = "backlog_next"
    BACKLOG_CLAIM = "backlog_claim"
    BACKLOG_FILE = "backlog_file"
    BACKLOG_CLOSE = "backlog_close"
    BACKLOG_LINK = "backlog_link"
    WORK_START = "work_start"
    WORK_STATUS = "work_status"
    WORK_ABANDON = "work_abandon"
    DELIVER_OPEN = "deliver_open"
    DELIVER_OBSERVE = "deliver_observe"
    DELIVER_NEXT = "deliver_next"
    DELIVER_MERGE = "deliver_merge"
    SWEEP_AUDIT = "sweep_audit"
    SWEEP_REGRESS = "sweep_regress"
    SWEEP_META = "sweep_meta"
    CURATE_PROPOSE = "curate_propose"
    CURATE_LIST = "curate_list"
    CURATE_ACCEPT = "curate_accept"


class Signal(Word):
    """A named boolean or count that stage conditions may read [M-41]."""

    TEST_COMMAND = "test-command"
    CANDIDATES = "candidates"
    BUDGET_METERED = "budget-metered"
    CONVERSATIONAL = "conversational"
    QUESTIONS = "questions"
    PLANS = "plans"
    VERIFIES = "verifies"
    WANTS_WITNESS = "wants-witness"
    WANTS_VERIFIER = "wants-verifier"
    MUTATING_ACTIONS = "mutating-actions"
    DIFF_LINES = "diff-lines"
    WITNESS_AUTHORED = "witness-authored"
    FLIP_ACHIEVED = "flip-achieved"
    TESTS_RED = "tests-red"
    TESTS_GREEN = "tests-green"


COUNTS: Final = frozenset(
    {Signal.CANDIDATES, Signal.QUESTIONS, Signal.MUTATING_ACTIONS, Signal.DIFF_LINES}
)
"""The signals of kind count; every other one is a boolean [M-41]."""

PUBLISHER: Final[dict[Signal, str | None]] = {
    Signal.TEST_COMMAND: None,
    Signal.CANDIDATES: None,
    Signal.BUDGET_METERED: None,
    Signal.CONVERSATIONAL: "triage",
    Signal.QUESTIONS: "triage",
    Signal.PLANS: "triage",
    Signal.VERIFIES: "triage",
    Signal.WANTS_WITNESS: "triage",
    Signal.WANTS_VERIFIER: "triage",
    Signal.MUTATING_ACTIONS: "execute",
    Signal.DIFF_LINES: "execute",
    Signal.WITNESS_AUTHORED: "witness",
    Signal.FLIP_ACHIEVED: "verify",
    Signal.TESTS_RED: "verify",
    Signal.TESTS_GREEN: "verify",
}
"""Which stage publishes a signal; None for a fact of the host [M-41]."""

HOST_STAGES: Final = (
    "triage",
    "recall",
    "research",
    "plan",
    "scope",
    "execute",
    "witness",
    "verify",
    "verdict",
    "reflect",
    "contextwrite",
    "complete",
)
"""The stages the host knows, in their order [M-38]."""

POST_TURN_STAGES: Final = frozenset(
    {"witness", "verify", "verdict", "reflect", "contextwrite", "complete"}
)
"""The host stages that come after the turn [D-22]."""
