"""One request and its answer, without a process: bytes in, an answer or a `Silence` out.

Every way in which a plugin can fail becomes one named silence here, never an exception and
never a decision [W-50]. Which of several failures is told first is `conclude` [W-52].
"""

from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import field

from stella.codec import Refused
from stella.escape import excerpt
from stella.escape import visible
from stella.limits import RAW_BYTES
from stella.limits import STDERR_CHARS
from stella.process.ending import Completed
from stella.process.ending import Ending
from stella.wire.envelope import Answer
from stella.wire.envelope import LaterAnswer
from stella.wire.envelope import PointAnswer
from stella.wire.envelope import Request
from stella.wire.envelope import point_of
from stella.wire.envelope import read_message
from stella.wire.envelope import write_request
from stella.wire.host_call import HostCall
from stella.wire.points import PROTOCOL_VERSION
from stella.wire.points import Point
from stella.wire.silence import FaultCode
from stella.wire.silence import Silence
from stella.wrapper.framing import Scanner


@dataclass(slots=True)
class Exchange:
    """The conversation of one point; `channel` says whether host calls are heard [T-18].

    `clean` takes secrets out of a text, before anything of it is cut off [H-41].
    """

    plugin: str
    request: Request
    channel: bool = False
    clean: Callable[[str], str] = str
    _scanner: Scanner = field(default_factory=Scanner)
    _begun: bool = False
    _answer: PointAnswer | LaterAnswer | None = None
    _asked: HostCall | None = None
    _unheard: HostCall | None = None
    _fault: Silence | None = None

    @property
    def point(self) -> Point:
        """The point that was asked."""
        return point_of(self.request)

    @property
    def line(self) -> bytes:
        """The request as it goes to the plugin's stdin [W-2]."""
        return write_request(self.request)

    @property
    def broken(self) -> bool:
        """Whether the plugin has to be ended at once [W-50]."""
        return self._fault is not None

    @property
    def over(self) -> bool:
        """Whether nothing that comes can change the outcome any more [T-20]."""
        return self.broken or self._answer is not None

    def receive(self, chunk: bytes) -> tuple[HostCall, ...]:
        """Take a chunk of stdout and return the calls that it completes, in order [T-19].

        After the answer the rest is ignored [W-54]; after a fault no call is served.
        """
        if self.over:
            return ()
        documents, broken = self._scanner.feed(chunk)
        calls: list[HostCall] = []
        for document in documents:
            call = self._read(document)
            if call is None:
                break
            calls.append(call)
        else:
            if broken is not None:
                self._fault = self._decode(broken.reason, broken.raw)
        return () if self.broken else tuple(calls)

    def unheard(self, call: HostCall) -> None:
        """Note that the plugin asks on although nobody reads the answers at its end [W-50].

        A plugin that answers the point all the same is heard: it did not need to know [T-21].
        """
        self._unheard = call

    def conclude(self, done: Completed, deadline: float) -> Answer | Silence:
        """Return what the point gave, once the process is over [W-50, W-52, T-22 to T-28].

        `deadline` is the effective number of seconds, for the message of a timeout.
        """
        match done.ending:
            case Ending.NOT_STARTED:
                return self._silence(FaultCode.SPAWN, done.reason)
            case Ending.OVERFLOWED:
                stream = done.overflowed or "stdout"
                return self._silence(
                    FaultCode.OUTPUT_CAP, f"{stream} crossed the limit of its output"
                )
            case Ending.TIMED_OUT:
                reason = f"no end within {deadline:g} s of its start; {self._stuck()}"
                return self._silence(FaultCode.TIMEOUT, reason + self._said(done))
            case Ending.LOST:
                return self._silence(FaultCode.TRANSPORT, done.reason)
            case Ending.STOPPED | Ending.EXITED | Ending.SIGNALLED:
                return self._judged(done)

    def _stuck(self) -> str:
        """Return how far it had come, which is where its author has to look [T-22, T-27]."""
        if self._answer is not None:
            return "it had answered and did not exit, so the answer is not used"
        if self._asked is not None:
            return f'the last it wrote was the call "{self._asked.call.value}"'
        if self._scanner.inside:
            return "it wrote the beginning of a document and not its end"
        if self.channel:
            return (
                "it wrote nothing: read one line, since stdin stays open until you answer, "
                "and flush each line you write"
            )
        return "it wrote nothing"

    def _judged(self, done: Completed) -> Answer | Silence:
        if self._fault is not None:
            return self._fault
        if done.stdin_broken:
            return self._silence(FaultCode.TRANSPORT, f"writing stdin: {done.stdin_broken}")
        if done.signal is not None:
            return self._exit(f"signal {done.signal}", done)
        if done.code:
            return self._exit(f"code {done.code}", done)
        if self._answer is None:
            return self._unanswered(done)
        if isinstance(self._answer, LaterAnswer):
            return self._silence(
                FaultCode.PROTOCOL_VERSION,
                f"the answer has version {self._answer.version}; "
                f"this host speaks {PROTOCOL_VERSION}",
            )
        if self._answer.point is not self.point:
            return self._silence(
                FaultCode.POINT_MISMATCH,
                f"asked {self.point.value}, answered {self._answer.point.value}",
            )
        return self._answer.body

    def _read(self, document: bytes) -> HostCall | None:
        try:
            message = read_message(document, first=not self._begun)
        except Refused as refused:
            fault = refused.reasons[0]
            self._fault = self._decode(f"{fault.token.value}: {fault}", document)
            return None
        self._begun = True
        if isinstance(message, PointAnswer | LaterAnswer):
            self._answer = message
            return None
        if not self.channel:
            self._fault = self._silence(
                FaultCode.UNANNOUNCED_CALL,
                f'it asked "{message.call.value}", and no host call is open to it; '
                "list it in calls, below [loop] of plugin.toml",
            )
            return None
        self._asked = message
        return message

    def _unanswered(self, done: Completed) -> Silence:
        rest = self._scanner.rest
        if self._scanner.inside:
            reason = "exit 0 with a document that is cut off"
        elif self._unheard is not None:
            asked = f'it asked "{self._unheard.call.value}", and its stdin is closed to the answer'
            return self._silence(FaultCode.ANSWER_CHANNEL_FAILED, asked + self._stderr(done))
        elif self._asked is not None:
            asked = f'it asked "{self._asked.call.value}" last and gave no answer'
            return self._silence(FaultCode.UNANSWERED_CALL, asked + self._stderr(done))
        elif done.stderr.lstrip()[:1] in (b"{", b"["):
            reason = "exit 0 without an answer; your answer went to stderr, it belongs on stdout"
        else:
            reason = "exit 0 without an answer"
        return self._silence(FaultCode.NO_RESPONSE, reason + self._stderr(done), rest)

    def _exit(self, how: str, done: Completed) -> Silence:
        late = ", after a valid answer, which is not used" if self._answer else ""
        return self._silence(FaultCode.EXIT, f"{how}{late}{self._stderr(done)}")

    def _decode(self, reason: str, raw: bytes) -> Silence:
        shown = excerpt(self.clean(raw.decode("utf-8", "replace")))
        return self._silence(FaultCode.DECODE, f"{reason}; got: {shown}", raw)

    def _silence(self, code: FaultCode, message: str, raw: bytes = b"") -> Silence:
        text = f"{visible(self.plugin)} {self.point.value}: {message}"
        whole = self.clean(raw.decode("utf-8", "surrogateescape"))
        kept = whole.encode("utf-8", "surrogateescape")[:RAW_BYTES]
        return Silence(code=code, message=text, raw=kept)

    def _stderr(self, done: Completed) -> str:
        return self._said(done) or f"; nothing on stderr, and it ran {done.duration_ms} ms"

    def _said(self, done: Completed) -> str:
        text = excerpt(self.clean(done.stderr.decode("utf-8", "replace")), STDERR_CHARS)
        return f"; stderr: {text}" if text else ""
