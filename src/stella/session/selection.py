"""Which plugins a run's names mean [D-1 to D-4, D-8].

Pure over the roster. A plugin that would never be asked anything is refused, not silently
accepted.
"""

from dataclasses import dataclass

from stella.errors import PipelineError
from stella.errors import UsageError
from stella.escape import visible
from stella.near import suggestion
from stella.roster.roster import Plugin
from stella.roster.roster import Roster

Notice = tuple[str, str]
"""A notice's code and its text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected:
    """The plugins of a run in selection order, and what there is to say about the choice."""

    plugins: tuple[Plugin, ...]
    notices: tuple[Notice, ...]


def select(names: tuple[str, ...], roster: Roster) -> Selected:
    """Return the plugins that `names` mean.

    Raises `UsageError` for a name nobody bears and for one plugin selected twice [D-3, D-4],
    and `PipelineError` for a plugin that can be no member [D-8].
    """
    chosen: dict[str, tuple[str, Plugin]] = {}
    notices: list[Notice] = []
    for name in names:
        plugin = _meant(name, roster, notices)
        if plugin.name in chosen:
            earlier = visible(chosen[plugin.name][0])
            raise UsageError(
                f'--pipeline: "{earlier}" and "{visible(name)}" are the same plugin, '
                f"{plugin.name}; name it once"
            )
        chosen[plugin.name] = (name, plugin)
        _refuse_idle(plugin)
    return Selected(plugins=tuple(p for _, p in chosen.values()), notices=tuple(notices))


def _meant(name: str, roster: Roster, notices: list[Notice]) -> Plugin:
    """Return the plugin whose wrapper id or name is `name`; an id goes first [D-2]."""
    by_id = [p for p in roster.plugins if p.manifest.wrapper and p.manifest.wrapper.id == name]
    by_name = [p for p in roster.plugins if p.name == name]
    if not by_id and not by_name:
        raise UsageError(_unknown(name, roster))
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


def _unknown(name: str, roster: Roster) -> str:
    known = sorted({word for p in roster.plugins for word in (p.name, p.manifest.pipeline)})
    said = f'--pipeline: no plugin "{visible(name)}"'
    if not known:
        return f"{said}; none is installed here, see stella plugin list"
    hint = suggestion(name, known)
    installed = f"installed: {', '.join(map(visible, known))}"
    return f"{said}; {hint}; {installed}" if "did you mean" in hint else f"{said}; {installed}"


def _refuse_idle(plugin: Plugin) -> None:
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
