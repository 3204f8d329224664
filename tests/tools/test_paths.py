"""Where a path leads: never out of the workspace, never through a link when it is written."""

import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from stella import limits
from stella.message import ErrorClass
from stella.message import Failure
from stella.tools.paths import Purpose
from stella.tools.paths import Root
from stella.tools.paths import Spot
from stella.tools.paths import held_root
from stella.tools.paths import opened_directory
from stella.tools.paths import parts_of
from stella.tools.paths import steers
from stella.tools.paths import walk
from tests.making.hands import hands
from tests.making.hands import picture

EVERY = tuple(Purpose)
CHANGING = (Purpose.WRITE, Purpose.CHANGE)


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Root]:
    (tmp_path / "ws").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "canary").write_text("canary")
    with held_root(str(tmp_path / "ws")) as held:
        yield held


def found(root: Root, path: str, purpose: Purpose) -> Spot | Failure:
    """Where a path leads; what was opened for it is closed again."""
    with ExitStack() as held:
        return walk(root, path, purpose, held)


def spot(root: Root, path: str, purpose: Purpose = Purpose.READ) -> Spot:
    place = found(root, path, purpose)
    assert isinstance(place, Spot), place
    return place


def refused(root: Root, path: str, purpose: Purpose = Purpose.READ) -> Failure:
    place = found(root, path, purpose)
    assert isinstance(place, Failure), place
    return place


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


# ── the text alone ────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("path", ["", "a\0b", "..", "a/../b", "../x", "a/..", "\udc80"])
@pytest.mark.parametrize("purpose", EVERY)
def test_text_that_is_no_path_here_is_refused_before_anything_is_opened(
    root: Root, path: str, purpose: Purpose
) -> None:
    """T2-30: the root itself is not looked at, so a closed one does no harm."""
    closed = Root(path=root.path, fd=-1)
    assert refused(closed, path, purpose).kind is ErrorClass.INVALID_INPUT


@pytest.mark.parametrize("path", ["/", "/etc/passwd", "//etc", "{outside}/canary", "{root}x/a"])
def test_an_absolute_path_outside_the_root_is_refused(root: Root, path: str) -> None:
    """T2-30: a name that only begins like the root's is outside too."""
    outside = Path(root.path).with_name("outside")
    shown = path.format(outside=outside, root=root.path)
    failure = refused(Root(path=root.path, fd=-1), shown)
    assert failure.kind is ErrorClass.REFUSED_BY_POLICY
    assert failure.cause == "protected_path"


def test_an_absolute_path_inside_the_root_is_relative_to_it(root: Root) -> None:
    assert parts_of(root, f"{root.path}/a/b") == ("a", "b")
    assert parts_of(root, root.path) == ()


@pytest.mark.parametrize(
    ("path", "parts"),
    [("a", ("a",)), ("./a//b/.", ("a", "b")), (".", ()), ("a/", ("a",)), (" ", (" ",))],
)
def test_dots_and_doubled_slashes_mean_nothing(
    root: Root, path: str, parts: tuple[str, ...]
) -> None:
    assert parts_of(root, path) == parts


