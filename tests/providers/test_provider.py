from stella import codec
from stella.message import Message
from stella.message import Role
from stella.providers.provider import ModelRequest
from stella.providers.provider import ToolSchema


def test_a_request_is_written_as_it_is_hashed() -> None:
    """[M2-1, M2-3, J2-41]"""
    request = ModelRequest(
        messages=(Message(role=Role.USER, content="hi"),),
        tools=(ToolSchema(name="t", description="d", input_schema={"type": "object"}),),
        role="worker",
    )
    assert codec.plain(request) == {
        "messages": [{"role": "user", "content": "hi"}],
        "tools": [{"name": "t", "description": "d", "input_schema": {"type": "object"}}],
        "max_output_tokens": None,
        "role": "worker",
    }
