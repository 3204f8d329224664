"""The load rules of `[subloop]`, `[roles]` and `[wrapper]`: R-37 to R-52, R-61, R-62."""

from collections.abc import Iterator
from enum import Enum
from typing import Final

from stella.manifest.fault import ManifestFault
from stella.manifest.fault import fault
from stella.manifest.grammar import Kind
from stella.manifest.grammar import Measure
from stella.manifest.grammar import Truth
from stella.manifest.grammar import Unparsable
from stella.manifest.grammar import UnknownSignal
from stella.manifest.grammar import WrongKind
from stella.manifest.grammar import kind_of
from stella.manifest.grammar import parse_condition
from stella.manifest.loop import Power
from stella.manifest.rule import Faults
from stella.manifest.rule import Rule
from stella.manifest.rule import applied
from stella.manifest.rule import below
from stella.manifest.rule import blank
from stella.manifest.rule import called
from stella.manifest.rule import each
from stella.manifest.rule import each_key
from stella.manifest.rule import listed_once
from stella.manifest.rule import shown
from stella.manifest.rule import words
from stella.manifest.sheet import Entry
from stella.manifest.sheet import Listed
from stella.manifest.sheet import Place
from stella.manifest.sheet import Sheet
from stella.manifest.sheet import Unestablished
from stella.manifest.stages import BOUNDARY
from stella.manifest.stages import malformed
from stella.near import near
from stella.wire.points import HOST_STAGES
from stella.wire.points import PUBLISHER
from stella.wire.points import Signal

SUBLOOP: Final = ("subloop",)
WRAPPER: Final = ("wrapper",)
STEPS: Final = ("subloop", "stages")
STAGES: Final = ("wrapper", "stages")
ROLES: Final = ("roles",)
ID: Final = Place(("wrapper", "id"), str, "")
NAME: Final = Place(("name",), str, "")
CONDITION: Final = Place[str | None](("if",), str, None)

_SIGNALS: Final = tuple(signal.value for signal in Signal)
