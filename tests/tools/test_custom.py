"""A tool from a file: how it starts, what it is given, and every way in which it can end."""

import asyncio
import hashlib
import json
import os
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from stella import limits
from stella.authority.contract import Provenance
from stella.authority.risk import Risk
from stella.content.tool import read_tool
from stella.message import ErrorClass
from stella.message import Output
from stella.process.environment import inherited
from stella.tools.custom import CustomTool
from stella.tools.custom import Owner
from stella.tools.toolbox import Prepared
from tests.making.clocks import HandClock
from tests.making.content import put
from tests.making.hands import SESSION
from tests.making.hands import Hands
from tests.making.hands import hands
from tests.making.hands import permit_for
from tests.making.processes import PATH
from tests.making.processes import eventually
from tests.making.processes import marked
from tests.making.processes import new_mark
from tests.making.processes import none_left

USER = Owner(origin="user")
REGISTERED = frozenset({"OWN_MODEL_KEY"})


def custom(
    command: list[str],
    more: str = "",
    *,
    owner: Owner = USER,
    fence: Path | None = None,
    allowed: frozenset[str] = frozenset(),
) -> CustomTool:
    """A tool named `probe` that starts these words; `more` are further lines of its file."""
    text = f'name = "probe"\ndescription = "Probes."\ncommand = {json.dumps(command)}\n{more}'
    file = read_tool(text.encode()).value
    assert file is not None, read_tool(text.encode()).faults
    return CustomTool(
        file=file,
        owner=owner,
        fence=fence or Path("/nowhere"),
        filtered=partial(inherited, registered=REGISTERED, allowed=allowed),
    )


def shell(script: str, more: str = "", **rest: Any) -> CustomTool:
    """A tool whose program is one line of shell."""
    return custom(["/bin/sh", "-c", script], more, **rest)


@contextmanager
def own(
    root: Path,
    tool: CustomTool,
    *,
    environment: Mapping[str, str] | None = None,
    clock: HandClock | None = None,
) -> Iterator[Hands]:
    with hands(root, tools=(tool,), environment=environment, clock=clock) as found:
        yield found


def text(root: Path, tool: CustomTool, **given: Any) -> str:
    with own(root, tool) as found:
        return found.text("probe", **given)


def fault(root: Path, tool: CustomTool, **given: Any) -> tuple[ErrorClass, str]:
    with own(root, tool) as found:
        error = found.fault("probe", **given)
    return error.kind, error.message


def told_environment(
    root: Path, tool: CustomTool, environment: Mapping[str, str], **given: Any
) -> dict[str, str]:
    with own(root, tool, environment=environment) as found:
        said = found.text("probe", **given)
    return dict(entry.split("=", 1) for entry in said.split("\0") if entry)


# ── what it promises ──────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("claim", ["low", "medium", "high"])
def test_no_claim_lowers_its_grade_or_makes_it_trusted(claim: str) -> None:
    """A-6, P-10, E-20."""
    contract = custom(["true"], f'risk = "{claim}"\nread_only = true\n').contract
    assert (contract.risk, contract.read_only) == (Risk.HIGH, False)
    assert not contract.trusted_read_only
    assert contract.provenance is Provenance.DECLARED


@pytest.mark.behaviour("P-20")
def test_its_contract_says_whose_it_is() -> None:
    owner = Owner(origin="plugin:lint", plugin="lint", ceiling=Risk.HIGH)
    contract = custom(["true"], 'risk = "destructive"\n', owner=owner).contract
    assert (contract.origin, contract.plugin) == ("plugin:lint", "lint")
    assert (contract.risk, contract.ceiling) == (Risk.DESTRUCTIVE, Risk.HIGH)
    assert (custom(["true"]).contract.origin, custom(["true"]).contract.plugin) == ("user", None)


# ── how it starts ─────────────────────────────────────────────────────────────────────


@pytest.mark.behaviour("P-15")
def test_it_starts_directly_in_the_root_with_the_input_on_its_standard_input(
    tmp_path: Path,
) -> None:
    """T2-41: a session of its own, words as they are, the input and then the end."""
    script = 'pwd; cat; echo; ps -o sid= -p $$ | tr -d " "; echo $$; echo "$1"'
    tool = custom(["/bin/sh", "-c", script, "sh", "$(id); *"])
    said = text(tmp_path, tool, path="a b", n=1)
    where, given, session, process, word = said.rstrip("\n").split("\n")
    assert where == str(tmp_path)
    assert given == '{"path":"a b","n":1}'
    assert session == process
    assert word == "$(id); *"