def test_a_root_that_is_a_link_is_held_by_its_real_path(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with held_root(str(tmp_path / "link")) as root:
        assert root.path == str(tmp_path / "real")


def test_a_root_that_is_no_directory_cannot_be_held(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError), held_root(str(tmp_path / "file")):
        pass


# ── plain walking ─────────────────────────────────────────────────────────────────────


def test_a_file_is_found_where_it_is(root: Root) -> None:
    Path(root.path, "a", "b").mkdir(parents=True)
    Path(root.path, "a", "b", "c").write_text("x")
    for purpose in EVERY:
        place = spot(root, "a//b/./c", purpose)
        assert (place.path, place.given, place.name, place.missing) == ("a/b/c", "a/b/c", "c", ())
        assert place.status is not None
        assert place.status.st_size == 1


def test_what_is_missing_may_be_written_and_nothing_else(root: Root) -> None:
    Path(root.path, "a").mkdir()
    place = spot(root, "a/b/c/d", Purpose.WRITE)
    assert (place.missing, place.name, place.status) == (("b", "c"), "d", None)
    for purpose in (Purpose.READ, Purpose.CHANGE):
        assert refused(root, "a/b/c/d", purpose).kind is ErrorClass.NOT_FOUND


def test_a_missing_name_is_answered_with_near_ones(root: Root) -> None:
    Path(root.path, "src").mkdir()
    Path(root.path, "src", "main.py").touch()
    assert "did you mean main.py?" in refused(root, "src/mian.py").message
    assert "did you mean src?" in refused(root, "scr/main.py").message


def test_only_so_many_names_are_compared(root: Root) -> None:
    for number in range(limits.NAMES_COMPARED + 1):
        Path(root.path, f"{'x' * 20}{number}").touch()
    with os.scandir(root.path) as entries:
        names = [entry.name for entry in entries]
    last = names[limits.NAMES_COMPARED]
    assert "did you mean" in refused(root, names[0][:-1] + "~").message
    only = last[:20] + "~" * (len(last) - 20)
    assert last not in refused(root, only).message


def test_a_file_in_the_place_of_a_directory_is_named(root: Root) -> None:
    Path(root.path, "a").touch()
    for purpose in EVERY:
        failure = refused(root, "a/b", purpose)
        assert failure.kind is ErrorClass.NOT_FOUND
        assert failure.message == "a/b: a is not a directory"


def test_a_name_that_is_too_long_is_the_arguments_fault(root: Root) -> None:
    assert refused(root, "x" * 256, Purpose.WRITE).kind is ErrorClass.INVALID_INPUT


def test_the_root_itself_is_a_directory_named_dot(root: Root) -> None:
    place = spot(root, ".")
    assert (place.parts, place.name, place.given) == ((), ".", ".")


def test_nothing_stays_open(root: Root) -> None:
    Path(root.path, "a", "b").mkdir(parents=True)
    Path(root.path, "a", "back").symlink_to("../a/b")
    before = descriptors()
    for path in ("a/b", "a/b/c", "a/back", "a/back/x", "missing/x", "a/.", "a/\0"):
        for purpose in EVERY:
            found(root, path, purpose)
    assert descriptors() == before


# ── links ─────────────────────────────────────────────────────────────────────────────


def test_a_link_inside_is_followed_for_reading(root: Root) -> None:
    """T2-31: by whatever kind of text it points there."""
    Path(root.path, "d", "e").mkdir(parents=True)
    Path(root.path, "d", "f").write_text("x")
    targets = {
        "plain": "d/f",
        "dotted": "./d/.//f",
        "up": "d/e/../f",
        "absolute": f"{root.path}/d/f",
        "chain": "plain",
    }
    for name, target in targets.items():
        Path(root.path, name).symlink_to(target)
        assert (spot(root, name).path, spot(root, name).given) == ("d/f", name)
    Path(root.path, "d", "e", "home").symlink_to("../../d")
    assert spot(root, "d/e/home/e/home/f").path == "d/f"
    Path(root.path, "here").symlink_to(".")
    assert spot(root, "here").parts == ()
    assert spot(root, "here/here/d/f").path == "d/f"
    Path(root.path, "top").symlink_to(root.path)
    assert spot(root, "top/d/f").path == "d/f"


@pytest.mark.parametrize(
    "target",
    ["../outside", "../outside/canary", "/etc/passwd", "/", "d/../../outside", "../ws/d"],
)
def test_a_link_that_leaves_the_root_is_refused(root: Root, target: str) -> None:
    """T2-31: even one that would come back."""
    Path(root.path, "d").mkdir()
    Path(root.path, "link").symlink_to(target)
    for path in ("link", "link/canary"):
        failure = refused(root, path)
        assert failure.cause == "protected_path"
        assert "out of the workspace" in failure.message


def test_a_link_that_leaves_by_way_of_another_is_refused(root: Root) -> None:
    Path(root.path, "a", "b").mkdir(parents=True)
    Path(root.path, "deep").symlink_to("a/b")
    Path(root.path, "tricky").symlink_to("deep/../../../outside/canary")
    assert refused(root, "tricky").cause == "protected_path"
    # The parent of where `deep` leads is `a`, not the root: text alone would be wrong here.
    Path(root.path, "a", "x").touch()
    Path(root.path, "honest").symlink_to("deep/../x")
    assert spot(root, "honest").path == "a/x"


def test_no_link_is_written_through(root: Root) -> None:
    """T2-31: neither as the last component nor on the way."""
    Path(root.path, "d").mkdir()
    Path(root.path, "d", "f").write_text("x")
    Path(root.path, "file").symlink_to("d/f")
    Path(root.path, "dir").symlink_to("d")
    Path(root.path, "dangling").symlink_to("nowhere")
    for path in ("file", "dir", "dir/f", "dir/new", "dangling"):
        failure = refused(root, path, Purpose.WRITE)
        assert (failure.kind, failure.cause) == (ErrorClass.REFUSED_BY_POLICY, "protected_path")
    assert refused(root, "dir/f", Purpose.CHANGE).cause == "protected_path"


def test_a_link_itself_can_be_changed(root: Root) -> None:
    Path(root.path, "link").symlink_to("/etc/passwd")
    place = spot(root, "link", Purpose.CHANGE)
    assert place.path == "link"


def test_a_loop_ends(root: Root) -> None:
    Path(root.path, "a").symlink_to("b")
    Path(root.path, "b").symlink_to("a")
    Path(root.path, "self").symlink_to("self/x")
    for path in ("a", "self"):
        assert "too many" in refused(root, path).message


@pytest.mark.parametrize("links", [limits.LINKS_FOLLOWED, limits.LINKS_FOLLOWED + 1])
def test_links_are_followed_up_to_a_number(root: Root, links: int) -> None:
    Path(root.path, "0").touch()
    for number in range(links):
        Path(root.path, str(number + 1)).symlink_to(str(number))
    place = found(root, str(links), Purpose.READ)
    assert isinstance(place, Spot) == (links <= limits.LINKS_FOLLOWED)


# ── protected places ──────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "path",
    [
        ".git",
        ".git/config",
        ".git/hooks/pre-commit",
        ".GIT/config",
        "sub/.git",
        "sub/.git/hooks/x",
        ".stella/private",
        ".stella/private/x",
        ".stella/private/deep/x",
        ".STELLA/Private/x",
        "{root}/.git/config",
        "./.stella//private/./x",
    ],
)
@pytest.mark.parametrize("there", [False, True])
def test_protected_places_are_neither_written_nor_deleted(
    root: Root, path: str, *, there: bool
) -> None:
    """T2-32, D92: also what does not exist yet."""
    if there:
        for place in (".git/hooks", "sub/.git/hooks", ".stella/private/deep", ".GIT"):
            Path(root.path, place).mkdir(parents=True)
    for purpose in CHANGING:
        failure = refused(root, path.format(root=root.path), purpose)
        if there or purpose is Purpose.WRITE:
            assert (failure.kind, failure.cause) == (
                ErrorClass.REFUSED_BY_POLICY,
                "protected_path",
            )


