"""The person's settings and the project's, read once when a session opens [S2-1 to S2-14].

One loader: no other code reads settings. All faults of all files are told together, and what a
project's file says to no effect is told in a notice.
"""

import hashlib
import os
import stat
import sys
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
from pathlib import Path
from typing import Final
from typing import TypeVar

from stella import limits
from stella.errors import SettingsError
from stella.escape import brief
from stella.escape import counted
from stella.escape import listed
from stella.escape import visible
from stella.files.kind import Kind
from stella.files.kind import kind_of
from stella.files.tree import content
from stella.files.tree import held
from stella.files.write import READ
from stella.settings.ambient import switched
from stella.settings.schema import SettingsFile
from stella.settings.schema import read_settings
from stella.settings.sections import Scope
from stella.settings.sections import Trouble
from stella.turn.seats import TIERS

FILE: Final = "stella.toml"
NO_SETTINGS: Final = "STELLA_NO_SETTINGS"
MANAGED: Final = "STELLA_MANAGED_SETTINGS"

_MANAGED_PLACE: Final = (
    "/Library/Application Support/stella/stella.toml"
    if sys.platform == "darwin"
    else "/etc/stella/stella.toml"
)
_OTHER: Final = "settings.json"
_OTHERS_WRITE: Final = 0o022

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFile:
    """A file that was read: its path and the hex SHA-256 of its bytes [S2-14]."""

    path: str
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What holds where no flag and no variable says something else.

    `pipeline` are the members of the default pipeline, None without one [D-5]; `max_holds` is
    the bound that holds without a flag [D-7]; `test_secs` are seconds; `tiers` binds every tier to
    a seat [D-50]; `models` are the models of the names of `[tiers]` that have one [M2-50];
    `model` is the session's [M2-51]. `off` are the plugins that the person's file switches off,
    `project_off` those of the project's [I-43]. `notices` are for people; `left_out` are those
    about what is left out for lack of trust, one for each kind [A-72].
    """

    pipeline: tuple[str, ...] | None = None
    max_holds: int = limits.HOLDS_DEFAULT
    test_secs: int = limits.TEST_SECS_DEFAULT
    tiers: Mapping[str, str] = field(default_factory=lambda: TIERS)
    models: Mapping[str, str] = field(default_factory=dict)
    model: str | None = None
    off: frozenset[str] = frozenset()
    project_off: frozenset[str] = frozenset()
    files: tuple[ReadFile, ...] = ()
    notices: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def load(home: Path, workspace: Path, env: Mapping[str, str], *, trusted: bool = False) -> Settings:
    """Return the settings of a session in `workspace`.

    Raises `SettingsError` with all faults of all files, and `UsageError` for a variable that is
    neither on nor off [S2-4, S2-31]. Without trust a project's file has one say: it can lower
    the bound on holds [D-7].
    """
    loader = _Loader()
    settings = loader.settings(home, workspace, env, trusted=trusted)
    if text := loader.faults:
        raise SettingsError("\n".join(text if len(text) == 1 else ("several faults:", *text)))
    return settings


def load_to_read(home: Path, workspace: Path, env: Mapping[str, str], *, trusted: bool) -> Settings:
    """Return the settings as far as they can be used, for commands that only read [S2-4].

    Every fault is a notice that says which file is left out. Raises `UsageError` as `load` does.
    """
    loader = _Loader()
    settings = loader.settings(home, workspace, env, trusted=trusted)
    faults = (f"{fault}; this file is left out" for fault in loader.faults)
    return replace(settings, notices=(*faults, *settings.notices))


def _with(settings: Settings, file: SettingsFile) -> Settings:
    """Return the settings with what a file says on top; tables merge key by key [S2-11]."""
    model = _or(file.worker, settings.model)
    models = {**settings.models, **file.tiers.given}
    return replace(
        settings,
        pipeline=_or(file.names, settings.pipeline),
        test_secs=_or(file.pipeline.test_timeout_secs, settings.test_secs),
        tiers={
            **settings.tiers,
            **{tier: seat.value for tier, seat in file.pipeline.tiers.items()},
        },
        models=models | ({} if model is None else {"worker": model}),
        model=model,
    )


def _lowered(settings: Settings, file: SettingsFile, where: str, loader: "_Loader") -> Settings:
    """Return the settings with the bound of a project where it is the lower one [D-7, S2-12]."""
    asked = _or(file.pipeline.max_holds, settings.max_holds)
    if asked > settings.max_holds:
        loader.notices.append(
            f"{where}: pipeline.max_holds is {asked}, above the {settings.max_holds} that hold "
            "without it; a project can only lower the bound"
        )
    return replace(settings, max_holds=min(asked, settings.max_holds))


def _ignored(file: SettingsFile, where: str, *, trusted: bool) -> Iterator[str]:
    """Yield a notice about what has no effect in a project's file, trusted or not [S2-28]."""
    if file.ignored:
        first = listed(file.ignored, limits.IGNORED_SHOWN)
        yield (
            f"{where}: {counted(len(file.ignored), 'value')} without effect: {first}; "
            "in a project's file they never have one, they are the person's alone"
        )
    if trusted and file.later:
        first = listed(file.later, limits.IGNORED_SHOWN)
        yield (
            f"{where}: {counted(len(file.later), 'value')} without effect: {first}; "
            "this release does not act on them yet"
        )


