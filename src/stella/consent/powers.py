"""What a plugin may do in a run, in words: grade, lists, bounds, process [C-9 to C-13].

A line stands here when `Loop` grants at run time what it says, so a person is never shown a
power the host would refuse, nor refused one they were shown.
"""

from types import MappingProxyType
from typing import Final

from stella import limits
from stella.consent.page import BULLET
from stella.consent.page import DEEPER
from stella.consent.page import DETAIL
from stella.consent.page import Page
from stella.consent.page import Shown
from stella.consent.page import exact
from stella.consent.page import joined
from stella.consent.page import leading
from stella.consent.page import shown
from stella.escape import counted
from stella.manifest.loop import Loop
from stella.manifest.loop import Power
from stella.manifest.oracle import Oracle
from stella.manifest.plugin import PluginManifest
from stella.manifest.runtime import Runtime
from stella.wire.grade import Grade
from stella.wire.points import Call
from stella.wire.points import Hook
from stella.wire.points import Point

HOOK_POINTS: Final = "hook points: "
WRAPPER_POINTS: Final = "wrapper points: "

_GRADES: Final = MappingProxyType(
    {
        Grade.NONE: "NONE. It is a bundle of content and never runs inside a turn.",
        Grade.OBSERVER: "OBSERVER. It may watch your sessions and influences nothing.",
        Grade.STEERING: (
            "STEERING. It may add context, rewrite or refuse tool input, and choose a declared "
            "role for a turn. It has no say in when a turn is finished."
        ),
        Grade.ARBITER: (
            "ARBITER. It has every power of steering and, beyond that, the say over when a "
            "turn counts as finished."
        ),
    }
)


def powers(page: Page, manifest: PluginManifest, program: str | None, oracle: str | None) -> None:
    """Add the grade and its bullets; `program` and `oracle` are the paths found, if any."""
    loop = manifest.loop
    page.line("Grade: ", _GRADES[loop.participation])
    _listening(page, loop)
    if loop.holds(Power.STOP):
        page.line(BULLET, "may hold a finished turn open: ", _holds(loop.max_holds))
    if loop.holds(Power.REQUIREMENTS) and manifest.requirements:
        _requirements(page, manifest)
    if loop.holds(Power.ORACLE) and manifest.oracle is not None:
        _decides(page, manifest.oracle, oracle)
    if loop.holds(Power.RUNTIME) and manifest.runtime is not None:
        _runs(page, manifest.runtime, program)
    _asks(page, manifest)
    _spends(page, manifest)
    _pipeline(page, manifest)


def _listening(page: Page, loop: Loop) -> None:
    hooks = [hook.value for hook in loop.hooks if loop.permits_hook(hook)]
    points = [point.value for point in loop.points if loop.permits_point(point)]
    page.line(BULLET, HOOK_POINTS, ", ".join(hooks) or "none")
    page.line(BULLET, WRAPPER_POINTS, ", ".join(points) or "none")
    if loop.holds(Power.EVENTS) and loop.events:
        patterns = joined(exact(pattern, ",") for pattern in loop.events)
        page.line(BULLET, "receives these events: ", patterns)


def shown_lists(text: str) -> tuple[frozenset[Hook], frozenset[Point]]:
    """Return the hooks and points that a consent text shows, for a plugin that changed since."""
    hooks = _words(text, HOOK_POINTS)
    points = _words(text, WRAPPER_POINTS)
    return (
        frozenset(hook for hook in Hook if hook.value in hooks),
        frozenset(point for point in Point if point.value in points),
    )


def _words(text: str, title: str) -> frozenset[str]:
    lines = (line for line in text.split("\n") if line.startswith(f"{BULLET}{title}"))
    return frozenset(next(lines, "").removeprefix(f"{BULLET}{title}").split(", "))


def _holds(most: int | None) -> str:
    if most is None:
        return "as often as the host allows"
    if most == 1:
        return "once per run"
    return f"up to {most} times per run{_ceiling(most, limits.HOLDS_MAX)}"


def _requirements(page: Page, manifest: PluginManifest) -> None:
    """Add each requirement in the order of its key, and the raw checks under it [C-10]."""
    page.line(BULLET, "holds a turn until each of these is met:")
    checks = manifest.oracle.checks if manifest.oracle is not None else ()
    for key in sorted(manifest.requirements):
        page.line(DETAIL, leading(key, ":"), ": ", shown(manifest.requirements[key]))
        for check in checks:
            if check.requirement == key:
                page.line(DEEPER, "checked by: ", shown(check.check))


