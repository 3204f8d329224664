"""What a plugin may write into the journal under its own name [W-32, D-60]."""

from stella import codec
from stella import limits
from stella.escape import cut
from stella.escape import visible
from stella.manifest.events import dotted
from stella.turn.facts import Emitted
from stella.wire.host_call import EmitArgs
from stella.wire.host_result import RefusedCall
from stella.wire.points import Refusal


def emitted(plugin: str, args: EmitArgs) -> Emitted | RefusedCall:
    """Return the event as it is written, `plugin.<name>.<local>`, or why it is not.

    A name or payload of the right type that breaks a limit is `failed`, naming the limit [W-32].
    """
    size = len(args.name.encode("utf-8", "surrogatepass"))
    if size > limits.EMIT_NAME_BYTES:
        return _failed(f"the name has {size} bytes, and the limit is {limits.EMIT_NAME_BYTES}")
    if not dotted(args.name):
        shown = cut(visible(args.name), limits.FAULT_VALUE_CHARS)
        return _failed(f'the name "{shown}" is not dot-joined segments of a to z, 0 to 9, _ and -')
    size = len(codec.encode(args.payload))
    if size > limits.EMIT_BYTES:
        return _failed(f"the payload has {size} bytes, and the limit is {limits.EMIT_BYTES}")
    return Emitted(name=f"plugin.{plugin}.{args.name}", payload=args.payload)


def _failed(detail: str) -> RefusedCall:
    return RefusedCall(refusal=Refusal.FAILED, detail=detail)