def test_a_relative_program_is_the_roots_and_a_bare_name_is_looked_up(tmp_path: Path) -> None:
    put(tmp_path / "bin" / "here", "#!/bin/sh\necho from the root\n", 0o755)
    assert text(tmp_path, custom(["bin/here"])) == "from the root\n"
    assert text(tmp_path, custom(["echo", "found"])) == "found\n"


@pytest.mark.behaviour("P-12")
@pytest.mark.behaviour("K-176")
def test_the_placeholder_is_replaced_in_a_package_and_nowhere_else(tmp_path: Path) -> None:
    root, package = tmp_path / "root", tmp_path / "package"
    root.mkdir()
    put(package / "say", '#!/bin/sh\necho "$1 $RULES"\n', 0o755)
    words = ["${plugin_dir}/say", "x${plugin_dir}"]
    more = '[env]\nRULES = "${plugin_dir}/rules"\n'
    owner = Owner(origin="plugin:p", plugin="p", directory=str(package))
    assert text(root, custom(words, more, owner=owner)) == f"x{package} {package}/rules\n"
    kind, message = fault(root, custom(words, more))
    assert kind is ErrorClass.ENVIRONMENT
    assert "${plugin_dir}/say" in message
    said = text(root, custom(["/bin/sh", "-c", 'echo "$0 $RULES"', "${plugin_dir}"], more))
    assert said == "${plugin_dir} ${plugin_dir}/rules\n"


def test_a_plugins_tool_finds_no_program_by_name_in_the_workspace(tmp_path: Path) -> None:
    """Q-30: whoever may write there would choose what runs; the person's PATH is the person's."""
    put(tmp_path / "bin" / "own-name", "#!/bin/sh\necho ran\n", 0o755)
    more = f'[env]\nPATH = "{tmp_path}/bin:{PATH}"\n'
    plugin = Owner(origin="plugin:p", plugin="p")
    assert text(tmp_path, custom(["own-name"], more, fence=tmp_path)) == "ran\n"
    kind, message = fault(tmp_path, custom(["own-name"], more, owner=plugin, fence=tmp_path))
    assert kind is ErrorClass.ENVIRONMENT
    assert "inside the workspace" in message


def test_a_package_that_is_not_the_accepted_one_starts_nothing(tmp_path: Path) -> None:
    """I-30, P-15: asked before every start, at the time of the start."""
    answers = [None, "p is not what was accepted", None]
    owner = Owner(origin="plugin:p", plugin="p", cleared=lambda: answers.pop(0))
    tool = shell("echo x >> ran; cat ran", owner=owner)
    with own(tmp_path, tool) as found:
        assert found.text("probe") == "x\n"
        error = found.fault("probe")
        assert found.text("probe") == "x\nx\n"
    assert (error.kind, error.cause) == (ErrorClass.REFUSED_BY_POLICY, "plugin")
    assert error.message == "p is not what was accepted"


# ── what it is given ──────────────────────────────────────────────────────────────────


@pytest.mark.behaviour("P-16")
def test_scalars_at_the_top_of_the_input_are_variables(tmp_path: Path) -> None:
    given = {
        "path": "a b\n",
        "max-size": 3,
        "Ratio.x": 1.5,
        "on": True,
        "off": False,
        "ü1": "u",
        "nothing": None,
        "list": ["x"],
        "table": {"x": 1},
        "nul": "a\0b",
    }
    tool = custom(["env", "-0"], '[input_schema.properties.nothing]\ntype = "null"\n')
    found = told_environment(tmp_path, tool, {"PATH": PATH}, **given)
    inputs = {name: value for name, value in found.items() if name.startswith("STELLA_INPUT_")}
    assert inputs == {
        "STELLA_INPUT_PATH": "a b\n",
        "STELLA_INPUT_MAX_SIZE": "3",
        "STELLA_INPUT_RATIO_X": "1.5",
        "STELLA_INPUT_ON": "true",
        "STELLA_INPUT_OFF": "false",
        "STELLA_INPUT__1": "u",
    }


