"""The copy of a payload that leaves the host: no file contents, no secrets [H-40, W-46].

Pure. What comes out is plain data that any strict reader of JSON takes.
"""

from collections.abc import Mapping
from typing import Any
from typing import Final

import msgspec

from stella import codec
from stella.redact import Redactor

CONTENTS: Final = frozenset(("content", "new_string", "old_string"))
"""The input keys whose values are contents of files [H-40]."""


def sanitised(payload: Mapping[str, Any], redactor: Redactor) -> dict[str, Any]:
    """Return a copy of `payload` with sizes in place of contents and no secrets, at any depth."""
    plain = msgspec.to_builtins(dict(payload), str_keys=True)
    clean, _ = redactor.tree(_hollow(plain))
    copied: dict[str, Any] = _writable(clean)
    return copied


def _hollow(value: Any) -> Any:
    match value:
        case dict():
            return {k: _size(v) if k in CONTENTS else _hollow(v) for k, v in value.items()}
        case list() | tuple():
            return [_hollow(item) for item in value]
        case _:
            return value


def _size(value: Any) -> str:
    """Return `[N bytes, M lines]`; what is no text is measured as the JSON it came as."""
    data = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else b""
    data = data if isinstance(value, str) else codec.encode(_writable(value))
    lines = data.count(b"\n") + (not data.endswith(b"\n") and data != b"")
    return f"[{len(data)} bytes, {lines} lines]"


def _writable(value: Any) -> Any:
    """Return plain data with half surrogate pairs, which a file name can hold, written out."""
    match value:
        case str():
            return value.encode("utf-8", "backslashreplace").decode()
        case dict():
            return {_writable(key): _writable(item) for key, item in value.items()}
        case list() | tuple():
            return [_writable(item) for item in value]
        case _:
            return value
