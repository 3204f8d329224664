"""What the host itself saw of the workspace, before, between and after [G-30, D-43, T2-53]."""

import asyncio
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from stella.clock import SystemClock
from stella.session.watching import Granting
from stella.session.watching import Watching
from stella.turn.facts import Noticed
from stella.turn.questions import Granted
from stella.turn.questions import Inspection
from stella.wire.evidence import Artifact
from stella.wire.evidence import Tampered
from stella.wire.evidence import TamperState
from stella.wire.grant import TestBaseline
from stella.witness.plan import resolve
from tests.making.sessions import project
from tests.session.test_telling import telling


def watching(tmp_path: Path, command: str | None = "python3 check.py") -> Watching:
    root = project(tmp_path / "work")
    path_value = os.environ["PATH"]
    plan = resolve(command.split(), root, path_value) if command else None
    private = tmp_path / "private"
    private.mkdir()
    return Watching(
        root=root,
        env={"PATH": path_value},
        path_value=path_value,
        private=private,
        clock=SystemClock(),
        telling=telling(tmp_path / "told"),
        granting=Granting(plan=plan, globs=(), red_on_error=False),
    )


async def opened(watch: Watching) -> Granted:
    await watch.open()
    return await watch.baseline()


async def looked(watch: Watching) -> Inspection:
    await opened(watch)
    return await watch.inspect()


@pytest.mark.behaviour("G-20")
def test_the_baseline_is_granted_and_its_artifacts_are_pinned(tmp_path: Path) -> None:
    """[G-20, G-31]"""
    watch = watching(tmp_path)
    granted = asyncio.run(opened(watch))
    assert granted.candidate.root == str(watch.root)
    assert granted.candidate.test is not None
    assert granted.candidate.test.baseline is TestBaseline.FAILED
    assert granted.baseline is not None
    assert [pin.path for pin in granted.baseline.watched] == ["check.py"]
    assert list(watch.private.iterdir()) == [], "the private cache is gone"
    watch.telling.journal.close()


def test_an_untouched_tree_is_clean_and_its_digest_says_so_twice(tmp_path: Path) -> None:
    """[D-43]"""
    watch = watching(tmp_path)
    first = asyncio.run(looked(watch))
    second = asyncio.run(watch.inspect())
    assert first.finding is TamperState.CLEAN
    assert first.digest == second.digest is not None
    watch.telling.journal.close()


def test_a_changed_test_is_found_and_a_changed_source_only_moves_the_digest(tmp_path: Path) -> None:
    """[G-37, D-43]"""
    watch = watching(tmp_path)
    first = asyncio.run(looked(watch))
    (watch.root / "answer.txt").write_text("42\n", "utf-8")
    second = asyncio.run(watch.inspect())
    assert second.finding is TamperState.CLEAN
    assert second.digest != first.digest
    (watch.root / "check.py").write_text("", "utf-8")
    third = asyncio.run(watch.inspect())
    assert third.finding == Tampered(tampered=Artifact(artifact="check.py"))
    assert third.artifacts[0].kinds == ("edited",)
    watch.telling.journal.close()


def test_changes_are_those_since_the_last_measurement(tmp_path: Path) -> None:
    """[T2-51]"""
    watch = watching(tmp_path)

    async def go() -> None:
        await watch.open()
        before = await watch.before(())
        (watch.root / "a").write_text("1\n", "utf-8")
        found = await watch.since(before, ())
        assert found is not None
        assert [(change.path, change.kind) for change in found] == [("a", "created")]
        assert await watch.since(await watch.before(()), ()) == ()

    asyncio.run(go())
    watch.telling.journal.close()


def test_a_file_tool_is_measured_by_the_paths_it_names_and_a_shell_by_the_rest(
    tmp_path: Path,
) -> None:
    """[T2-51] What a file tool changed is not counted again for the shell that follows."""
    watch = watching(tmp_path)

    async def go() -> None:
        await watch.open()
        paths = ("./sub/../answer.txt", str(watch.root / "new"))
        before = await watch.before(paths)
        for name in ("answer.txt", "new", "unnamed"):
            (watch.root / name).write_text("1\n2\n", "utf-8")
        found = await watch.since(before, paths)
        assert found is not None
        assert [(c.path, c.kind, c.added) for c in found] == [
            ("answer.txt", "modified", 2),
            ("new", "created", 2),
        ]
        again = await watch.before(())
        (watch.root / "later").write_text("", "utf-8")
        after = await watch.since(again, ())
        assert after is not None
        assert [change.path for change in after] == ["later"]

    asyncio.run(go())
    watch.telling.journal.close()


