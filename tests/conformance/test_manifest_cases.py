"""The cases about manifests, each as the table has it [K-1 to K-26, K-78 to K-84]."""

import pytest

from stella import limits
from stella.authority.risk import Risk
from stella.consent.text import Resolution
from stella.consent.text import consent_text
from stella.manifest.fault import ManifestFault
from stella.manifest.loop import NOT_FOR_PLUGINS
from stella.manifest.read import Unloadable
from stella.manifest.read import examine
from stella.manifest.stages import program
from stella.manifest.stages import resolve
from stella.wire.grade import Grade
from stella.wire.points import COUNTS
from stella.wire.points import Signal
from tests.making.manifests import ARBITER
from tests.making.manifests import check
from tests.making.manifests import faults
from tests.making.manifests import loaded
from tests.making.manifests import steering
from tests.making.manifests import wrapper


def rules(text: str) -> list[str]:
    """Return the rules that a text breaks, in order."""
    return [fault.rule for fault in faults(text)]


def headline(text: str) -> ManifestFault:
    """Return the first fault of a text."""
    return faults(text)[0]


def shown(text: str) -> str:
    """Return the consent text of a manifest that loads."""
    return consent_text(loaded(text), Resolution())


@pytest.mark.behaviour("K-1", "M-66")
def test_the_smallest_manifest() -> None:
    manifest = loaded('name = "notes"')
    assert manifest.loop.participation is Grade.NONE
    assert (manifest.loop.points, manifest.runtime) == ((), None)
    text = shown('name = "notes"')
    assert "Grade: NONE." in text
    assert "hook points: none" in text
    assert "declares no reach" in text


@pytest.mark.behaviour("K-2", "M-2")
def test_unknown_keys_at_three_depths() -> None:
    text = ARBITER.replace('hooks = ["Stop"]', 'hooks = ["Stop"]\nhoks = []')
    found = faults(f'nmae = "x"\n{text}{check("p50 <= 5")}chek = ""\n')
    assert [(f.name, f.line, f.column, f.near) for f in found] == [
        ("unknown-key", 1, 1, ("name",)),
        ("unknown-key", 6, 1, ("hooks",)),
        ("unknown-key", 19, 1, ("check",)),
    ]


@pytest.mark.behaviour("K-3")
def test_an_arbiter_without_requirements() -> None:
    assert headline(steering("", 'hooks = ["Stop"]').replace("steering", "arbiter")).rule == "R-23"


@pytest.mark.behaviour("K-4")
def test_an_arbiter_without_hooks() -> None:
    assert headline(ARBITER.replace('["Stop"]', "[]")).rule == "R-19"


@pytest.mark.behaviour("K-5")
def test_a_stop_hook_below_arbiter() -> None:
    assert headline(steering("", 'hooks = ["Stop"]')).rule == "R-18"


@pytest.mark.behaviour("K-6")
def test_points_of_an_observer() -> None:
    text = steering("", 'points = ["before_turn"]\ncalls = ["recall"]\nmax_holds = 0')
    found = rules(text.replace("steering", "observer"))
    assert found[0] == "R-7"
    assert {"R-9", "R-20", "R-21"} <= set(found)


@pytest.mark.behaviour("K-7")
def test_calls_without_points() -> None:
    assert headline(steering("", 'calls = ["recall"]')).rule == "R-10"


@pytest.mark.behaviour("K-8")
def test_a_width_without_its_call() -> None:
    loop = 'points = ["before_turn"]\ncalls = ["recall"]\nmax_fanout_width = 2'
    assert headline(steering("", loop)).rule == "R-13"


@pytest.mark.behaviour("K-9")
def test_an_oracle_without_its_point() -> None:
    assert headline(ARBITER.replace('["after_turn"]', "[]")).rule == "R-29"


@pytest.mark.behaviour("K-10")
def test_an_oracle_without_a_process() -> None:
    assert headline(ARBITER.split("[runtime]")[0]).rule == "R-28"


@pytest.mark.behaviour("K-11")
def test_a_requirement_that_nothing_decides() -> None:
    text = ARBITER.replace("[oracle]", 'small = "it is small"\n[oracle]')
    found = headline(text.replace('"required"', '"not-applicable"') + check("p50 <= 5"))
    assert (found.rule, found.path) == ("R-35", ("requirements", "small"))


@pytest.mark.behaviour("K-12")
def test_checks_that_are_none() -> None:
    texts = ("p50<=5", "p50 <= -1", "p50 <= 1.5")
    assert rules(ARBITER + "".join(map(check, texts))) == ["R-33"] * 3