def test_a_text_that_no_environment_can_hold_is_on_standard_input_alone(tmp_path: Path) -> None:
    """P-16: a long text must not keep the tool from starting."""
    script = 'cat | wc -c; echo "${STELLA_INPUT_TEXT-unset}" | wc -c'
    most = limits.INPUT_VARIABLE_BYTES
    long = len('{"text":""}')
    assert text(tmp_path, shell(script), text="x" * most).split() == [
        str(most + long),
        str(most + 1),
    ]
    assert text(tmp_path, shell(script), text="x" * (most + 1)).split() == [
        str(most + 1 + long),
        str(len("unset\n")),
    ]


@pytest.mark.behaviour("P-17")
def test_its_environment_is_filtered_after_its_own_names_are_added(tmp_path: Path) -> None:
    """T2-45, T2-46: what a file names is filtered as what is inherited, credentials always."""
    inherited_names = {
        "PATH": PATH,
        "LANG": "C",
        "GITHUB_TOKEN": "t",
        "OWN_MODEL_KEY": "k",
        "BASH_ENV": "/x",
        "STELLA_HOME": "/h",
        "AWS_PROFILE": "p",
    }
    more = '[env]\nRULESET = "strict"\nLANG = "de"\nMY_SECRET = "s"\nGIT_DIR = "/g"\n'
    more += 'STELLA_WORKSPACE = "/elsewhere"\nOWN_MODEL_KEY = "k"\n'
    found = told_environment(tmp_path, custom(["env", "-0"], more), inherited_names)
    assert found == {
        "PATH": PATH,
        "LANG": "de",
        "RULESET": "strict",
        "STELLA_SESSION_ID": SESSION,
        "STELLA_WORKSPACE": str(tmp_path),
    }
    tool = custom(["env", "-0"], more, allowed=frozenset({"GIT_DIR"}))
    assert told_environment(tmp_path, tool, inherited_names)["GIT_DIR"] == "/g"


# ── its input ─────────────────────────────────────────────────────────────────────────


def test_an_input_that_does_not_fit_is_told_with_all_its_faults(tmp_path: Path) -> None:
    """E-23, E-25: nothing is started."""
    more = '[input_schema]\nrequired = ["path"]\nadditionalProperties = false\n'
    more += '[input_schema.properties.path]\ntype = "string"\n'
    more += '[input_schema.properties.n]\ntype = "integer"\n'
    kind, message = fault(tmp_path, shell(": > ran", more), n="x", other=1)
    assert kind is ErrorClass.INVALID_INPUT
    assert message.split("\n")[1:] == [
        "path: is required and missing",
        "n: expected integer, got string",
        "other: is no key of the input; legal here: path, n",
    ]
    assert not (tmp_path / "ran").exists()


# ── how it ends ───────────────────────────────────────────────────────────────────────


@pytest.mark.behaviour("P-19")
def test_output_is_the_result_and_standard_error_is_not(tmp_path: Path) -> None:
    with own(tmp_path, shell("printf 'a\\377b\\n'; echo err >&2")) as found:
        output = found.do("probe")
    assert output.ok is not None
    assert output.ok.content == "a\ufffdb\n"
    assert output.ok.data is not None
    assert output.ok.data["exit_code"] == 0
    assert (output.ok.data["bytes_out"], output.ok.data["invalid_bytes"]) == (8, 1)


def test_long_output_is_cut_in_the_middle_around_a_line_that_says_so(tmp_path: Path) -> None:
    """P-19, T2-3: 40 % head and 60 % tail."""
    fits = limits.RESULT_BYTES_SHELL
    assert text(tmp_path, shell(f"yes | tr -d '\\n' | head -c {fits}")) == "y" * fits
    cut = text(tmp_path, shell(f"yes | tr -d '\\n' | head -c {fits + 1}"))
    assert len(cut.encode()) <= fits
    head, marker, tail = cut.split("\n")
    assert "bytes removed here" in marker
    assert abs(len(head) / (len(head) + len(tail)) - 0.4) < 0.01


def test_no_output_is_one_fixed_line(tmp_path: Path) -> None:
    """P-19: with the tool's name and the beginning of the input's digest."""
    digest = hashlib.sha256(b'{"a":1}').hexdigest()[:8]
    said = text(tmp_path, shell("cat >/dev/null"), a=1)
    assert said == f"probe succeeded without output (input {digest})"


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo out; echo why >&2; exit 3", "exit code 3\n[stderr]\nwhy"),
        ("exit 1", "exit code 1"),
        ("kill -TERM $$", "ended by signal 15"),
        ("echo why >&2; kill -KILL $$", "ended by signal 9\n[stderr]\nwhy"),
    ],
)
def test_an_exit_that_is_not_0_and_a_signal_are_errors(
    tmp_path: Path, script: str, said: str
) -> None:
    """P-19."""
    assert fault(tmp_path, shell(script)) == (ErrorClass.OTHER, said)


