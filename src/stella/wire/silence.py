"""No usable answer came, and why: a plugin's failure as a value [W-50].

The turn must be able to be told this without knowing what a process is.
"""

from dataclasses import dataclass

from stella.codec import Word


class FaultCode(Word):
    """Why a point has no answer [W-50]."""

    NOT_ACCEPTED = "NotAccepted"
    SPAWN = "Spawn"
    DECODE = "Decode"
    POINT_MISMATCH = "PointMismatch"
    PROTOCOL_VERSION = "ProtocolVersion"
    NO_RESPONSE = "NoResponse"
    EXIT = "Exit"
    UNANNOUNCED_CALL = "UnannouncedCall"
    UNANSWERED_CALL = "UnansweredCall"
    ANSWER_CHANNEL_FAILED = "AnswerChannelFailed"
    OUTPUT_CAP = "OutputCap"
    TIMEOUT = "Timeout"
    TRANSPORT = "Transport"
    CANCELLED = "Cancelled"
    UNDECLARED_ROLE = "UndeclaredRole"
    MISTYPED_SIGNAL = "MistypedSignal"
    HANDLER = "Handler"


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """No usable answer: the code, one visible line about it, and raw output worth keeping.

    `raw` is what stood on stdout when it could not be decoded, for the journal [J2-13].
    """

    code: FaultCode
    message: str
    raw: bytes = b""
