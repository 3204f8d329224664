"""What a run is asked to do, as values: every surface fills the same form.

Nothing here is read from the environment; a surface hands in what it was given [S-95].
"""

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from decimal import Decimal
from pathlib import Path

from stella import limits
from stella.authority.gate import Mode
from stella.manifest.plugin import PluginManifest
from stella.roster.switch import NOTHING_OFF
from stella.roster.switch import Off
from stella.turn.seats import TIERS
from stella.wire.points import Point


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """Which plugins wrap the run, and what they are granted [D-1, G-4 to G-12].

    `names` are as the person gave them; `max_holds` is the person's bound [J-5].
    """

    names: tuple[str, ...]
    test_command: str | None = None
    test_secs: int = limits.TEST_SECS_DEFAULT
    watch: tuple[str, ...] = ()
    red_on_error: bool = False
    max_holds: int = limits.HOLDS_DEFAULT


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """A plugin that is an object of the embedding program [T-35].

    `handlers` has any of `before_turn(request, host)` and `after_turn(request, host)` [S-79].
    Whoever hands it in answers for it: there is nothing to accept and no process to start.
    """

    manifest: PluginManifest
    handlers: object

    @property
    def name(self) -> str:
        """The manifest's name."""
        return self.manifest.name

    @property
    def pipeline(self) -> str | None:
        """The name a run selects it by, None when it would never be asked anything [D-8]."""
        loop = self.manifest.loop
        asked = any(loop.permits_point(point) for point in Point)
        return self.manifest.pipeline if asked else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """One run of one session; `env` is the host's whole environment, `home` the person's.

    `umask` is the person's own, for what a shell makes. `tiers` is the whole table of tier to
    seat [D-50], `seats` the model of each seat that has one of its own; a seat without takes the
    worker's, which is `model` [M2-53]. `settings` are the files that were read, each with `path`
    and `sha256` [S2-14]. `plugins` are the embedding program's own;
    `spend_limit` are USD for the whole run [E-80]. `trusted` says whether what the repository
    itself brings may be used [I-50]; `vouched` are the files it is trusted with, each with mode
    and digest, None where any will do [I-53]. `by_variable` says that the variable lets its
    plugins run as recorded [I-34]. `switched` are the plugins that settings switch off [I-43].
    `left_out` tells what is not used for lack of trust [A-72]; with
    `require_plugins` nothing that is declared may be missing.
    """

    workspace: Path
    home: Path
    cwd: Path
    env: Mapping[str, str]
    prompt: str
    model: str
    model_source: str
    mode: Mode = Mode.WORKSPACE
    mode_source: str = "default"
    max_steps: int = limits.STEPS_DEFAULT
    spend_limit: Decimal | None = None
    pipeline: Pipeline | None = None
    surface: str = "cli"
    umask: int = limits.UMASK
    principal: str = "user"
    tiers: Mapping[str, str] = field(default_factory=lambda: TIERS)
    seats: Mapping[str, str] = field(default_factory=dict)
    settings: tuple[Mapping[str, str], ...] = ()
    plugins: tuple[Embedded, ...] = ()
    trusted: bool = False
    vouched: Mapping[str, str] | None = None
    by_variable: bool = False
    switched: Off = NOTHING_OFF
    left_out: tuple[str, ...] = ()
    require_plugins: bool = False