def test_the_hosts_records_are_not_read_and_version_controls_are(root: Root) -> None:
    """T2-32."""
    for place in (".git", ".stella/private"):
        Path(root.path, place).mkdir(parents=True)
        Path(root.path, place, "x").touch()
    assert spot(root, ".git/x").path == ".git/x"
    for path in (".stella/private", ".stella/private/x", ".Stella/PRIVATE/y"):
        assert refused(root, path).cause == "protected_path"
    assert spot(root, ".stella").path == ".stella"


def test_the_hosts_records_are_not_read_through_links(root: Root) -> None:
    """T2-32: a link to them, to a directory above, or from their place to somewhere else."""
    Path(root.path, ".stella/private").mkdir(parents=True)
    Path(root.path, ".stella/private/x").touch()
    Path(root.path, "direct").symlink_to(".stella/private/x")
    Path(root.path, "folder").symlink_to(".stella/private")
    Path(root.path, "above").symlink_to(".stella")
    for path in ("direct", "folder", "folder/x", "above/private/x"):
        assert refused(root, path).cause == "protected_path"


def test_protected_places_are_known_under_other_names(root: Root) -> None:
    """T2-32: where the file system has another name for the directory, it is the same one."""
    Path(root.path, "meta").mkdir()
    Path(root.path, "meta/config").touch()
    Path(root.path, ".git").symlink_to("meta")
    Path(root.path, ".stella").mkdir()
    Path(root.path, "stash/deep").mkdir(parents=True)
    Path(root.path, ".stella/private").symlink_to("../stash")
    for purpose in CHANGING:
        assert refused(root, "meta/config", purpose).cause == "protected_path"
        assert refused(root, "stash/deep", purpose).cause == "protected_path"
    assert spot(root, "meta/config").path == "meta/config"
    assert refused(root, "stash/deep").cause == "protected_path"
    assert refused(root, "stash").cause == "protected_path"


def test_a_git_file_is_protected_like_a_git_directory(root: Root) -> None:
    """N349: the file of a linked worktree says where git reads its configuration."""
    Path(root.path, ".git").write_text("gitdir: elsewhere\n")
    for purpose in CHANGING:
        assert refused(root, ".git", purpose).cause == "protected_path"


@pytest.mark.parametrize(
    ("path", "steering"),
    [
        (".stella/rules/a.md", True),
        (".stella", True),
        (".Stella/x", True),
        ("stella.toml", True),
        ("STELLA.toml", True),
        ("{root}/stella.toml", True),
        ("./.stella//skills/x", True),
        (".mcp.json", True),
        (".MCP.json", True),
        ("sub/stella.toml", False),
        ("sub/.mcp.json", False),
        ("sub/.stella/x", False),
        ("stella.toml.bak", False),
        ("stella", False),
        (".", False),
        ("", False),
        ("../stella.toml", False),
    ],
)
def test_what_steers_later_sessions_is_known(root: Root, path: str, *, steering: bool) -> None:
    """T2-32, D92."""
    assert steers(root, path.format(root=root.path)) is steering


