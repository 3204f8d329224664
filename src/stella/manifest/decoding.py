"""What the codec refused in a manifest, as faults of rule R-1 [M-11]."""

from types import MappingProxyType
from typing import Final

from stella.codec import Fault
from stella.codec import JsonFault
from stella.escape import visible
from stella.manifest.fault import ManifestFault
from stella.manifest.fault import Reason
from stella.manifest.fault import head
from stella.manifest.fault import sentence
from stella.manifest.loop import NOT_FOR_PLUGINS
from stella.manifest.rules_loop import HOOKS
from stella.manifest.written import written

_REASONS: Final = MappingProxyType(
    {
        JsonFault.UNKNOWN_KEY: Reason.UNKNOWN_KEY,
        JsonFault.MISSING_KEY: Reason.MISSING_KEY,
        JsonFault.WRONG_TYPE: Reason.WRONG_TYPE,
        JsonFault.NOT_AN_INTEGER: Reason.WRONG_TYPE,
        JsonFault.UNKNOWN_TOKEN: Reason.UNKNOWN_WORD,
        JsonFault.INTEGER_OUT_OF_RANGE: Reason.OUT_OF_RANGE,
    }
)
_EXPECTED: Final = MappingProxyType(
    {
        "argv": "a list of strings",
        "flip": '"required" or "not-applicable"',
        "stages": "a list",
        "timeout_secs": "an integer of 1 or more",
        "value": "a string, a number, true or false, a date, or a flat list of these",
    }
)
"""The type of each required key that is not a string [M-11]."""


def decoding_fault(fault: Fault) -> ManifestFault:
    """Return a refusal of the codec as a fault of the manifest."""
    reason = _REASONS[fault.token]
    match reason:
        case Reason.UNKNOWN_KEY:
            message = f"{_block(fault)}: {fault.message}"
        case Reason.MISSING_KEY:
            expected = _EXPECTED.get(str(fault.path[-1]), "a string")
            message = f"{_block(fault)}: {fault.message}; expected {expected}"
        case Reason.UNKNOWN_WORD:
            # The head quotes the word already.
            says = fault.message.removeprefix(f'"{visible(str(fault.found))}" ')
            message = f"{head(fault.path, written(fault.found))} {says}"
        case _:
            message = f"{head(fault.path, written(fault.found))}: {fault.message}"
    return ManifestFault(
        rule="R-1",
        path=fault.path,
        message=sentence(message),
        value=None if fault.found is None else written(fault.found),
        near=fault.near,
        reason=reason,
    )


def has_a_rule(fault: Fault) -> bool:
    """Return whether a load rule says it better: hook words no plugin may have [M-16]."""
    return fault.path[:-1] == HOOKS and fault.found in NOT_FOR_PLUGINS


def _block(fault: Fault) -> str:
    return ManifestFault(rule="R-1", path=fault.path, message="").block
