"""What a tool is, and what it works with."""

import asyncio
from pathlib import Path
from typing import Annotated

import msgspec
import pytest

from stella import codec
from stella.authority.contract import Provenance
from stella.authority.risk import Risk
from stella.message import Output
from stella.message import succeeded
from stella.tools.tool import Tool
from stella.tools.tool import ToolContext
from stella.tools.tool import contract
from tests.making.hands import SESSION
from tests.making.hands import hands


class Input(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """An input."""

    path: Annotated[str, msgspec.Meta(min_length=1)]


async def _run(given: Input, context: ToolContext) -> Output:
    return succeeded(f"{given.path} in {context.root.path}")


TOOL = Tool(
    contract=contract("probe", "Probe a path.", Input, Risk.MEDIUM, read_only=False),
    shape=Input,
    result_bytes=100,
    paths=lambda given: (given.path,),
    risk=lambda given, _: Risk.HIGH if given.path == "x" else Risk.MEDIUM,
    run=_run,
)


def test_a_contract_is_made_from_the_type_of_the_input() -> None:
    """A-4."""
    made = TOOL.contract
    assert (made.name, made.description, made.risk) == ("probe", "Probe a path.", Risk.MEDIUM)
    assert (made.read_only, made.provenance) == (False, Provenance.BUILTIN)
    assert made.input_schema["required"] == ["path"]


def test_a_call_knows_its_paths_its_grade_and_how_to_run(tmp_path: Path) -> None:
    with hands(tmp_path) as own:
        bound = TOOL.bind({"path": "x"}, own.context)
        assert (bound.paths, bound.risk) == (("x",), Risk.HIGH)
        assert TOOL.bind({"path": "y"}, own.context).risk is Risk.MEDIUM

        async def ran() -> Output:
            return await bound.run()

        assert asyncio.run(ran()).text == f"x in {tmp_path}"
        with pytest.raises(codec.Refused):
            TOOL.bind({"path": ""}, own.context)


def test_a_child_is_told_session_and_workspace_and_nothing_of_an_agent(tmp_path: Path) -> None:
    """T2-47: and what was handed in stays as it is."""
    given = {"PATH": "/bin", "STELLA_WORKSPACE": "forged"}
    with hands(tmp_path, environment=given) as own:
        assert own.context.child_environment == {
            "PATH": "/bin",
            "STELLA_SESSION_ID": SESSION,
            "STELLA_WORKSPACE": str(tmp_path),
        }
    assert given == {"PATH": "/bin", "STELLA_WORKSPACE": "forged"}


def test_two_tokens_differ_and_name_the_session(tmp_path: Path) -> None:
    """T2-35."""
    with hands(tmp_path) as own:
        first, second = own.context.token(), own.context.token()
    assert first != second
    assert {token.rpartition("-")[0] for token in (first, second)} == {SESSION}