@pytest.mark.behaviour("K-13")
def test_a_check_of_something_undeclared() -> None:
    found = headline(ARBITER + check("p59 <= 5"))
    assert (found.rule, found.near) == ("R-34", ("p50", "p99"))
    assert "declared: p50, p99" in found.message


@pytest.mark.behaviour("K-14")
def test_a_condition_without_spaces() -> None:
    found = headline(wrapper(("triage", None), ("plan", "questions>0")))
    assert found.rule == "R-48"
    assert "put spaces around the operator" in found.message


@pytest.mark.behaviour("K-15")
def test_a_signal_used_as_what_it_is_not() -> None:
    text = wrapper(("triage", None), ("research", "questions"), ("plan", "plans > 0"))
    count, boolean = faults(text)
    assert (count.rule, boolean.rule) == ("R-50", "R-50")
    assert "questions as true or false, and it is a count" in count.message
    assert "plans as a count, and it is true or false" in boolean.message


@pytest.mark.behaviour("K-16")
@pytest.mark.parametrize("plans", [False, True])
def test_a_negated_condition(plans: bool) -> None:
    steps = program(loaded(wrapper(("triage", None), ("plan", "no-plans"))).stages)
    values: dict[Signal, bool | int] = {s: 0 if s in COUNTS else False for s in Signal}
    ran = resolve(steps, values | {Signal.PLANS: plans})
    assert ran == (("triage",) if plans else ("triage", "plan"))


@pytest.mark.behaviour("K-17")
def test_a_publisher_that_may_be_skipped() -> None:
    assert headline(wrapper(("triage", "test-command"), ("plan", "plans"))).rule == "R-52"


@pytest.mark.behaviour("K-18")
def test_a_publisher_that_comes_later() -> None:
    assert headline(wrapper(("plan", "plans"), ("triage", None))).rule == "R-51"


@pytest.mark.behaviour("K-19")
def test_another_spelling_of_a_host_stage() -> None:
    found = headline(wrapper(("context_recall", None)))
    assert (found.rule, found.fix) == ("R-45", 'write "recall"')


@pytest.mark.behaviour("K-20")
def test_stage_names_that_are_none() -> None:
    long = "a" * (limits.STAGE_NAME_BYTES + 1)
    found = faults(wrapper(("my_stage", None), (long, None), ("9lives", None)))
    assert [fault.rule for fault in found] == ["R-46"] * 3
    reasons = ("a character that is not", "longer than 32 bytes", "its first character")
    assert all(why in f.message for why, f in zip(reasons, found, strict=True))


@pytest.mark.behaviour("K-21")
@pytest.mark.parametrize(
    ("env", "broken"), [('" PATH"', "R-59"), ('"A=B"', "R-59"), ('"PATH", "PATH"', "R-60")]
)
def test_environment_names(env: str, broken: str) -> None:
    assert rules(f"{ARBITER}env = [{env}]\n") == [broken]


@pytest.mark.behaviour("K-22")
def test_a_blocking_record_that_repeats_another() -> None:
    record = '[[records]]\nlineage = "a"\nstatement = "b"\n'
    assert rules(f'name = "x"\n{record}{record}enforcement = "blocking"\n') == ["R-69", "R-70"]


@pytest.mark.behaviour("K-23")
@pytest.mark.parametrize(
    ("key", "value", "broken"),
    [
        ("plugins.x", "1", "R-74"),
        ("ui", "1", "R-73"),
        ("ui.a", "{ b = 1 }", "R-75"),
        ("ui.a", "[[1]]", "R-75"),
    ],
)
def test_settings_a_package_may_not_set(key: str, value: str, broken: str) -> None:
    text = f'name = "x"\n[[configure]]\nkey = "{key}"\nvalue = {value}\npurpose = "p"\n'
    assert rules(text) == [broken]


def reach(risk: str) -> str:
    """Return a manifest with one capability of a risk."""
    return f'name = "x"\n[[capabilities]]\ntool = "bash"\nrisk = "{risk}"\npurpose = "p"\n'


@pytest.mark.behaviour("K-24")
def test_an_unknown_risk() -> None:
    text = reach("catastrophic")
    assert loaded(text).capabilities[0].grade is Risk.DESTRUCTIVE
    (warning,) = examine(text.encode()).warnings
    assert (warning.code, warning.line, warning.near) == ("UnknownRiskToken", 4, ())


