"""The flags of `run`, read as text and judged together: all faults of a command line at once [S-2].

Nothing is read or started here. A flag that could not be judged hides no other.
"""

from collections.abc import Callable
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from decimal import Decimal
from typing import Final

from stella import limits
from stella.authority.gate import Mode
from stella.errors import TestCommandError
from stella.errors import UsageError
from stella.escape import visible
from stella.near import clause
from stella.near import near
from stella.near import suggestion
from stella.session.options import Pipeline
from stella.settings.load import Settings
from stella.settings.schema import names_of
from stella.settings.sections import MODEL_NAMES
from stella.witness.command import parse_test_command

FORMATS: Final = ("text", "json", "stream-json")
_ASK: Final = "ask"
_GRANTING: Final = {
    "test_command": "--test-command",
    "watch_tests": "--watch-tests",
    "test_timeout": "--test-timeout",
    "red_on_error": "--red-on-error",
    "max_holds": "--max-holds",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The flags of one command line as they were typed; None or empty where absent.

    `words` are those that belong to no known flag: the prompt, and what nobody knows. `behind`
    stands after `--` and is no flag, whatever it looks like.
    """

    pipeline: str | None = None
    no_pipeline: bool = False
    test_command: str | None = None
    test_timeout: str | None = None
    watch_tests: tuple[str, ...] = ()
    red_on_error: bool = False
    max_holds: str | None = None
    max_steps: str | None = None
    spend_limit: str | None = None
    output_format: str | None = None
    permissions: str | None = None
    model: str | None = None
    tier: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    behind: tuple[str, ...] = ()

    @property
    def prompt(self) -> str | None:
        """The prompt as it was typed, None when there is none."""
        return next(iter((*self.words, *self.behind)), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Flags:
    """What a command line asks for, with the settings where it says nothing.

    `models` are the models that `--tier` gives to names of `[tiers]` [M2-54].
    """

    pipeline: Pipeline | None
    max_steps: int
    spend_limit: Decimal | None
    output_format: str
    mode: Mode
    mode_source: str
    models: Mapping[str, str] = field(default_factory=dict)


def judged(given: Given, known: tuple[str, ...], settings: Settings | None = None) -> Flags:
    """Return what the flags ask for, or raise one `UsageError` that names every fault [S-2].

    `known` are all flags there are, for near misses. `settings` hold where no flag says
    something else: a default pipeline gives the test flags a meaning as `--pipeline` does [D-10].
    """
    settings = settings or Settings()
    faults = _unknown(given, known)
    test_faults: list[str] = []
    steps = _number("max_steps", given, (1, limits.STEPS_MAX), limits.STEPS_DEFAULT, faults)
    holds = _number("max_holds", given, (0, limits.HOLDS_MAX), settings.max_holds, faults)
    bounds = (limits.TEST_SECS_MIN, limits.TEST_SECS_MAX)
    secs = _number("test_timeout", given, bounds, settings.test_secs, faults)
    money = _money(given, faults)
    form = _word("--output-format", given.output_format, FORMATS, "text", faults)
    modes = tuple(mode.value for mode in Mode)
    mode = _mode(given.permissions, modes, faults)
    models = _models(given, faults)
    names = _names(given, settings.pipeline, faults)
    if given.test_command is not None:
        _try(lambda: parse_test_command(given.test_command or ""), test_faults)
    if names is None:
        faults += _ungranted(given)
    _raise(faults, test_faults)
    return Flags(
        pipeline=None if names is None else _pipeline(given, names, secs, holds),
        max_steps=steps,
        spend_limit=money,
        output_format=form,
        mode=Mode(mode),
        mode_source="flag" if given.permissions else "default",
        models=models,
    )


def _number(
    name: str, given: Given, bounds: tuple[int, int], default: int, faults: list[str]
) -> int:
    """Return the number that a flag gives, `default` without one."""
    text: str | None = getattr(given, name)
    if text is None:
        return default
    low, high = bounds
    digits = text.lstrip("0") or "0"
    if text.isascii() and text.isdigit() and len(digits) < 10 and low <= int(digits) <= high:  # noqa: PLR2004  # longer ones are out of every range
        return int(digits)
    flag = f"--{name.replace('_', '-')}"
    faults.append(f"{flag}: expected {low} to {high}, got {visible(text)}")
    return default


def _money(given: Given, faults: list[str]) -> Decimal | None:
    """Return the limit of money that is given, in USD, None without one [E-80]."""
    text = given.spend_limit
    if text is None:
        return None
    whole, _, part = text.partition(".")
    digits = f"{whole}{part}"
    if digits.isascii() and digits.isdigit() and len(digits) <= limits.MONEY_DIGITS and whole:
        found = Decimal(text)
        if found > 0:
            return found
    faults.append(f"--spend-limit: expected USD above 0 such as 2.50, got {visible(text)}")
    return None


def _models(given: Given, faults: list[str]) -> dict[str, str]:
    """Return the models that `--tier` gives, by name [M2-51, M2-54]."""
    models: dict[str, str] = {}
    for row in given.tier:
        name, _, model = (part.strip() for part in row.partition("="))
        if not name or not model:
            faults.append(f'--tier: expected NAME=MODEL, got "{visible(row)}"')
        elif name not in MODEL_NAMES:
            faults.append(f'--tier: "{visible(name)}" is none; {suggestion(name, MODEL_NAMES)}')
        elif models.setdefault(name, model) != model:
            faults.append(f"--tier: {name} is given two models; keep one")
    worker = models.get("worker")
    if worker is not None and given.model not in (None, worker):
        faults.append("--model and --tier worker choose different models; keep one")
    return models


def _pipeline(given: Given, names: tuple[str, ...], secs: int, holds: int) -> Pipeline:
    return Pipeline(
        names=names,
        test_command=given.test_command,
        test_secs=secs,
        watch=given.watch_tests,
        red_on_error=given.red_on_error,
        max_holds=holds,
    )


def _names(
    given: Given, default: tuple[str, ...] | None, faults: list[str]
) -> tuple[str, ...] | None:
    """Return the selected names, else those of settings, None without a pipeline [D-1, D-5]."""
    if given.pipeline is None:
        return None if given.no_pipeline else default
    if given.no_pipeline:
        faults.append("--pipeline and --no-pipeline exclude each other; give one of them")
    names = names_of(given.pipeline)
    if names is None:
        faults.append(
            f'--pipeline: "{visible(given.pipeline)}" has an empty part; '
            "give names with one comma between them"
        )
    return names or ()


def _ungranted(given: Given) -> list[str]:
    """Return a fault for every flag that only a pipeline gives a meaning [D-10]."""
    values: Mapping[str, object] = {name: getattr(given, name) for name in _GRANTING}
    return [
        f"{flag} needs a pipeline; select one with --pipeline NAME"
        for name, flag in _GRANTING.items()
        if values[name] not in (None, False, ())
    ]


def _word(
    flag: str, text: str | None, legal: tuple[str, ...], default: str, faults: list[str]
) -> str:
    if text is None or text in legal:
        return text or default
    faults.append(f'{flag}: "{visible(text)}" is none; {suggestion(text, legal)}')
    return default


def _mode(text: str | None, legal: tuple[str, ...], faults: list[str]) -> str:
    """Return the mode; nothing wrong ever suggests the loosest, which allows everything [S-7]."""
    if text is None or text in legal:
        return text or Mode.WORKSPACE.value
    if text == _ASK:
        faults.append(
            f"--permissions: {_ASK} comes with a later release; "
            f"the strictest mode there is is {Mode.READ_ONLY.value}"
        )
    else:
        found = near(text, tuple(mode for mode in legal if mode != Mode.ALL.value))
        faults.append(f'--permissions: "{visible(text)}" is none; {clause(found, legal)}')
    return Mode.WORKSPACE.value


def _unknown(given: Given, known: tuple[str, ...]) -> list[str]:
    """Return a fault for each word that looks like a flag, else for each after the prompt."""
    looks = [word for word in given.words if word.startswith("-") and word != "-"]
    names = [word.partition("=")[0] for word in looks]
    if not names:
        # Behind a flag nobody knows stands its value, which is no fault of its own.
        return [
            f'unexpected argument "{visible(word)}"; put the prompt in quotes'
            for word in (*given.words, *given.behind)[1:]
        ]
    return [
        f'no flag "{visible(name)}"; {suggestion(name, known) or "see stella run --help"}'
        for name in names
    ]


def _try(reading: Callable[[], object], faults: list[str]) -> None:
    try:
        reading()
    except TestCommandError as error:
        faults.append(error.message)


def _raise(faults: list[str], test_faults: list[str]) -> None:
    every = [*faults, *test_faults]
    if not every:
        return
    text = every[0] if len(every) == 1 else "\n".join(("several faults:", *every))
    raise UsageError(text) if faults else TestCommandError(text)
