"""What a run tells: one value per journal record type, fields in the order of [J2-40].

The turn tells facts as they become true; the drive writes each as one record. The name of
a record is the `tag` of its class.
"""

from typing import Any
from typing import ClassVar

import msgspec

from stella.codec import U32
from stella.codec import U64
from stella.codec import Word
from stella.message import Output
from stella.message import ToolCall
from stella.message import Usage
from stella.verdict.again import Ended
from stella.verdict.again import Held
from stella.verdict.again import State
from stella.verdict.finding import Verdict
from stella.verdict.progress import Progress
from stella.verdict.rule import VerdictRule
from stella.wire.evidence import EvidenceSet
from stella.wire.evidence import Tamper
from stella.wire.grant import TestBaseline


class Fact(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """One thing that became true in a run; absent keys are omitted [J2-10].

    `unwritten` are fields that listeners hear and no record has.
    """

    type: ClassVar[str]
    unwritten: ClassVar[frozenset[str]] = frozenset()


class TurnStatus(Word):
    """How a turn ended [E-120]."""

    COMPLETED = "completed"
    STOPPED = "stopped"
    FAILED = "failed"
    CANCELLED = "cancelled"


class RunStatus(Word):
    """How a run ended [E-122]."""

    MET = "met"
    COMPLETED = "completed"
    UNMET = "unmet"
    UNDECIDED = "undecided"
    STOPPED = "stopped"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Cause(Word):
    """Why a turn did not complete, closed [E-120]."""

    STEP_LIMIT = "step_limit"
    MONEY_LIMIT = "money_limit"
    TOKEN_LIMIT = "token_limit"  # noqa: S105  # a word of the journal, not a password
    TIME_LIMIT = "time_limit"
    STUCK_LOOP = "stuck_loop"
    SOFT_STOP = "soft_stop"
    HOOK_REFUSED = "hook_refused"
    PROVIDER = "provider"
    EMPTY_REPLY = "empty_reply"
    CONTENT_FILTER = "content_filter"
    JOURNAL = "journal"
    INTERNAL = "internal"
    CANCEL = "cancel"


class Prompted(Fact, frozen=True, kw_only=True):
    """The person's prompt."""

    type = "prompt"
    text: str
    source: str


class MessageAppended(Fact, frozen=True, kw_only=True):
    """A message that is neither the prompt, nor a reply, nor a result [J2-42]."""

    type = "message"
    role: str
    origin: str
    label: str | None = None
    text: str


class TurnStarted(Fact, frozen=True, kw_only=True):
    """A turn begins [E-10]."""

    type = "turn_started"
    round: U32
    agent: str | None = None
    principal: str
    max_steps: U32


class UsageTotal(Fact, frozen=True, kw_only=True):
    """What a turn or a run used [E-85]."""

    type = "usage"
    input_tokens: U64 = msgspec.field(default_factory=int)
    output_tokens: U64 = msgspec.field(default_factory=int)
    cached_input_tokens: U64 = msgspec.field(default_factory=int)
    cache_write_tokens: U64 = msgspec.field(default_factory=int)
    reasoning_tokens: U64 = msgspec.field(default_factory=int)
    model_calls: U64 = msgspec.field(default_factory=int)
    unreported_calls: U64 = msgspec.field(default_factory=int)
    unpriced_calls: U64 = msgspec.field(default_factory=int)
    known_cost_usd: float = msgspec.field(default_factory=float)


class TurnEnded(Fact, frozen=True, kw_only=True):
    """A turn is over; `cost_usd` is always written, null when unknown [E-14, E-82]."""

    type = "turn_ended"
    status: TurnStatus
    cause: Cause | None = None
    truncated: bool = False
    stop_gate: str
    steps: U32
    usage: UsageTotal
    cost_usd: float | None = msgspec.field(default_factory=lambda: None)
    changed_files: tuple[str, ...] | None = None
    text: str


class ModelRequested(Fact, frozen=True, kw_only=True):
    """A model is about to be asked [J2-41]."""

    type = "model_request"
    step: U32
    role: str
    model: str
    message_count: U32
    messages_sha256: str
    tools_sha256: str
    max_output_tokens: U64 | None = None


class ModelReplied(Fact, frozen=True, kw_only=True):
    """A model gave a complete reply."""

    type = "model_reply"
    step: U32
    model: str
    text: str
    tool_calls: tuple[ToolCall, ...]
    finish_reason: str
    usage: Usage
    cost_usd: float | None = msgspec.field(default_factory=lambda: None)
    duration_ms: U64


class ModelFailed(Fact, frozen=True, kw_only=True):
    """A model call gave no reply [E-62]."""

    type = "model_error"
    step: U32
    attempt: U32
    kind: str
    message: str
    delay_ms: U64 | None = None


class CallRequested(Fact, frozen=True, kw_only=True):
    """A reply asked for a tool; `raw` holds arguments that are no object [E-23]."""

    type = "call_requested"
    call_id: str
    tool: str
    input: dict[str, Any] | None = None
    raw: str | None = None


class TraceRow(Fact, frozen=True, kw_only=True):
    """One thing the gate consulted [A-8]."""

    type = "trace"
    rule: str
    source: str
    matched: bool
    contribution: str
    deciding: bool


class CallJudged(Fact, frozen=True, kw_only=True):
    """The gate's decision about one call [A-37].

    `given` is the input that was judged where hooks had changed it; the record of the call's
    end has it [H-60].
    """

    type = "authz"
    unwritten = frozenset({"given"})
    call_id: str
    tool: str
    principal: str
    risk: str
    decision: str
    cause: str | None = None
    chain: tuple[dict[str, str], ...] = msgspec.field(default_factory=tuple)
    trace: tuple[TraceRow, ...] = msgspec.field(default_factory=tuple)
    given: dict[str, Any] | None = None


class ToolStarted(Fact, frozen=True, kw_only=True):
    """A tool begins to run [E-23]."""

    type = "tool_started"
    call_id: str
    tool: str
    read_only: bool


class ToolFinished(Fact, frozen=True, kw_only=True):
    """A call has its one result [E-15]."""

    type = "tool_finished"
    call_id: str
    tool: str
    input: dict[str, Any] | str
    input_before: dict[str, Any] | None = None
    output: Output
    duration_ms: U64


class FileChanged(Fact, frozen=True, kw_only=True):
    """A change that was measured on disk [T2-50]."""

    type = "file_change"
    path: str
    kind: str
    added: U64 | None = None
    removed: U64 | None = None
    bytes: U64 | None = None
    sha256: str | None = None
    diff: str | None = None
    by: str


class Controlled(Fact, frozen=True, kw_only=True):
    """Somebody steered the run from outside."""

    type = "control"
    verb: str
    by: str
    detail: str | None = None


class BoundMember(Fact, frozen=True, kw_only=True):
    """One member of the pipeline, as bound."""

    type = "member"
    name: str
    wrapper: str
    grade: str
    digest: str
    rule_sha256: str


class PipelineBound(Fact, frozen=True, kw_only=True):
    """Which plugins wrap this run, by which rule, with how many holds."""

    type = "pipeline_bound"
    variant: str
    members: tuple[BoundMember, ...]
    rule: VerdictRule
    max_holds: U32
    signals: dict[str, bool | U64]


class Pinned(Fact, frozen=True, kw_only=True):
    """One watched artifact and its fingerprint [G-35]."""

    type = "pin"
    path: str
    fingerprint: str


class Baselined(Fact, frozen=True, kw_only=True):
    """What the granted test said before the run [G-20]."""

    type = "baseline"
    program: str
    path: str | None = None
    args: tuple[str, ...]
    baseline: TestBaseline
    reason: str
    exit_code: int | None = None
    duration_ms: U64
    watched: tuple[Pinned, ...]
    complete: bool


class ChangedArtifact(Fact, frozen=True, kw_only=True):
    """A watched artifact and how it changed [G-37]."""

    type = "artifact"
    path: str
    kinds: tuple[str, ...]


class TamperFound(Fact, frozen=True, kw_only=True):
    """What the host found about the watched artifacts [G-40]."""

    type = "tamper"
    round: U32
    finding: Tamper
    artifacts: tuple[ChangedArtifact, ...]


class Judged(Fact, frozen=True, kw_only=True):
    """The verdict of a round, with everything needed to compute it again [J2-52]."""

    type = "verdict"
    round: U32
    verdict: Verdict
    evidence: EvidenceSet
    rule_sha256: str
    tree_digest: str | None = None
    progress: Progress


class Continued(Fact, frozen=True, kw_only=True):
    """What follows a verdict: exactly one of another round and a stop [J2-40, J-50]."""

    type = "continuation"
    round: U32
    state: State
    again: Held | None = None
    stop: Ended | None = None


class Noticed(Fact, frozen=True, kw_only=True):
    """Something a person should know that decides nothing."""

    type = "notice"
    code: str
    text: str


class Emitted(Fact, frozen=True, kw_only=True):
    """What a plugin says on its own account; `name` is `plugin.<name>.<local>` [W-32, H-21].

    Its record has that name as its type, and `payload` alone as its data.
    """

    type = "emitted"
    name: str
    payload: dict[str, Any]
