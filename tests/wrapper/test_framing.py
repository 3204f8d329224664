"""Where a document ends, whatever the chunks and whatever is in the strings [T-13 to T-17]."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stella import limits
from stella.wrapper.framing import NotJson
from stella.wrapper.framing import Scanner


def fed(*chunks: bytes) -> tuple[list[bytes], NotJson | None, bytes]:
    scanner = Scanner()
    documents: list[bytes] = []
    for chunk in chunks:
        found, broken = scanner.feed(chunk)
        documents += found
        if broken is not None:
            return documents, broken, scanner.rest
    return documents, None, scanner.rest


@pytest.mark.behaviour("T-13")
@pytest.mark.parametrize(
    ("stream", "documents", "rest"),
    [
        (b"", [], b""),
        (b"  \n ", [], b""),
        (b'{"a":1}', [b'{"a":1}'], b""),
        (b'\n {"a":1}\n', [b'{"a":1}'], b""),
        (b'{"a":"}"}{"b":2}', [b'{"a":"}"}', b'{"b":2}'], b""),
        (b'{"a":"\\"}"} [1]', [b'{"a":"\\"}"}', b"[1]"], b""),
        (b'{"a":"\\\\"}', [b'{"a":"\\\\"}'], b""),
        (b'{"a":[{"b":', [], b'{"a":[{"b":'),
        (b'{"a":"\\', [], b'{"a":"\\'),
        (b'\xef\xbb\xbf{"a":1}', [b'\xef\xbb\xbf{"a":1}'], b""),
        (b'\xef\xbb\xbf \n{"a":1}', [b'\xef\xbb\xbf{"a":1}'], b""),
        (b"\xef\xbb", [], b"\xef\xbb"),
        (b"\xef\xbb\xbf", [], b"\xef\xbb\xbf"),
        (b"[}", [b"[}"], b""),
    ],
)
def test_a_stream_is_cut_into_documents(stream: bytes, documents: list[bytes], rest: bytes) -> None:
    """The scanner matches no bracket kinds; the JSON reader does [T-13].

    White space before a document is dropped, in whatever chunks it comes.
    """
    assert fed(*(stream[at : at + 1] for at in range(len(stream)))) == (documents, None, rest)
    assert fed(stream) == (documents, None, rest)


@pytest.mark.behaviour("T-14")
@pytest.mark.parametrize(
    "stream", [b"log line\n{}", b"1", b'"x"', b"\x00{}", b"\xef\xbbx", b"\xff"]
)
@pytest.mark.behaviour("K-32")
def test_a_first_byte_that_opens_nothing_breaks_the_stream_at_once(stream: bytes) -> None:
    """[T-14]"""
    documents, broken, _ = fed(stream)
    assert documents == []
    assert broken is not None
    assert broken.raw == stream


def test_a_second_mark_breaks_the_stream() -> None:
    """[W-1]"""
    documents, broken, _ = fed(b"{}\xef\xbb\xbf{}")
    assert documents == [b"{}"]
    assert broken is not None


@pytest.mark.parametrize("chunks", [(b" \xef\xbb\xbf{}",), (b" ", b"\xef\xbb\xbf{}")])
def test_a_mark_after_white_space_breaks_the_stream(chunks: tuple[bytes, ...]) -> None:
    """[W-1] also when the white space was dropped long before."""
    documents, broken, _ = fed(*chunks)
    assert documents == []
    assert broken is not None


@pytest.mark.behaviour("T-17")
def test_nesting_is_bounded_before_anything_is_read() -> None:
    """[T-17] limits.JSON_DEPTH, at the limit and one past it."""
    deep = limits.JSON_DEPTH
    assert fed(b"[" * deep + b"]" * deep)[0]
    documents, broken, _ = fed(b"[" * (deep + 1))
    assert documents == []
    assert broken is not None
    assert "too-deep" in broken.reason


VALUES = st.recursive(
    st.none() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


@pytest.mark.behaviour("T-13")
@given(
    st.lists(st.dictionaries(st.text(), VALUES, max_size=3), min_size=1, max_size=4),
    st.lists(st.integers(1, 7), min_size=1, max_size=40),
    st.booleans(),
)
@pytest.mark.behaviour("C8")
def test_the_chunks_do_not_matter(
    values: list[dict[str, object]],
    sizes: list[int],
    escaped: bool,
) -> None:
    """A character split between two reads stays whole [C8]."""
    texts = [json.dumps(value, ensure_ascii=escaped) for value in values]
    stream = "\n".join(texts).encode("utf-8", "replace")
    whole = fed(stream)
    chunks: list[bytes] = []
    at = 0
    while at < len(stream):
        size = sizes[len(chunks) % len(sizes)]
        chunks.append(stream[at : at + size])
        at += size
    assert fed(*chunks) == whole
    assert len(whole[0]) == len(values)
    assert b"\n".join(whole[0]) + whole[2] == stream


@pytest.mark.behaviour("E119")
def test_a_large_document_is_scanned_once() -> None:
    """[E119] 8 MiB in blocks: work grows with the bytes, not with their square."""
    scanner = Scanner()
    block = b"x" * limits.READ_BLOCK_BYTES
    assert scanner.feed(b'{"a":"') == ((), None)
    for _ in range(limits.CONVERSATION_BYTES // limits.READ_BLOCK_BYTES):
        assert scanner.feed(block) == ((), None)
    documents, broken = scanner.feed(b'"}')
    assert broken is None
    assert len(documents[0]) == limits.CONVERSATION_BYTES + 8


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_white_space_before_an_answer_is_never_kept(mark: bytes) -> None:
    """[T-13, T-24, E119] so it is read once, however much of it comes."""
    scanner = Scanner()
    assert scanner.feed(mark) == ((), None)
    block = b" \t\r\n" * (limits.READ_BLOCK_BYTES // 4)
    for _ in range(limits.CONVERSATION_BYTES // limits.READ_BLOCK_BYTES):
        assert scanner.feed(block) == ((), None)
        assert scanner.rest == mark
    assert scanner.feed(b"{}") == ((mark + b"{}",), None)
