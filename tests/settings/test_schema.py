"""[S2-4, S2-5, D-7, D-50, M2-50] What the bytes of a settings file mean."""

import tomllib

import pytest

from stella import limits
from stella.settings.schema import MODEL_OF
from stella.settings.schema import SettingsFile
from stella.settings.schema import Switch
from stella.settings.schema import UiTable
from stella.settings.schema import hook_entries
from stella.settings.schema import names_of
from stella.settings.schema import read_settings
from stella.settings.sections import MODEL_NAMES
from stella.settings.sections import Scope
from stella.turn.seats import TIERS
from stella.turn.seats import Seat

FULL = """
[meta]
schema_version = 1
scope = "user"
[model]
default = "a"
[tiers]
worker = "a"
cheap = "b"
[pipeline]
default = " verify , other"
max_holds = 3
test_timeout_secs = 60
tiers = { verifier = "worker", mine = "verdict" }
"""


def said(text: str | bytes, scope: Scope = Scope.USER) -> SettingsFile:
    found = read_settings(text.encode() if isinstance(text, str) else text, scope)
    assert isinstance(found, SettingsFile), found
    return found


def wrong(text: str | bytes, scope: Scope = Scope.USER) -> list[str]:
    found = read_settings(text.encode() if isinstance(text, str) else text, scope)
    assert not isinstance(found, SettingsFile)
    places = [f":{each.line}:{each.column}" if each.line else each.at for each in found]
    return [f"{place}: {each.message}" for place, each in zip(places, found, strict=True)]


def test_a_file_says_what_stands_in_it() -> None:
    """[D-7, S2-26]"""
    file = said(FULL)
    assert (file.names, file.worker) == (("verify", "other"), "a")
    assert (file.pipeline.max_holds, file.pipeline.test_timeout_secs) == (3, 60)
    assert file.pipeline.tiers == {"verifier": Seat.WORKER, "mine": Seat.VERDICT}
    assert file.tiers.given == {"worker": "a", "cheap": "b"}


@pytest.mark.parametrize("text", ["", "# nothing\n", "[pipeline]\n", "[model]\n[tiers]\n"])
def test_an_empty_file_says_nothing(text: str) -> None:
    file = said(text)
    assert (file.names, file.worker, file.tiers.given, file.ignored) == (None, None, {}, ())


@pytest.mark.behaviour("D-50")
def test_the_tiers_that_plugins_ask_for_have_seats() -> None:
    """[D-50, M2-53]"""
    assert dict(TIERS) == {
        "worker": "worker",
        "triage": "triage",
        "research": "research",
        "plan": "plan",
        "verifier": "verdict",
    }
    assert {seat.value for seat in Seat} == {"worker", "triage", "research", "plan", "verdict"}
    assert dict(MODEL_OF) == {
        "worker": "worker",
        "research": "research",
        "plan": "plan",
        "verdict": "verifier",
        "triage": "cheap",
    }
    assert set(MODEL_OF.values()) == set(MODEL_NAMES)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[pipeline.tiers]\nx = 'verifier'", 'pipeline.tiers.x: "verifier" is not one of'),
        ("[pipeline.tiers]\nx = 'plann'", "did you mean plan?"),
        ("[pipeline.tiers]\nx = 1", "pipeline.tiers.x: expected a string, got"),
        ("[pipeline.tiers]\n' ' = 'plan'", "pipeline.tiers: a tier has no name"),
        ("[pipeline]\ntiers = []", "pipeline.tiers: expected a table"),
        ("[tiers]\nworker = 1", "tiers.worker: expected a string"),
        ("[tiers]\nplan = ' '", "tiers.plan: the name of a model is blank"),
        ("[model]\ndefault = ''", "model.default: the name of a model is blank"),
        ("[model]\ndefault = []", "model.default: expected a string"),
        ("pipeline = 3", "pipeline: expected a table"),
        ("[[pipeline]]", "pipeline: expected a table"),
        ("[pipeline]\nmax_holds = true", "pipeline.max_holds: expected an integer"),
        ("[pipeline]\nmax_holds = 1.0", "pipeline.max_holds: expected an integer"),
        ("[pipeline]\ndefault = ['x']", "pipeline.default: expected a string"),
    ],
)
def test_a_wrong_value_is_a_fault_with_its_place(text: str, told: str) -> None:
    """[S2-4, S2-26]"""
    (fault,) = wrong(text)
    assert told in fault