def test_only_the_end_of_standard_error_is_told(tmp_path: Path) -> None:
    """P-19, T-29."""
    script = f"yes | tr -d '\\n' | head -c {limits.STDERR_CHARS + 1} >&2; printf z >&2; exit 1"
    _, message = fault(tmp_path, shell(script))
    assert message == f"exit code 1\n[stderr]\n{'y' * (limits.STDERR_CHARS - 1)}z"


def test_a_program_that_cannot_be_started_is_an_error_with_its_place(tmp_path: Path) -> None:
    """P-19: program and directory are named."""
    put(tmp_path / "plain", "x\n")
    for words in (["./gone"], ["./plain"], ["nowhere-to-be-found"], ["/bin/sh", "x" * 2**17]):
        kind, message = fault(tmp_path, custom(words))
        assert kind is ErrorClass.ENVIRONMENT
        assert words[0].removeprefix("./") in message
        assert message.endswith(f"; nothing was started in {tmp_path}")
        assert "\n" not in message


@pytest.mark.parametrize(
    ("output", "value"),
    [('{"n": 1}', {"n": 1}), (' \n{"n": 2, "more": []}\n\n', {"n": 2, "more": []})],
)
def test_an_output_that_is_what_was_promised_is_attached(
    tmp_path: Path, output: str, value: object
) -> None:
    """P-19."""
    with own(tmp_path, custom(["printf", "%s", output], SCHEMA)) as found:
        data = found.data("probe")
    assert data["value"] == value


@pytest.mark.parametrize(
    ("output", "why"),
    [
        ("[]", "$: [] is not of type 'object'"),
        ('{"n": "x"}', "$.n: 'x' is not of type 'integer'"),
        ("{", "it is not JSON: "),
        ("", "it is not JSON: "),
        ('{"n": 1} {"n": 1}', "it is not JSON: "),
    ],
)
def test_an_output_that_is_not_what_was_promised_is_an_error(
    tmp_path: Path, output: str, why: str
) -> None:
    """P-19."""
    kind, message = fault(tmp_path, custom(["printf", "%s", output], SCHEMA))
    assert kind is ErrorClass.INTERNAL
    assert f"the output of probe is not what its output_schema promises: {why}" in message


SCHEMA = '[output_schema]\ntype = "object"\n[output_schema.properties.n]\ntype = "integer"\n'


def test_at_its_time_limit_the_whole_group_is_ended(tmp_path: Path) -> None:
    """P-19, T-30, T2-44: also a grandchild that holds the output."""
    mark = new_mark()
    script = f"echo begun >&2; sh -c 'sleep 600; : {mark}' & sleep 600; : {mark}"
    with own(tmp_path, shell(script, "timeout_ms = 300\n")) as found:
        error = found.fault("probe")
    assert error.kind is ErrorClass.TIMEOUT
    assert error.message == "probe was ended at its limit of 300 ms\n[stderr]\nbegun"
    assert error.data is not None
    assert error.data["effect"] == "unknown"
    none_left(mark)


def test_a_grandchild_that_holds_the_output_is_ended_and_counted(tmp_path: Path) -> None:
    """T-26, T2-43: the result is there when the tool itself has exited."""
    mark = new_mark()
    with own(tmp_path, shell(f"env MARK={mark} sleep 600 & echo done")) as found:
        output = found.do("probe")
    assert output.ok is not None
    assert output.ok.content == "done\n[processes left running and ended: 1]"
    assert output.ok.data is not None
    assert output.ok.data["survivors"] == 1
    none_left(mark)


def test_a_flood_of_output_is_ended_at_the_cap(tmp_path: Path) -> None:
    """P-19, T2-42."""
    mark = new_mark()
    with own(tmp_path, shell(f"yes; : {mark}")) as found:
        error = found.fault("probe")
    assert (error.kind, error.cause) == (ErrorClass.OTHER, "output_cap")
    assert error.message == f"probe was ended at {limits.CONVERSATION_BYTES} bytes of output"
    none_left(mark)


def test_a_flood_of_errors_is_ended_at_the_cap_and_told_in_part(tmp_path: Path) -> None:
    """P-19, T2-42: both streams count."""
    mark = new_mark()
    with own(tmp_path, shell(f"yes >&2; : {mark}")) as found:
        error = found.fault("probe")
    assert error.cause == "output_cap"
    assert len(error.message) < 2 * limits.STDERR_CHARS
    none_left(mark)