@pytest.mark.behaviour("K-117", "B13")
def test_a_workspace_that_is_gone_is_unmeasured_and_never_clean(tmp_path: Path) -> None:
    """[T2-53, G-40] One notice says so; no digest, no "no change"."""
    watch = watching(tmp_path)

    async def go() -> Inspection:
        await opened(watch)
        before = await watch.before(())
        shutil.rmtree(watch.root)
        assert await watch.since(before, ()) != ()
        return await watch.inspect()

    found = asyncio.run(go())
    assert found.finding is not TamperState.CLEAN
    watch.telling.journal.close()


@pytest.mark.behaviour("G-12")
def test_without_a_test_nothing_is_granted_to_run_and_nothing_is_checked(tmp_path: Path) -> None:
    """[G-12]"""
    watch = watching(tmp_path, command=None)
    granted = asyncio.run(opened(watch))
    assert granted.candidate.test is None
    found = asyncio.run(watch.inspect())
    assert found.finding is TamperState.NOT_CHECKED
    watch.telling.journal.close()


def test_before_anything_is_pinned_nothing_is_checked(tmp_path: Path) -> None:
    watch = watching(tmp_path)
    found = asyncio.run(watch.inspect())
    assert (found.finding, found.digest) == (TamperState.NOT_CHECKED, None)
    watch.telling.journal.close()


def test_a_notice_is_told_once(tmp_path: Path) -> None:
    watch = watching(tmp_path, command="true")
    asyncio.run(opened(watch))
    asyncio.run(watch.inspect())
    notices = [fact.text for fact in watch.telling.told if isinstance(fact, Noticed)]
    assert len(notices) == len(set(notices))
    assert any("--watch-tests" in text for text in notices)
    watch.telling.journal.close()


@pytest.mark.behaviour("I22")
def test_a_failure_that_a_plugin_would_not_see_is_no_baseline_and_is_told(tmp_path: Path) -> None:
    """[G-13, T-10] The test fails for a variable that only the person has."""
    watch = watching(tmp_path)
    assert watch.granting is not None
    path_value = watch.env["PATH"]
    watch.env = {"PATH": path_value, "MARK": "1"}
    watch.granting = replace(watch.granting, environments=({"PATH": path_value},))
    (watch.root / "check.py").write_text("import os, sys\nsys.exit('MARK' in os.environ)\n")
    granted = asyncio.run(opened(watch))
    assert granted.candidate.test is not None
    assert granted.candidate.test.baseline is TestBaseline.UNOBSERVED
    (fact,) = watch.telling.told
    assert isinstance(fact, Noticed)
    assert "passed in the environment a plugin gets (PATH)" in fact.text
    watch.telling.journal.close()


@pytest.mark.behaviour("G-30", "G-34")
@pytest.mark.behaviour("K-100")
def test_a_test_that_rewrites_itself_is_no_baseline_and_is_pinned_once_more(tmp_path: Path) -> None:
    """[G-30, G-34] The set was pinned before the test ran, and again before round 0."""
    watch = watching(tmp_path)
    check = watch.root / "check.py"
    check.write_text(
        "import pathlib, sys\npathlib.Path(__file__).open('a').write('#')\nsys.exit(1)\n"
    )
    granted = asyncio.run(opened(watch))
    assert granted.baseline is not None
    assert (granted.baseline.baseline, granted.baseline.reason) == (
        TestBaseline.UNOBSERVED,
        "artifact-changed",
    )
    assert granted.candidate.test is not None
    assert granted.candidate.test.baseline is TestBaseline.UNOBSERVED
    told = [fact.text for fact in watch.telling.told if isinstance(fact, Noticed)]
    assert told[-1].endswith("while it ran before round 0: check.py")
    assert asyncio.run(watch.inspect()).finding is TamperState.CLEAN
    check.write_text("", "utf-8")
    assert asyncio.run(watch.inspect()).finding is not TamperState.CLEAN
    watch.telling.journal.close()