@pytest.mark.behaviour("D-7.bounds")
@pytest.mark.parametrize(
    ("key", "low", "high"),
    [
        ("max_holds", 0, limits.HOLDS_MAX),
        ("test_timeout_secs", limits.TEST_SECS_MIN, limits.TEST_SECS_MAX),
    ],
)
def test_a_number_is_taken_up_to_its_bounds(key: str, low: int, high: int) -> None:
    """[D-7, S2-26]"""
    for good in (low, high):
        assert getattr(said(f"[pipeline]\n{key} = {good}").pipeline, key) == good
    for bad in (low - 1, high + 1):
        assert wrong(f"[pipeline]\n{key} = {bad}") == [
            f"pipeline.{key}: expected {low} to {high}, got {bad}"
        ]


@pytest.mark.parametrize("text", ["", " ", ",", "a,", ",a", "a,,b", "a, ,b"])
def test_a_default_with_an_empty_part_is_a_fault(text: str) -> None:
    """[D-1, D-5]"""
    assert names_of(text) is None
    (fault,) = wrong(f"[pipeline]\ndefault = '{text}'")
    assert fault.startswith(f'pipeline.default: "{text.strip()}" has an empty part')


@pytest.mark.behaviour("M2-51")
def test_two_choices_of_the_session_model_in_one_file_are_a_fault() -> None:
    """[M2-51]"""
    (fault,) = wrong("[model]\ndefault = 'a'\n[tiers]\nworker = 'b'")
    assert fault.startswith('tiers.worker: "b", but model.default says "a"')
    assert said("[tiers]\nworker = 'b'").worker == "b"
    assert said("[model]\ndefault = 'a'").worker == "a"


@pytest.mark.behaviour("S2-5")
def test_a_header_must_be_of_this_version_and_of_the_files_scope() -> None:
    """[S2-5]"""
    said("[meta]\nschema_version = 1\nscope = 'project'", Scope.PROJECT)
    assert wrong("[meta]\nschema_version = 2\nscope = 'project'") == [
        "meta.schema_version: this release reads version 1, got 2",
        'meta.scope: this is the user file, got "project"',
    ]
    assert wrong("[meta]\nscope = 'user'", Scope.PROJECT) == [
        'meta.scope: this is the project file, got "user"'
    ]
    assert "expected an integer" in wrong("[meta]\nschema_version = '1'")[0]


@pytest.mark.behaviour("S2-4.all")
def test_all_faults_of_a_file_are_told_in_the_order_of_its_sections() -> None:
    """[S2-4]"""
    text = """
    [budget]
    run_usd = 1.0
    [tiers]
    worker = 1
    nobody = "x"
    [pipeline]
    max_holds = 9
    default = ","
    [pipelin]
    """
    places = [fault.partition(":")[0] for fault in wrong(text)]
    assert places == [
        "budget",
        "tiers.nobody",
        "tiers.worker",
        "pipeline.max_holds",
        "pipelin",
    ]
    both = wrong("[pipeline]\ndefault = ','\n[model]\ndefault = ' '")
    assert [fault.partition(":")[0] for fault in both] == ["pipeline.default", "model.default"]


@pytest.mark.behaviour("S2-2.text")
@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"x = \xff", ": byte 4 is not UTF-8; save the file as UTF-8"),
        (b"\xef\xbb\xbf[model]", ": a byte-order mark stands at byte 0"),
        (b"[model]\ndefault = \n", ":2:11: the file is not TOML: Invalid value"),
        (b"[model]\n[model]\n", ":2:7: the file is not TOML: Cannot declare"),
        (b"x = '", ": the file is not TOML: "),
        (b"x = " + b"[" * 20 + b"]" * 20, ":1:21: more is nested, or a number is longer"),
        (b"x = " + b"9" * 5000, ":1:5: more is nested, or a number is longer"),
        (b'x = "\x1b[31m"', "the file is not TOML: Illegal character"),
    ],
    ids=range(8),
)
def test_what_is_no_settings_text_is_one_fault(data: bytes, told: str) -> None:
    """[S2-2, S2-4]"""
    (fault,) = wrong(data)
    assert fault.startswith(told) or told in fault
    assert "\x1b" not in fault


def test_what_a_projects_file_cannot_say_is_listed() -> None:
    """[A-70]"""
    found = said("[ui]\nlive = true\n[serve]\n[pipeline]\nmax_holds = 1", Scope.PROJECT)
    assert (found.ignored, found.later) == (("serve",), ())
    assert found.ui == UiTable(live=True)