def test_an_input_too_large_for_an_environment_starts_nothing(tmp_path: Path) -> None:
    """P-19: the system takes no environment of that size; the result says so."""
    given = {f"k{at}": "x" * limits.INPUT_VARIABLE_BYTES for at in range(200)}
    kind, message = fault(tmp_path, shell(": > ran"), **given)
    assert kind is ErrorClass.ENVIRONMENT
    assert "nothing was started in" in message
    assert not (tmp_path / "ran").exists()


def test_the_directory_of_the_package_is_a_text_and_nothing_more(tmp_path: Path) -> None:
    """P-12: replaced once, as it is, wherever it stands in a word; no shell sees it."""
    odd = "/x/$(touch ran)/${plugin_dir}/a b;'"
    owner = Owner(origin="plugin:one", plugin="one", directory=odd)
    tool = custom(["printf", "%s|", "${plugin_dir}", "a${plugin_dir}b", "$plugin_dir"], owner=owner)
    assert text(tmp_path, tool) == f"{odd}|a{odd}b|$plugin_dir|"
    assert not (tmp_path / "ran").exists()


def test_a_cancel_ends_the_group(tmp_path: Path) -> None:
    """T2-44."""
    mark = new_mark()
    script = f"trap '' TERM; echo x > begun; while :; do sleep 1; done; : {mark}"

    async def cancelled() -> None:
        with own(tmp_path, shell(script)) as found:
            prepared = found.prepare("probe")
            assert isinstance(prepared, Prepared)
            running = asyncio.create_task(found.toolbox.run(prepared, permit_for(prepared)))
            begun = (tmp_path / "begun").exists
            await asyncio.to_thread(eventually, begun)
            assert marked(mark)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running

    asyncio.run(cancelled())
    none_left(mark)


def test_a_tool_that_is_stopped_is_ended_too(tmp_path: Path) -> None:
    """T2-44."""
    mark = new_mark()
    script = f"kill -STOP $$; : {mark}"
    kind, _ = fault(tmp_path, shell(script, "timeout_ms = 300\n"))
    assert kind is ErrorClass.TIMEOUT
    none_left(mark)


def test_a_tool_that_its_guard_lost_is_an_error_and_nothing_raises(tmp_path: Path) -> None:
    """P-19."""
    with own(tmp_path, shell("kill -KILL $PPID; sleep 600")) as found:
        error = found.fault("probe")
    assert error.kind is ErrorClass.INTERNAL
    assert error.message.startswith("probe was lost sight of: ")


# ── text file busy ────────────────────────────────────────────────────────────────────


class Closing(HandClock):
    """A clock that lets go of a file when it has been waited for often enough."""

    def after(self, waits: int, let_go: Callable[[], None]) -> "Closing":
        self.waits, self.let_go = waits, let_go
        return self

    async def sleep(self, milliseconds: int) -> None:
        await super().sleep(milliseconds)
        if len(self.slept) == self.waits:
            self.let_go()


def busy(root: Path, waits: int) -> tuple[Output, list[int]]:
    """Call a program that is open for writing until the clock was waited for `waits` times."""
    program = put(root / "probe", Path("/bin/true").read_bytes(), 0o755)
    held = [os.open(program, os.O_WRONLY)]
    clock = Closing().after(waits, lambda: os.close(held.pop()))
    try:
        with own(root, custom([str(program)]), clock=clock) as found:
            return found.do("probe"), clock.slept
    finally:
        for descriptor in held:
            os.close(descriptor)


@pytest.mark.behaviour("P-18")
def test_a_program_that_is_still_being_written_is_waited_for(tmp_path: Path) -> None:
    output, slept = busy(tmp_path, limits.BUSY_TRIES)
    assert output.ok is not None, output
    assert slept == [10, 20, 40, 80, 160]
    assert slept[0] == limits.BUSY_MS


def test_a_program_that_stays_open_for_writing_is_given_up(tmp_path: Path) -> None:
    """P-18: five times again and no more."""
    output, slept = busy(tmp_path, limits.BUSY_TRIES + 1)
    assert output.error is not None
    assert output.error.kind is ErrorClass.ENVIRONMENT
    assert "open for writing" in output.error.message
    assert len(slept) == limits.BUSY_TRIES
