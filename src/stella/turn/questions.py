"""The questions a run asks, each typed by its answer.

The loop learns and does everything through these; nothing else crosses the wall between
the machine and the hands.
"""

from dataclasses import dataclass
from dataclasses import field

from stella.authority.decision import Opinion
from stella.message import Asked
from stella.message import Message
from stella.message import NoReply
from stella.message import Output
from stella.message import Reply
from stella.turn.ask import Ask
from stella.turn.ask import Turn
from stella.turn.ask import ask
from stella.turn.facts import Baselined
from stella.turn.facts import CallJudged
from stella.turn.facts import ChangedArtifact
from stella.turn.facts import Fact
from stella.turn.plugin_facts import ServedCall
from stella.turn.purse import Purse
from stella.turn.tally import Tally
from stella.wire.envelope import Answer
from stella.wire.envelope import Request
from stella.wire.evidence import Tamper
from stella.wire.grant import CandidateGrant
from stella.wire.hook import HookResult
from stella.wire.occasion import Occasion
from stella.wire.silence import Silence


@dataclass(frozen=True, slots=True, kw_only=True)
class Tell(Ask[None]):
    """Write `fact` into the journal; with `durable`, before anything else happens [J2-30].

    `turn` is the turn or agent the fact belongs to, None outside turns.
    """

    turn: str | None
    fact: Fact
    durable: bool = False


def tell(turn: str | None, *facts: Fact, durable: bool = False) -> Turn[None]:
    """Tell facts in order; `durable` covers all of them."""
    for fact in facts[:-1]:
        yield Tell(turn=turn, fact=fact)
    yield Tell(turn=turn, fact=facts[-1], durable=durable)


@dataclass(frozen=True, slots=True, kw_only=True)
class Modelled:
    """What a model call gave, and how many milliseconds it took."""

    reply: Reply | NoReply
    duration_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AskModel(Ask[Modelled]):
    """Ask the model of a seat for its next reply to `messages` [E-12, D-31].

    `role` says why the call is made [M2-2].
    """

    messages: tuple[Message, ...]
    role: str
    seat: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """What the gate said of a call [E-23].

    `refusal` is the call's result when it was turned away, None when it may run. `judged` is
    None when the call was no call of a known tool and never reached the gate.
    """

    refusal: Output | None
    judged: CallJudged | None
    read_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AskGate(Ask[Ruling]):
    """May this call be made? [A-30].

    `opinions` are what hooks said of it, `chain` who rewrote its input [H-60].
    """

    call: Asked
    opinions: tuple[Opinion, ...] = ()
    chain: tuple[dict[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """Whether a call is one of a known tool with arguments that fit, and whether it only reads.

    `why` is what does not fit, for a person.
    """

    fits: bool
    read_only: bool = False
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckCall(Ask[Checked]):
    """Does this call fit its tool? Nothing is judged and nothing runs [E-23 items 1 to 3]."""

    call: Asked


@dataclass(frozen=True, slots=True, kw_only=True)
class HookHeard:
    """What came of one hook, and what is known of its process [H-53]."""

    result: HookResult
    exit_code: int | None = None
    duration_ms: int = 0
    stdout_tail: str | None = None
    stderr_tail: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AskHook(Ask[HookHeard]):
    """Ask one listener about what happened [D-62]; `turn` is None outside turns.

    A turn of a sub-agent bears its agent's id, and `agent` says so.
    """

    by: str
    occasion: Occasion
    turn: str | None
    agent: str | None
    call: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change of one file that was measured on disk [T2-50].

    `kind` is `created`, `modified` or `deleted`; `before` and `after` are the digests of the
    content, None where there was no file.
    """

    path: str
    kind: str
    before: str | None
    after: str | None
    added: int | None = None
    removed: int | None = None
    bytes: int | None = None
    diff: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What a call gave and what it changed; `changes` None means unmeasured [T2-53]."""

    output: Output
    duration_ms: int
    changes: tuple[Change, ...] | None = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTools(Ask[tuple[Ran, ...]]):
    """Run calls the gate allowed: one, or several trusted read-only ones side by side [E-20]."""

    calls: tuple[Asked, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Granted:
    """The candidate every request of the run carries, and how its baseline came out [D-13]."""

    candidate: CandidateGrant
    baseline: Baselined | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeBaseline(Ask[Granted]):
    """Pin the watched artifacts, run the granted test once, compare [D-10 step 8]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """What the host found after a turn: the tamper finding and the state of the tree.

    `digest` is None when the tree could not be measured [D-43].
    """

    finding: Tamper
    artifacts: tuple[ChangedArtifact, ...]
    digest: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspect(Ask[Inspection]):
    """Compare the watched artifacts and measure the tree [G-30, D-43]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckPaths(Ask[tuple[str | None, ...]]):
    """Where do paths a plugin named lead? The word of a denial for each, or None [G-50, G-51]."""

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """What host calls came of asking a plugin: the calls, what they used, what they changed.

    `untold` is how many more calls were refused than are among `calls`. `changes` are those of the
    real tree, None when they could not be measured.
    """

    calls: tuple[ServedCall, ...] = ()
    untold: int = 0
    spent: Tally = field(default_factory=Tally)
    changes: tuple[Change, ...] | None = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What came of asking a plugin, and how many milliseconds it took."""

    answer: Answer | Silence
    duration_ms: int
    served: Served = field(default_factory=Served)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskPlugin(Ask[Heard]):
    """Send a member its request; a fresh process answers or falls silent [D-15].

    `turn` is the turn it is asked for; `seat` runs that turn, so no child of it may [D-52];
    `purse` is what turns under it may spend [D-54, E-94].
    """

    member: str
    turn: str
    seat: str
    purse: Purse = field(default_factory=Purse)
    request: Request


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallServed(Ask[Served]):
    """What was served to the plugin whose asking a cancel has ended? Answered at once [T-23]."""


Question = (
    Tell
    | AskModel
    | AskGate
    | CheckCall
    | RunTools
    | TakeBaseline
    | Inspect
    | CheckPaths
    | AskPlugin
    | AskHook
    | RecallServed
)
"""Every question there is; a drive that answers all of them can run a turn."""

__all__ = [
    "AskGate",
    "AskHook",
    "AskModel",
    "AskPlugin",
    "Change",
    "CheckCall",
    "CheckPaths",
    "Checked",
    "Granted",
    "Heard",
    "HookHeard",
    "Inspect",
    "Inspection",
    "Modelled",
    "Question",
    "Ran",
    "RecallServed",
    "Ruling",
    "RunTools",
    "Served",
    "TakeBaseline",
    "Tell",
    "ask",
    "tell",
]
