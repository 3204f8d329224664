"""The three readers of a request say the same of anything, word for word.

Each language has a reader of its own, and the vectors show some requests. These are others, made
worse by chance: what one refuses the others refuse, with the same line.
"""

import base64
import json
import runpy
import subprocess
from random import Random

import pytest

from tests.fuzz.documents import MESSAGE_BYTES
from tests.fuzz.documents import MESSAGES
from tests.fuzz.mutation import mutated
from tests.making.shipped import MAIN
from tests.making.shipped import NODE
from tests.making.shipped import PATH
from tests.making.shipped import TESTDATA
from tests.making.shipped import VERIFY_RS
from tests.making.shipped import VERIFY_TS
from tests.making.shipped import Shipped
from tests.making.shipped import marked

REQUESTS = tuple(
    path.read_bytes().replace(b"${workspace_root}", b"/nowhere")  # so that nothing is started
    for path in sorted(TESTDATA.glob("*.request.json"))
    if path.with_name(path.name.replace("request.json", "expected.json")).exists()
)
COUNT = 800
PYTHON = runpy.run_path(str(MAIN))

READS = """
import {{ readFileSync }} from "node:fs";
import {{ readRequest }} from {module};
for (const line of readFileSync(0, "utf8").split("\\n")) {{
  try {{
    readRequest(new Uint8Array(Buffer.from(line, "base64")));
    console.log("null");
  }} catch (fault) {{
    console.log(JSON.stringify(fault.message));
  }}
}}
"""


def documents(seed: int) -> list[bytes]:
    chance = Random(seed)
    return [mutated(chance, chance.choice(REQUESTS), MESSAGES, MESSAGE_BYTES) for _ in range(COUNT)]


SYNTAX = {
    f"the request: {why}"
    for why in ("not JSON", "nested deeper than 64", "goes on after its document")
}
"""What is wrong with a document that is none; with more than one of them, either is true."""


def alike(one: str | None, other: str | None) -> bool:
    return one == other or {one, other} <= SYNTAX


def said_in_python(data: bytes) -> str | None:
    try:
        PYTHON["shaped"](PYTHON["REQUEST"], PYTHON["parse"](data))
    except PYTHON["Refusal"] as refusal:
        return str(refusal)
    return None


@pytest.mark.parametrize("plugin", [marked(VERIFY_TS)])
@pytest.mark.parametrize("seed", range(3))
def test_the_reader_in_typescript_says_what_the_one_in_python_says(
    plugin: Shipped, seed: int
) -> None:
    made = documents(seed)
    module = json.dumps(str(plugin.directory / "dist" / "request.js"))
    done = subprocess.run(
        [NODE, "--input-type=module", "--eval", READS.format(module=module)],
        input=b"\n".join(map(base64.b64encode, made)),
        capture_output=True,
        check=True,
    )
    said = [json.loads(line) for line in done.stdout.splitlines()]
    expected = [said_in_python(data) for data in made]
    assert len(said) == COUNT
    assert {None} < set(expected)
    for data, one, other in zip(made, expected, said, strict=True):
        assert alike(one, other), (data, one, other)


@pytest.mark.parametrize("plugin", [marked(VERIFY_RS)])
@pytest.mark.parametrize("seed", range(3, 6))
def test_the_reader_in_rust_says_what_the_one_in_python_says(plugin: Shipped, seed: int) -> None:
    made = documents(seed)
    expected = [said_in_python(data) for data in made]
    assert {None} < set(expected)
    for data, one in zip(made, expected, strict=True):
        done = subprocess.run(
            plugin.command, input=data, env={"PATH": PATH}, capture_output=True, check=False
        )
        other = done.stderr.decode().removeprefix("verify: ").removesuffix("\n") or None
        assert alike(one, other), (data, one, other)
        assert done.returncode == (one is not None), data
