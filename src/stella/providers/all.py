"""Every kind of model there is, by name [M2-10, M2-11]."""

import re
from collections.abc import Callable
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from stella import limits
from stella.clock import Clock
from stella.errors import ModelError
from stella.errors import UsageError
from stella.escape import visible
from stella.near import distance
from stella.providers.provider import Model
from stella.providers.scripted import ScriptedModel
from stella.providers.scripted import read_script

_FORMS: Final[Mapping[str, str]] = {
    "script": "script:PATH",
    "replay": "replay:SESSION",
    "anthropic": "anthropic/<model>",
    "openai": "openai/<model>",
    "gemini": "gemini/<model>",
    "remote": "remote/<name>",
}
_CUSTOM: Final = "<id>/<model>"
_CUSTOM_ID: Final = re.compile(r"[a-z][a-z0-9-]{0,31}")


def open_model(name: str, *, clock: Clock, base: Path = Path()) -> Model:
    """Return the model that `name` means.

    A relative script path is taken from `base` and shown as it was written. Raises
    `UsageError` for a name of no valid form, or a script with faults [M2-21], and `ModelError`
    for a kind of model that this release does not answer.
    """
    kind, separator, rest = _split(name)
    form = _FORMS.get(kind, _CUSTOM if _CUSTOM_ID.fullmatch(kind) and separator == "/" else "")
    if not form or not rest or separator not in form:
        raise UsageError(_malformed(name, kind))
    opener = OPENERS.get(kind)
    if opener is None:
        answered = ", ".join(_FORMS[known] for known in OPENERS)
        raise ModelError(f'model "{visible(name)}": this release answers only {answered}')
    return opener(rest, clock, base)


def _script(rest: str, clock: Clock, base: Path) -> Model:
    return ScriptedModel(read_script(base / rest, rest), clock)


OPENERS: Final[Mapping[str, Callable[[str, Clock, Path], Model]]] = {"script": _script}


def _split(name: str) -> tuple[str, str, str]:
    """Return the kind, the sign after it and the rest; no sign means no kind."""
    found = re.search("[/:]", name)
    if found is None:
        return name, "", ""
    return name[: found.start()], found.group(), name[found.end() :]


def _malformed(name: str, kind: str) -> str:
    shown = visible(name)
    return (
        f'model "{shown}": expected a kind and a name, such as {" or ".join(_nearest(shown, kind))}'
    )


def _nearest(name: str, kind: str) -> tuple[str, str]:
    """Return the two valid forms nearest a name: of a kind misspelt, else of a kind left out."""
    far = {form: distance(kind.casefold(), word) for word, form in _FORMS.items()}
    first, second = sorted(far, key=far.__getitem__)[:2]
    if kind != name and name.endswith(".jsonl") and far[first] > limits.NEAR_DISTANCE:
        return f"script:{name}", _FORMS["anthropic"]
    if kind != name or not name or far[first] <= limits.NEAR_DISTANCE:
        return first, second
    return (f"script:{name}" if name.endswith(".jsonl") else f"anthropic/{name}", f"openai/{name}")
