import pytest

from stella import codec
from stella.codec import Refused
from stella.message import ErrorClass
from stella.message import Message
from stella.message import Output
from stella.message import Role
from stella.message import failed
from stella.message import succeeded


def test_an_envelope_is_ok_or_error_and_never_both() -> None:
    """[T2-1, T2-4]"""
    assert codec.encode(succeeded("text", {"n": 1})) == b'{"ok":{"content":"text","data":{"n":1}}}'
    assert codec.encode(failed(ErrorClass.NOT_FOUND, "gone", cause="rule")) == (
        b'{"error":{"message":"gone","class":"not_found","cause":"rule"}}'
    )
    for tree in ({}, {"ok": {"content": "a"}, "error": {"message": "b", "class": "other"}}):
        with pytest.raises(Refused, match="exactly one"):
            codec.decode(Output, tree)


def test_the_model_sees_the_content_or_the_message() -> None:
    assert succeeded("text").text == "text"
    assert failed(ErrorClass.OTHER, "gone").text == "gone"


def test_empty_lists_are_left_out_of_a_message() -> None:
    """[M2-3]"""
    assert codec.encode(Message(role=Role.USER, content="a")) == b'{"role":"user","content":"a"}'


@pytest.mark.parametrize("value", [succeeded("a"), failed(ErrorClass.TIMEOUT, "b", data={"x": []})])
def test_an_envelope_reads_back(value: Output) -> None:
    assert codec.decode(Output, codec.plain(value)) == value