def _decides(page: Page, oracle: Oracle, program: str | None) -> None:
    if oracle.command is None:
        page.line(BULLET, "decides with: its own process again")
        return
    stopped = f" (stopped after {oracle.command.timeout_secs}s)"
    page.line(BULLET, "decides with: ", *_argv(oracle.command.argv), stopped)
    _program(page, program)


def _runs(page: Page, runtime: Runtime, program: str | None) -> None:
    """Add the process with what it may see, and that nothing confines it [C-11, C-12]."""
    most = limits.POINT_SECS
    held = f"; the host allows at most {most}s" if runtime.timeout_secs > most else ""
    stopped = f" (stopped after {runtime.timeout_secs}s{held})"
    page.line(BULLET, "runs as a process: ", *_argv(runtime.argv), stopped)
    _program(page, program)
    if runtime.env:
        names = joined(exact(name, ",") for name in runtime.env)
        page.line(DETAIL, "environment: ", names, " and nothing else")
    else:
        page.line(DETAIL, "environment: nothing")
    page.line(DETAIL, "It runs with your own rights on this machine; nothing confines it.")


def _argv(argv: tuple[str, ...]) -> tuple[str, Shown, str]:
    return "`", joined((exact(word, " `") for word in argv), " "), "`"


def _program(page: Page, found: str | None) -> None:
    path = "not found on this machine" if found is None else shown(found)
    page.line(DETAIL, "program: ", path)


def _asks(page: Page, manifest: PluginManifest) -> None:
    """Add the host calls, how many, and what the three far-reaching ones mean [C-13]."""
    loop = manifest.loop
    calls = [call for call in loop.calls if loop.permits_call(call)]
    if calls:
        page.line(BULLET, "may ask the host for: ", ", ".join(call.value for call in calls))
        page.line(DETAIL, _requests(loop.max_calls, model_turns=Call.CHILD_TURN in calls))
    if Call.CANDIDATE_FANOUT in calls:
        page.line(BULLET, "may start ", _attempts(loop.max_fanout_width))
    if Call.ADOPT_CANDIDATE in calls:
        page.line(BULLET, "may apply one attempt to your real tree; the others are discarded")
    if Call.EMIT in calls:
        name = exact(manifest.name, " ")
        page.line(BULLET, "may write events named plugin.", name, ".* into the journal")


def _requests(most: int | None, *, model_turns: bool) -> str:
    if most is None:
        return "as many requests per answer as the host allows"
    asked = f"at most {counted(most, 'request')} per answer"
    asked += _ceiling(most, limits.HOST_CALLS_PER_POINT)
    if not model_turns:
        return asked
    turns = f"{counted(most, 'model turn')} per run"
    return f"{asked} and {turns}{_ceiling(most, limits.CHILD_TURNS_PER_RUN)}"


def _attempts(width: int | None) -> str:
    if width is None:
        return "as many as the host allows isolated attempts at a time that write and spend"
    if width == 1:
        return "up to 1 isolated attempt at a time that writes and spends"
    ceiling = _ceiling(width, limits.FANOUT_WIDTH)
    return f"up to {width} isolated attempts at a time that write and spend{ceiling}"


def _spends(page: Page, manifest: PluginManifest) -> None:
    if not manifest.loop.holds(Power.SUBLOOP):
        return
    if manifest.subloop is not None:
        stages = joined(exact(stage, ",") for stage in manifest.subloop.stages)
        page.line(BULLET, "spends model calls on: ", stages)
    if manifest.roles:
        roles = [
            joined((exact(name, ",()"), Shown(" (tier "), exact(role.tier, ",()"), Shown(")")), "")
            for name, role in sorted(manifest.roles.items())
        ]
        page.line(BULLET, "model roles: ", joined(roles))


def _pipeline(page: Page, manifest: PluginManifest) -> None:
    loop, wrapper = manifest.loop, manifest.wrapper
    if wrapper is not None:
        if loop.holds(Power.WRAPPER):
            own = Shown(" (its own)")
            stages = joined(
                joined((exact(each.name, ","), own), "") if each.contributed else Shown(each.name)
                for each in wrapper.stages
            )
            page.line(BULLET, "pipeline: ", exact(wrapper.id, ","), ", stages: ", stages)
    elif any(loop.permits_point(point) for point in loop.points):
        page.line(BULLET, "pipeline: selected by its name, one stage: execute")


def _ceiling(asked: int, most: int) -> str:
    """Return the clause that the host's ceiling is lower than what is asked for [M-21, B44]."""
    return f" (the host allows at most {most})" if asked > most else ""