@pytest.mark.behaviour("K-25")
def test_a_driver_that_asks_for_nothing() -> None:
    text = 'name = "x"\n[driver]\n'
    assert loaded(text).loop.participation is Grade.NONE
    assert "It drives work from outside your turns.\n  - asks the host for nothing\n" in shown(text)


@pytest.mark.behaviour("K-26")
def test_words_no_plugin_may_have() -> None:
    found = faults('name = "x"\n[driver]\ncalls = ["release"]\n')
    assert [(f.rule, f.name) for f in found] == [("R-1", "unknown-token")]
    assert rules(steering("", f'hooks = ["{NOT_FOR_PLUGINS[0]}"]')) == ["R-4"]


@pytest.mark.behaviour("K-78")
def test_three_faults_in_order_with_lines() -> None:
    text = reach("low").replace('purpose = "p"', 'purpose = ""')
    text += '[[configure]]\nkey = "ui"\nvalue = 1\npurpose = "p"\n'
    text += '[loop]\nhooks = ["TurnEnd"]\n'
    assert [(fault.rule, fault.line) for fault in faults(text)] == [
        ("R-5", 11),
        ("R-64", 5),
        ("R-73", 7),
    ]


@pytest.mark.behaviour("K-79")
def test_decoding_before_rules() -> None:
    text = 'name = "x"\n[loop]\nhooks = ["TurnEnd"]\n[runtim]\n'
    assert [(fault.rule, fault.line) for fault in faults(text)] == [("R-1", 4), ("R-5", 3)]


@pytest.mark.behaviour("K-80")
def test_an_unparsable_check_of_something_undeclared() -> None:
    assert rules(ARBITER + check("p5 <= 1.5")) == ["R-33"]


@pytest.mark.behaviour("K-81")
def test_what_is_no_toml() -> None:
    (found,) = faults('name = "x"\n[loop\n')
    assert (found.rule, found.name, found.line, found.column) == ("R-1", "syntax", 2, 6)


@pytest.mark.behaviour("K-82")
def test_a_misspelled_grade() -> None:
    (found,) = faults(steering("", 'hooks = ["TurnEnd"]').replace("steering", "stearing"))
    assert (found.name, found.near, found.line) == ("unknown-token", ("steering",), 3)


@pytest.mark.behaviour("K-83", "M-52")
def test_a_misspelled_risk() -> None:
    text = reach("hgh")
    found = examine(text.encode())
    assert not isinstance(found, Unloadable)
    assert found.manifest.capabilities[0].grade is Risk.DESTRUCTIVE
    assert found.warnings[0].near == ("high",)
    assert "hgh" in shown(text)


@pytest.mark.behaviour("K-84")
@pytest.mark.parametrize(
    ("events", "broken"), [('"a.*.b"', "R-77"), ('"*", "*"', "R-78"), ('"*"', "R-79")]
)
def test_events(events: str, broken: str) -> None:
    grade = "none" if broken == "R-79" else "observer"
    loop = f'[loop]\nparticipation = "{grade}"\nevents = [{events}]\n'
    runtime = '[runtime]\nargv = ["x"]\ntimeout_secs = 1\n'
    assert rules(f'name = "x"\n{loop}{runtime}')[0] == broken
    assert "R-80" in rules(f'name = "x"\n{loop}')


@pytest.mark.behaviour("K-84")
def test_an_event_that_is_no_event() -> None:
    loop = '[loop]\nparticipation = "observer"\nevents = ["tool.call.complete"]\n'
    text = f'name = "x"\n{loop}[runtime]\nargv = ["x"]\ntimeout_secs = 1\n'
    (warning,) = examine(text.encode()).warnings
    assert (warning.code, warning.near) == ("UnknownEventName", ("tool.call.completed",))
    assert (warning.line, warning.column) == (4, 11)
    assert loaded(text).loop.permits_event("tool.call.complete")


@pytest.mark.behaviour("M-14", "M-58")
@pytest.mark.parametrize(
    "line",
    [
        *(f'{key} = "1"' for key in ("version", "license", "publisher", "language", "protocol")),
        *(f"[{name}]" for name in ("settings", "permissions", "dependencies", "update")),
        *(f"[[{name}]]" for name in ("commands", "agents")),
    ],
)
def test_keys_and_blocks_that_do_not_exist(line: str) -> None:
    (found,) = faults(f'name = "x"\n{line}\n')
    assert (found.name, found.line, found.column) == ("unknown-key", 2, 1)