def test_what_steers_later_sessions_is_known_under_another_name(root: Root) -> None:
    Path(root.path, ".stella").mkdir()
    Path(root.path, "other").symlink_to(".stella")
    assert steers(root, "other/rules/x")
    assert not steers(root, "another/x")


# ── directories ───────────────────────────────────────────────────────────────────────


def test_a_directory_is_opened_and_nothing_else_is(root: Root) -> None:
    Path(root.path, "d").mkdir()
    Path(root.path, "f").touch()
    os.mkfifo(Path(root.path, "pipe"))
    with ExitStack() as held:
        assert isinstance(opened_directory(spot_in(root, "d", held), held), int)
        assert isinstance(opened_directory(spot_in(root, ".", held), held), int)
        for name in ("f", "pipe"):
            failure = opened_directory(spot_in(root, name, held), held)
            assert isinstance(failure, Failure)
            assert failure.kind is ErrorClass.INVALID_INPUT


def test_a_directory_that_went_away_is_not_found(root: Root) -> None:
    Path(root.path, "d").mkdir()
    with ExitStack() as held:
        place = spot_in(root, "d", held)
        Path(root.path, "d").rmdir()
        failure = opened_directory(place, held)
    assert isinstance(failure, Failure)
    assert failure.kind is ErrorClass.NOT_FOUND


def spot_in(root: Root, path: str, held: ExitStack) -> Spot:
    place = walk(root, path, Purpose.READ, held)
    assert isinstance(place, Spot)
    return place


# ── for every path ────────────────────────────────────────────────────────────────────

CANARY = "canary in the coal mine"
STEPS = (
    *("..", ".", "", "a", "b", "new", "file", ".git", ".stella", "private", "x\0y"),
    *("out", "up", "abs", "loop", "in", "hard", "pipe", "socket", "deep", "outside", "canary"),
)
PATHS = st.one_of(
    st.lists(st.sampled_from(STEPS), max_size=6).map("/".join),
    st.lists(st.sampled_from(STEPS), max_size=5).map(lambda steps: "/" + "/".join(steps)),
    st.text(max_size=12),
)


def furnished(place: Path) -> Path:
    """A workspace with a link of every kind, and a canary outside of it."""
    outside = place / "outside"
    outside.mkdir()
    (outside / "canary").write_text(CANARY)
    root = place / "ws"
    (root / "a" / "b").mkdir(parents=True)
    (root / "file").write_text("inside")
    (root / "a" / "file").write_text("inside")
    (root / ".git").mkdir()
    (root / ".git" / "file").write_text("inside")
    (root / ".stella" / "private").mkdir(parents=True)
    (root / ".stella" / "private" / "file").write_text(CANARY)
    for where in (root, root / "a", root / "a" / "b"):
        (where / "out").symlink_to(outside)
        (where / "canary").symlink_to(outside / "canary")
        (where / "up").symlink_to("..")
        (where / "abs").symlink_to("/")
        (where / "loop").symlink_to("loop")
        (where / "in").symlink_to(root / "a")
        (where / "deep").symlink_to("up/up/outside")
    os.link(outside / "canary", root / "hard")
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.path.relpath(root / "socket"))
    return root


EXTRA: dict[str, dict[str, str | bool]] = {
    "write_file": {"content": "overwritten"},
    "edit_file": {"old_string": "i", "new_string": "overwritten", "replace_all": True},
    "delete_file": {},
}


@settings(max_examples=120, deadline=None)
@given(path=PATHS, change=st.sampled_from(sorted(EXTRA)))
def test_no_path_reads_or_writes_outside_the_root(path: str, change: str) -> None:
    """T2-30 to T2-32, G175: whatever the text and whatever links are there."""
    with tempfile.TemporaryDirectory() as made:
        place = Path(made).resolve()
        root = furnished(place)
        outside = picture(place / "outside")
        kept = {name: picture(root / name) for name in (".git", ".stella/private")}
        with hands(root) as own:
            shown = own.do("read_file", path=path)
            if path.rstrip("/.").rpartition("/")[2] != "hard":  # a name of the workspace's own
                assert CANARY not in shown.text
            assert "coal" not in own.do("list_files", path=path).text
            own.do(change, path=path, **EXTRA[change])
        assert picture(place / "outside") == outside
        assert {name: picture(root / name) for name in kept} == kept
        assert sorted(entry.name for entry in place.iterdir()) == ["outside", "ws"]


def test_a_surrogate_that_no_name_can_hold_is_refused(root: Root) -> None:
    """T2-30: and can be shown all the same."""
    failure = refused(root, "a\ud800b\0")
    assert failure.message == "a?b\\u{0}: the path is not valid UTF-8"