@pytest.mark.behaviour("S2-25.plugins")
def test_a_plugin_is_switched_by_two_words_and_no_other() -> None:
    """[S2-25, I-43]"""
    found = said('[plugins]\na = "off"\nb = "on"\n"c d" = "off"')
    assert found.off == frozenset({"a", "c d"})
    assert found.plugins["b"] is Switch.ON
    right = 'expected "on" or "off", got'
    assert wrong('[plugins]\na = false\nb = true\nc = "of"\nd = 1\ne = "Off"') == [
        f'plugins.a: {right} a boolean; write "off"',
        f'plugins.b: {right} a boolean; write "on"',
        f'plugins.c: {right} "of"',
        f"plugins.d: {right} another type",
        f'plugins.e: {right} "Off"',
    ]
    assert wrong("plugins = 3") == ['plugins: expected a table of names, each "on" or "off"']


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("", []),
        ("hooks = 3", [("hooks", 3)]),
        ("[hooks]", []),
        (
            '[[hooks.Stop]]\nhooks = [{ command = "a" }, { argv = ["b"] }]',
            [("Stop", {"command": "a"}), ("Stop", {"argv": ["b"]})],
        ),
        ("[[hooks.Stop]]\nhooks = []", [("Stop", {"hooks": []})]),
        ('[hooks]\nStop = "rm"', [("Stop", "rm")]),
        ('[hooks.Stop]\ncommand = "rm"', [("Stop", {"command": "rm"})]),
    ],
)
def test_every_entry_of_hooks_is_told_whatever_its_shape(
    text: str, entries: list[tuple[str, object]]
) -> None:
    """[H-45, I-52] What cannot be understood is shown as it stands."""
    assert list(hook_entries(tomllib.loads(text).get("hooks"))) == entries
    assert said(text, Scope.PROJECT).hooks == len(entries)


@pytest.mark.parametrize(
    ("head", "row"),
    [("", "[s{}]\n"), ("[model]\n", "k{} = 1\n"), ("[pipeline.tiers]\n", "k{}=1\n")],
)
def test_a_file_with_very_many_faults_tells_so_many_and_no_more(head: str, row: str) -> None:
    """[S2-4]: limits.FAULTS_TOLD, at the limit and one past it; a repository may bring such a file.

    The work grows with the file and not faster: at 100,000 sections it would be minutes.
    """
    for number in (limits.FAULTS_TOLD, limits.FAULTS_TOLD + 1, 40 * limits.FAULTS_TOLD):
        text = head + "".join(row.format(n) for n in range(number))
        assert len(wrong(text, Scope.PROJECT)) == limits.FAULTS_TOLD


def test_several_sections_together_tell_no_more_than_one() -> None:
    """[S2-4]: limits.FAULTS_TOLD"""
    rows = "".join(f"k{n} = 1\n" for n in range(limits.FAULTS_TOLD - 1))
    found = wrong(f"[tiers]\n{rows}[model]\n{rows}[plugin]\n", Scope.PROJECT)
    assert len(found) == limits.FAULTS_TOLD
    assert found[-1].startswith("model.k0: unknown key")


def test_the_first_unknown_words_alone_are_told_what_may_be_meant() -> None:
    """[M-8]: limits.NEAR_LOOKUPS and limits.NEAR_CHARS"""
    long = f"default{'x' * limits.NEAR_CHARS}"
    rows = "".join(f'"def{n}lt" = 1\n' for n in range(limits.NEAR_LOOKUPS))
    found = wrong(f"[model]\n{long} = 1\n{rows}")
    assert [each.endswith("did you mean default?") for each in found] == [
        False,
        *[True] * (limits.NEAR_LOOKUPS - 1),
        False,
    ]


@pytest.mark.parametrize(
    "text",
    [
        "{}=1",
        "[{}]",
        "[model]\n{}=1",
        "[pipeline.tiers]\n{}=1",
        '[meta]\nscope="{}"',
        '[pipeline]\ndefault=",{}"',
        '[model]\ndefault="{}"\n[tiers]\nworker="b"',
        '[model]\ndefault="b"\n[tiers]\nworker="{}"',
    ],
)
def test_a_fault_is_short_however_long_what_it_names_is(text: str) -> None:
    """[S2-4]: limits.FAULT_VALUE_CHARS of it are shown, hidden characters made visible."""
    word = "x" * 4 * limits.FAULT_VALUE_CHARS
    for told in wrong(text.format(word), Scope.PROJECT):
        assert len(told) < 4 * limits.FAULT_VALUE_CHARS
        assert "more characters]" in told
