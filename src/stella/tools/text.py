"""Bytes and lines made fit for a tool's result: decoded, counted, cut in the middle [T2-3].

Nothing here drops anything without a line that says how much.
"""

from typing import Final

from stella.message import Output
from stella.message import failed
from stella.message import succeeded

_HEAD_SHARE: Final = 0.4
_MARKER_BYTES: Final = 64  # room for the line that names the bytes removed


def decoded(data: bytes) -> tuple[str, int]:
    """Return `data` as text, and how many of its bytes were not UTF-8 and show as U+FFFD."""
    text = data.decode("utf-8", "replace")
    if "\ufffd" not in text:
        return text, 0
    return text, len(data) - len(data.decode("utf-8", "ignore").encode())


def path_shown(path: str) -> tuple[str, int]:
    r"""Return a path from the file system fit for a line, and how many bytes were not UTF-8.

    `path` is as Python reads names, with surrogates for bytes that are not UTF-8. Characters
    that would end the line or move the cursor stand as `\u{HEX}`.
    """
    try:
        data = path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a surrogate that no name on disk can hold
        data = path.encode("utf-8", "replace")
    text, invalid = decoded(data)
    if text.isprintable():
        return text, invalid
    return "".join(c if c.isprintable() else f"\\u{{{ord(c):X}}}" for c in text), invalid


def cut_middle(text: str, most: int) -> str:
    """Return `text` in at most `most` bytes of UTF-8: its head and tail around one line.

    Of what is kept 40 % is head and 60 % tail; the line names the bytes removed.
    """
    data = text.encode("utf-8", "replace")
    if len(data) <= most:
        return text
    room = most - _MARKER_BYTES
    head = data[: int(room * _HEAD_SHARE)].decode("utf-8", "ignore")
    tail = data[len(data) - (room - int(room * _HEAD_SHARE)) :].decode("utf-8", "ignore")
    removed = len(data) - len(head.encode()) - len(tail.encode())
    return f"{head}\n[{removed} bytes removed here]\n{tail}"


def kept_lines(sizes: list[int], most: int) -> tuple[int, int]:
    """Return how many lines of the head and of the tail fit into `most` bytes, 40 to 60.

    `sizes` are the lines' bytes, line end included. When all fit, the head is all of them.
    """
    if sum(sizes) <= most:
        return len(sizes), 0
    room = most - 2 * _MARKER_BYTES
    head = _fitting(sizes, int(room * _HEAD_SHARE))
    tail = _fitting(sizes[head:][::-1], room - int(room * _HEAD_SHARE))
    return head, tail


def _fitting(sizes: list[int], room: int) -> int:
    for number, size in enumerate(sizes):
        room -= size
        if room < 0:
            return number
    return len(sizes)


def within(output: Output, most: int) -> Output:
    """Return a result whose text is at most `most` bytes [T2-3]."""
    text = cut_middle(output.text, most)
    if text == output.text:
        return output
    if output.error is not None:
        error = output.error
        return failed(error.kind, text, error.cause, error.data)
    assert output.ok is not None  # noqa: S101  # one of the two is there by construction
    return succeeded(text, output.ok.data)
