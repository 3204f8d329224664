"""Which plugins a run's names mean [D-1 to D-4, D-8].

Pure over the plugins there are. A plugin that would never be asked anything is refused, not
silently accepted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic
from typing import Protocol
from typing import TypeVar

from stella.errors import PipelineError
from stella.errors import UsageError
from stella.escape import visible
from stella.manifest.plugin import PluginManifest
from stella.near import suggestion

Notice = tuple[str, str]
"""A notice's code and its text."""


class Selectable(Protocol):
    """A plugin that may be named: of the roster, or an object of the embedding program."""

    @property
    def name(self) -> str:
        """The manifest's name."""
        ...

    @property
    def manifest(self) -> PluginManifest:
        """What it declares."""
        ...

    @property
    def pipeline(self) -> str | None:
        """The name a run selects it by, None when it can be no member [D-8]."""
        ...


S = TypeVar("S", bound=Selectable)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected(Generic[S]):
    """The plugins of a run in selection order, and what there is to say about the choice."""

    plugins: tuple[S, ...]
    notices: tuple[Notice, ...]


def select(names: tuple[str, ...], plugins: Sequence[S]) -> Selected[S]:
    """Return those of `plugins`, which stand in name order, that `names` mean.

    Raises `UsageError` for a name nobody bears and for one plugin selected twice [D-3, D-4],
    and `PipelineError` for a plugin that can be no member [D-8].
    """
    chosen: dict[str, tuple[str, S]] = {}
    notices: list[Notice] = []
    for name in names:
        plugin = _meant(name, plugins, notices)
        if plugin.name in chosen:
            earlier = visible(chosen[plugin.name][0])
            raise UsageError(
                f'--pipeline: "{earlier}" and "{visible(name)}" are the same plugin, '
                f"{plugin.name}; name it once"
            )
        chosen[plugin.name] = (name, plugin)
        _refuse_idle(plugin)
    return Selected(plugins=tuple(p for _, p in chosen.values()), notices=tuple(notices))


def _meant(name: str, plugins: Sequence[S], notices: list[Notice]) -> S:
    """Return the plugin whose wrapper id or name is `name`; an id goes first [D-2]."""
    by_id = [p for p in plugins if p.manifest.wrapper and p.manifest.wrapper.id == name]
    by_name = [p for p in plugins if p.name == name]
    if not by_id and not by_name:
        raise UsageError(_unknown(name, plugins))
    if by_id and by_name and by_id[0] is not by_name[0]:
        text = (
            f'"{visible(name)}" is the pipeline id of {by_id[0].name} and the name of another '
            f"plugin; {by_id[0].name} is used"
        )
        notices.append(("id_and_name", text))
    if len(by_id) > 1:
        others = ", ".join(p.name for p in by_id[1:])
        text = (
            f'"{visible(name)}" is the pipeline id of {by_id[0].name}, which is used, and of '
            f"{others}; select by name"
        )
        notices.append(("shared_id", text))
    return (by_id or by_name)[0]


def _unknown(name: str, plugins: Sequence[Selectable]) -> str:
    known = sorted({word for p in plugins for word in (p.name, p.manifest.pipeline)})
    said = f'--pipeline: no plugin "{visible(name)}"'
    if not known:
        return f"{said}; none is installed here, see stella plugin list"
    hint = suggestion(name, known)
    installed = f"installed: {', '.join(map(visible, known))}"
    return f"{said}; {hint}; {installed}" if "did you mean" in hint else f"{said}; {installed}"


def _refuse_idle(plugin: Selectable) -> None:
    loop = plugin.manifest.loop
    if plugin.pipeline is not None:
        return
    if plugin.manifest.runtime is None and loop.points:
        raise PipelineError(f"{plugin.name} has no [runtime], so there is no process to ask")
    points = ", ".join(point.value for point in loop.points) or "none"
    raise PipelineError(
        f"NotAWrapper: {plugin.name} has grade {loop.participation.value} and points {points}; "
        "a member of a pipeline needs grade steering or above and a point to answer"
    )
