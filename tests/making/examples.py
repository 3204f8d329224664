"""The examples of `examples/plugins`, and what a run with one of them leaves to look at."""

from pathlib import Path

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
    """What the plugins of the only run gave to its turns."""
    return [told["text"] for told in where.told("message") if told["origin"] == "plugin"]


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