def _left_out(file: SettingsFile, where: str) -> Iterator[str]:
    """Yield one notice for each kind of setting that needs trust [A-70, A-72]."""
    if file.hooks:
        yield f"{where}: {counted(file.hooks, 'hook command')} left out"
    places = (*(place for place in file.later if place != "hooks"), *_untrusted(file))
    if places:
        first = listed(places, limits.IGNORED_SHOWN)
        yield f"{where}: {counted(len(places), 'value')} left out: {first}"


def _untrusted(file: SettingsFile) -> tuple[str, ...]:
    """Return the places of a project's file that need trust, in the order of the tables."""
    pipeline = file.pipeline
    given = {
        "model.default": file.model.default,
        "pipeline.default": pipeline.default,
        "pipeline.test_timeout_secs": pipeline.test_timeout_secs,
        **{f"pipeline.tiers.{brief(tier)}": seat for tier, seat in pipeline.tiers.items()},
        **{f"tiers.{name}": model for name, model in file.tiers.given.items()},
        "ui.live": file.ui.live,
        "ui.color": file.ui.color,
        "ui.theme": file.ui.theme,
    }
    return tuple(place for place, value in given.items() if value is not None)


def _or(value: T | None, other: T) -> T:
    return other if value is None else value


@dataclass(slots=True, kw_only=True)
class _Loader:
    """The files of one loading, and what is to be told about them."""

    faults: list[str] = field(default_factory=list)
    files: list[ReadFile] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)

    def settings(
        self, home: Path, workspace: Path, env: Mapping[str, str], *, trusted: bool
    ) -> Settings:
        """Return what the files that can be used come to; the rest is in `faults`."""
        self.refuse_managed(Path(env.get(MANAGED) or _MANAGED_PLACE))
        person = project = None
        if not switched(env, NO_SETTINGS):
            person = self.read(home, Scope.USER)
            project = self.read(workspace, Scope.PROJECT)
        settings = Settings()
        if person is not None:
            bound = _or(person.pipeline.max_holds, settings.max_holds)
            settings = replace(_with(settings, person), max_holds=bound, off=person.off)
        if project is not None:
            where = visible(str(workspace / FILE))
            settings = _with(settings, project) if trusted else settings
            settings = _lowered(settings, project, where, self)
            settings = replace(settings, project_off=project.off)
            self.notices += _ignored(project, where, trusted=trusted)
            if not trusted:
                settings = replace(settings, left_out=tuple(_left_out(project, where)))
        return replace(settings, files=tuple(self.files), notices=tuple(self.notices))

    def refuse_managed(self, path: Path) -> None:
        """A managed layer that is not applied must not look like none [A-81]."""
        if os.path.lexists(path):
            self.fault(path, Trouble(message="managed settings come with a later release"))

    def read(self, directory: Path, scope: Scope) -> SettingsFile | None:
        """Return what the file in a directory says, None without one or with faults."""
        path = directory / FILE
        data = _bytes(path, own=scope is Scope.USER)
        if data is None:
            return None
        if isinstance(data, Trouble):
            self.fault(path, data)
            return None
        self.files.append(ReadFile(path=str(path), sha256=hashlib.sha256(data).hexdigest()))
        self.other(directory)
        found = read_settings(data, scope)
        if isinstance(found, SettingsFile):
            return found
        for trouble in found:
            self.fault(path, trouble)
        return None

    def fault(self, path: Path, trouble: Trouble) -> None:
        place = visible(str(path))
        if trouble.line is not None:
            place = f"{place}:{trouble.line}:{trouble.column}"
        if trouble.at:
            place = f"{place}: {trouble.at}"
        self.faults.append(f"{place}: {trouble.message}")

    def other(self, directory: Path) -> None:
        """Tell once that a file of another format is not read [S2-2]."""
        told = any(_OTHER in notice for notice in self.notices)
        if not told and os.path.lexists(directory / _OTHER):
            where = visible(str(directory / _OTHER))
            self.notices.append(f"{where}: not read; settings stand in {FILE}")


def _bytes(path: Path, *, own: bool) -> bytes | Trouble | None:
    """Return the bytes of a file, None without one; no link is followed and nothing waits."""
    try:
        found = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return Trouble(message=error.strerror or str(error))
    if wrong := _wrong(path, found, own=own):
        return wrong
    try:
        with held(os.open(path, READ)) as file:
            found = os.fstat(file)
            data = content(file, limits.SETTINGS_BYTES + 1)
    except OSError as error:
        return Trouble(message=error.strerror or str(error))
    if wrong := _wrong(path, found, own=own):  # it may be another one since it was looked at
        return wrong
    if len(data) > limits.SETTINGS_BYTES:
        return Trouble(message=f"it holds more than {limits.SETTINGS_BYTES} bytes")
    return data


def _wrong(path: Path, found: os.stat_result, *, own: bool) -> Trouble | None:
    """Return why a file may not be read as settings, the person's `own` more strictly [S2-2]."""
    if (kind := kind_of(found.st_mode)) is not Kind.FILE:
        return Trouble(message=f"expected a regular file, got a {kind.value}")
    if own and stat.S_IMODE(found.st_mode) & _OTHERS_WRITE:
        repair = f"chmod go-w {visible(str(path))}"
        return Trouble(message=f"group or others may write it; run: {repair}")
    return None
