"""The example of skills and records, in runs of the real command."""

import hashlib
from pathlib import Path

from stella import codec
from stella.message import Message
from stella.message import Role
from tests.making.ends import Place
from tests.making.ends import place
from tests.making.ends import says
from tests.making.examples import EXAMPLES
from tests.making.examples import played

NAME = "content-bundle"
ALWAYS = "> - should: Every change that a person can notice has a line in CHANGELOG.md."
SOMETIMES = "> - may: A release changes the version in one place only."
SKILL = "> 1. Find the last tag: `git describe --tags --abbrev=0`."


def sent(where: Place, prompt: str) -> tuple[str, list[str]]:
    """The prefix and the messages behind the prompt that the model was sent.

    The digest of the request proves that these were all, and in this order.
    """
    where.scripted(says())
    done = where.stella("run", prompt, *where.asked)
    assert done.code == 0, done.err
    (system,) = where.told("system_prompt")
    behind = [told["text"] for told in where.told("message")]
    roles = (Role.SYSTEM, Role.USER, *(Role.USER for _ in behind))
    texts = (system["text"], prompt, *behind)
    messages = tuple(Message(role=r, content=text) for r, text in zip(roles, texts, strict=True))
    (request,) = where.told("model_request")
    assert request["messages_sha256"] == hashlib.sha256(codec.canonical(messages)).hexdigest()
    assert [told["origin"] for told in where.told("message")] == ["skills"] * len(behind)
    return system["text"], behind


def test_its_skill_and_its_records_are_what_the_model_reads(tmp_path: Path) -> None:
    """[P-34, P-51, P-52, B61] The skill is selected, both records stand where they belong."""
    where = place(tmp_path)
    where.install(EXAMPLES / NAME)
    prefix, (text,) = sent(where, "compose the notes of this release")
    assert ALWAYS in prefix.splitlines()
    assert f"### From the plugin {NAME}" in prefix
    assert SOMETIMES not in prefix
    lines = text.splitlines()
    assert lines.index(f"### From the plugin {NAME}") < lines.index(SKILL) < lines.index(SOMETIMES)


def test_a_prompt_about_something_else_gets_the_prefix_alone(tmp_path: Path) -> None:
    """[P-34, P-51]"""
    where = place(tmp_path)
    where.install(EXAMPLES / NAME)
    prefix, behind = sent(where, "mend the parser")
    assert ALWAYS in prefix
    assert behind == []


def test_it_is_no_member_of_a_pipeline_and_what_is_removed_says_nothing(tmp_path: Path) -> None:
    """[P-2, D-8] Nothing was copied out of the package."""
    where = place(tmp_path)
    where.install(EXAMPLES / NAME)
    listed = where.stella("skills", "list")
    assert f"release-notes  plugin:{NAME}  on\n" in listed.out
    assert where.stella("run", "go", *where.asked, "--pipeline", NAME).code != 0
    assert where.stella("plugin", "remove", NAME).code == 0
    prefix, behind = sent(where, "compose the notes of this release")
    assert ALWAYS not in prefix
    assert behind == []


def test_a_changed_record_is_not_read_any_more(tmp_path: Path) -> None:
    """[I-30, P-9] One byte that nobody accepted: the whole package contributes nothing."""
    where = place(tmp_path)
    where.install(EXAMPLES / NAME)
    (file,) = where.root.glob(f".stella/plugins/{NAME}/rules/*.toml")
    file.write_text(file.read_text("utf-8").replace("should", "must"), "utf-8")
    where.scripted(says())
    result = played(where)
    assert result["status"] == "completed"
    (system,) = where.told("system_prompt")
    assert "CHANGELOG.md" not in system["text"]
