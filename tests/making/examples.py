"""The examples of `examples/plugins`, and what a run with one of them leaves to look at."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.making.ends import Json
from tests.making.ends import Place
from tests.making.ends import tree

EXAMPLES = Path(__file__).parents[2] / "examples" / "plugins"

PROGRAMS = {
    "steering-recall": "recall.py",
    "steering-plan": "plan.py",
    "budget-arbiter": "budget.py",
    "best-of-three": "best.py",
}
"""Each example with its program."""


def program(name: str) -> Path:
    return EXAMPLES / name / PROGRAMS[name]


def asked(
    name: str, *lines: object, raw: bytes | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run an example's program by hand: `lines` are all that the host will ever write to it."""
    data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    return subprocess.run(
        [sys.executable, "-I", "-S", program(name)],
        input=data if raw is None else raw,
        env={},
        capture_output=True,
        check=False,
        timeout=60,
    )


def request(point: str, **body: Any) -> Json:
    """A request of the first round."""
    whole = {"protocol_version": 1, "wrapper": "w", "round": 0, "goal": "mend it", **body}
    return {"point": point, "body": whole}


def said(done: subprocess.CompletedProcess[bytes]) -> list[Json]:
    """The lines that a program wrote, which ended well."""
    assert (done.returncode, done.stderr) == (0, b"")
    return [json.loads(line) for line in done.stdout.splitlines()]


def refused(number: int, word: str) -> Json:
    """The host's line that refuses a call."""
    return {"result": number, "err": {"refusal": word, "detail": "because"}}


def played(where: Place, *words: str) -> Json:
    """Run and return the result; nobody wrote into the directory of an installed plugin."""
    plugins = where.root / ".stella" / "plugins"
    before = tree(plugins)
    done = where.run(*words)
    assert tree(plugins) == before
    result = done.result
    assert done.code == result["exit_code"], done.err
    assert where.whole()
    return result


def context(where: Place) -> list[str]:
    """What the plugins of the only run gave to its turns, in that order."""
    messages = where.told("message")
    return [told["text"] for told in messages if told["origin"].startswith("plugin:")]


def served(where: Place) -> list[tuple[str, str]]:
    """Each host call of the only run, with what came of it: `ok` or the word of a refusal."""
    return [
        (call["call"], call["refusal"]["refusal"] if call.get("refusal") else "ok")
        for told in where.told("plugin_exchange")
        for call in told["calls"]
    ]


def evidence(where: Place) -> list[Json]:
    """What the plugins of the only run reported, round by round."""
    return [
        told["response"]["evidence"]
        for told in where.told("plugin_exchange")
        if told["point"] == "after_turn"
    ]
