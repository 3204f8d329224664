"""A plugin is installed when a person accepts what they were shown, and only then."""

import hashlib
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from stella import limits
from stella.clock import SystemClock
from stella.consent.answer import digest_of
from stella.consent.text import consent_text
from stella.errors import NameTaken
from stella.errors import NoTerminal
from stella.errors import PackageRefused
from stella.errors import RosterError
from stella.files import tree
from stella.manifest.read import read_manifest
from stella.process.program import Program
from stella.roster.install import Declined
from stella.roster.install import Proposal
from stella.roster.install import Wish
from stella.roster.install import install
from stella.roster.install import refuse_unequal
from stella.roster.listing import list_json
from stella.roster.listing import list_lines
from stella.roster.listing import show_lines
from stella.roster.lock import AcceptedBy
from stella.roster.lock import read_records
from stella.roster.plugin import State
from stella.roster.remove import remove
from stella.roster.roster import cleared
from stella.roster.roster import read_roster
from stella.roster.scope import Places
from stella.roster.scope import Scope
from stella.roster.start import resolution
from tests.making.child import said
from tests.making.child import start
from tests.making.clocks import HandClock
from tests.making.content import bundle
from tests.making.content import skill
from tests.making.content import tool
from tests.making.faults import starts
from tests.making.packages import NOTES
from tests.making.packages import lookup
from tests.making.packages import meter
from tests.making.packages import notes
from tests.making.packages import programs
from tests.making.packages import put
from tests.making.packages import seen
from tests.making.packages import settled
from tests.making.packages import wish
from tests.making.packages import yes
from tests.making.plugins import arbiter
from tests.making.shipped import PLUGIN


def never(proposal: Proposal) -> AcceptedBy | None:
    raise AssertionError(f"the question was asked about {proposal.manifest.name}")


def shown(source: Path, here: Places, scope: Scope = Scope.PROJECT) -> Proposal:
    """What a person who says no is shown."""
    seen_by: list[Proposal] = []

    def no(proposal: Proposal) -> None:
        seen_by.append(proposal)

    assert isinstance(install(wish(source, here, scope), no, HandClock()), Declined)
    (proposal,) = seen_by
    return proposal


def refused(
    source: Path,
    here: Places,
    scope: Scope = Scope.PROJECT,
    kind: type[RosterError] = PackageRefused,
) -> str:
    """The message of an install that is refused before the question, with nothing written."""
    before = seen(here.home.parent)
    with pytest.raises(kind) as caught:
        install(wish(source, here, scope), never, HandClock())
    assert seen(here.home.parent) == before
    message = str(caught.value)
    assert message.endswith("nothing was copied")
    return message


@pytest.mark.behaviour("I-1", "I-2")
@pytest.mark.parametrize("scope", Scope)
def test_an_accepted_package_is_in_its_tier_with_its_record(tmp_path: Path, scope: Scope) -> None:
    """I-2, I-26, K-158: modes are made plain, git and compiled files stay behind."""
    here = settled(tmp_path)
    source = meter(tmp_path / "source")
    (source / "main.py").chmod(0o666)
    for skipped in (".git", "__pycache__"):
        (source / skipped).mkdir()
        (source / skipped / "x").touch()
    done = put(source, here, scope)
    tier = here.tier(scope)
    assert (done.scope, done.directory) == (scope, tier.path / "meter")
    assert done.manifest.name == "meter"
    with tree.opened(done.directory) as placed, tree.opened(source) as original:
        package = tree.walk(original)
        assert tree.installed(placed) == package
    assert [path.name for path in tier.path.iterdir()] == ["meter"]
    assert read_records(tier).by_name == {"meter": done.record}
    record = done.record
    assert record.digest == package.digest
    assert record.files == dict(package.files)
    assert record.source == str(source)
    assert record.accepted_at == "2026-08-11T12:00:00Z"
    assert record.accepted_by is AcceptedBy.TTY
    assert record.program == str(done.directory / "bin/meter")
    assert record.consent == digest_of(record.consent_text)
    (plugin,) = read_roster(here, None).plugins
    assert (plugin.state, plugin.scope) == (State.OK, scope)


def test_the_text_that_is_shown_is_the_one_that_is_recorded(tmp_path: Path) -> None:
    """I-26, C-1: with the programs as they will be found."""
    here = settled(tmp_path)
    source = meter(tmp_path / "source")
    proposals: list[Proposal] = []

    def ask(proposal: Proposal) -> AcceptedBy:
        proposals.append(proposal)
        return AcceptedBy.YES

    done = put(source, here, ask=ask)
    (proposal,) = proposals
    assert proposal.consent == done.record.consent_text
    assert f"program: {done.directory}/bin/meter" in proposal.consent
    assert proposal.digest == done.record.digest
    assert (proposal.scope, proposal.directory) == (Scope.PROJECT, done.directory)
    assert (proposal.warnings, proposal.notes, proposal.withheld) == ("", (), ())
    assert done.record.accepted_by is AcceptedBy.YES


def test_the_shipped_plugin_shows_its_declaration_with_the_interpreter_found(
    tmp_path: Path,
) -> None:
    """K-168."""
    here = settled(tmp_path)
    path = programs(tmp_path / "bin")
    manifest = read_manifest((PLUGIN / "plugin.toml").read_bytes()).manifest
    asked = Wish(source=PLUGIN, scope=Scope.USER, places=here, path_value=path)
    texts: list[str] = []

    def ask(proposal: Proposal) -> AcceptedBy:
        texts.append(proposal.consent)
        return AcceptedBy.TTY

    install(asked, ask, HandClock())
    with tree.opened(PLUGIN) as root:
        where = resolution(manifest, tree.walk(root), PLUGIN, lookup(here, path))
    assert where.runtime == f"{path}/python3"
    assert texts == [consent_text(manifest, where)]


def test_a_no_writes_nothing(tmp_path: Path) -> None:
    """I-9: not even a directory."""
    here = settled(tmp_path)
    source = notes(tmp_path / "source")
    before = seen(tmp_path)
    assert install(wish(source, here), lambda _: None, HandClock()) == Declined(name="notes")
    assert seen(tmp_path) == before


def test_what_the_question_raises_passes_and_nothing_is_written(tmp_path: Path) -> None:
    """I-9: no terminal is an error, never a yes."""
    here = settled(tmp_path)
    source = notes(tmp_path / "source")
    before = seen(tmp_path)

    def ask(proposal: Proposal) -> AcceptedBy:
        raise NoTerminal("there is no terminal to ask on")

    with pytest.raises(NoTerminal, match=r"^there is no terminal to ask on$"):
        install(wish(source, here), ask, HandClock())
    assert seen(tmp_path) == before


# ── refused before the question ───────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "name",
    [
        "Verify",
        "9x",
        "con",
        "z" * 65,
        "a/b",
        "../x",
        "..",
        "/etc/x",
        "c:x",
        "a\\\\b",
        "stella",
        "é",
    ],
)
def test_a_bad_name_is_refused_before_any_file_is_made(tmp_path: Path, name: str) -> None:
    """K-155, A1, A2, A5, F4, F5, G13."""
    here = settled(tmp_path)
    source = notes(tmp_path / "source", name)
    assert f"{source}: name " in refused(source, here)


def test_what_is_no_plugin_is_said_so_in_one_line(tmp_path: Path) -> None:
    """I-2, step 1; B50, A11, G13, F10."""
    here = settled(tmp_path)
    cases: dict[str, Callable[[Path], object]] = {
        "not a plugin: there is no plugin.toml in it": lambda path: path.mkdir(),
        "No such file or directory": lambda _: None,
        "expected a directory, got a regular file": lambda path: path.touch(),
        "expected a directory, got a symbolic link": lambda path: path.symlink_to("."),
        "plugin.toml: expected a regular file, got a fifo": _fifo_manifest,
        "plugin.toml: expected a regular file, got a directory": lambda path: (
            path / "plugin.toml"
        ).mkdir(parents=True),
        "plugin.toml: expected a regular file, got a symbolic link": _linked_manifest,
    }
    for number, (expected, make) in enumerate(cases.items()):
        source = tmp_path / f"source-{number}"
        make(source)
        message = refused(source, here)
        assert expected in message
        assert "\n" not in message


def _fifo_manifest(path: Path) -> None:
    path.mkdir()
    os.mkfifo(path / "plugin.toml")


def _linked_manifest(path: Path) -> None:
    notes(path)
    (path / "plugin.toml").rename(path / "real.toml")
    (path / "plugin.toml").symlink_to("real.toml")


def test_a_faulty_manifest_is_refused_with_every_fault(tmp_path: Path) -> None:
    """F2, M-4, M-12."""
    here = settled(tmp_path)
    manifest = 'name = "{name}"\n[loop]\nmax_holds = 0\nmax_calls = 0\n'
    message = refused(notes(tmp_path / "source", manifest=manifest), here)
    assert "plugin.toml cannot be loaded: 4 faults\n  1. R-11 " in message
    assert "R-20 " in message
    assert message.splitlines()[-1] == "nothing was copied"


@pytest.mark.parametrize(
    ("name", "make", "kind"),
    [
        ("fifo", os.mkfifo, "fifo"),
        ("link", lambda path: path.symlink_to("/etc/shadow"), "symbolic link"),
        ("suid", lambda path: (path.touch(), path.chmod(0o4755)), "setuid"),
        ("lib", lambda path: path.symlink_to("."), "symbolic link"),
        ("new\nline", Path.touch, "name"),
        ("MAIN.py", Path.touch, "same name"),
        (".stella-configured.json", Path.touch, "the host keeps"),
    ],
)
def test_a_package_that_breaks_a_rule_is_refused_with_path_and_rule(
    tmp_path: Path, name: str, make: Callable[[Path], object], kind: str
) -> None:
    """K-157, A7, A8, A17, A19, A20, G13, G14, P-3, I-4 to I-6."""
    here = settled(tmp_path)
    source = notes(tmp_path / "source")
    make(source / name)
    message = refused(source, here)
    assert kind in message
    assert "\n" not in message


def test_more_than_fits_in_a_package_is_refused(tmp_path: Path) -> None:
    """A14, G14, K-156."""
    here = settled(tmp_path)
    source = notes(tmp_path / "source")
    with (source / "big").open("wb") as file:
        os.truncate(file.fileno(), 5 * 10**9)
    assert "the limit is 268435456" in refused(source, here)


@pytest.mark.behaviour("B59")
def test_content_that_is_not_what_is_declared_is_refused_in_one_message(tmp_path: Path) -> None:
    """P-6, P-7: both lists, and nothing was copied."""
    here = settled(tmp_path)
    source = bundle(tmp_path / "source", tools=("lint_fix",))
    (source / "tools" / "lint_fix.toml").rename(source / "tools" / "other.toml")
    tool(source, "deploy", file="a.toml")
    skill(source, "extra")
    message = refused(source, here)
    assert message.endswith(
        "what it ships is not what it declares:\n"
        '  skills/extra/SKILL.md: skill "extra" is not declared in [[skills]]\n'
        '  tools/a.toml: tool "deploy" is not declared in [[tools]]\n'
        "nothing was copied"
    )


def test_content_that_is_declared_is_installed_and_inert_files_are_named(tmp_path: Path) -> None:
    """P-4, P-8: nothing lands unnamed, and both texts are shown where they differ."""
    here = settled(tmp_path)
    source = bundle(tmp_path / "source", tools=("lint_fix",), skills=("fix",), records=("shop",))
    tool(source, more='color = "red"\n').write_text(
        (source / "tools" / "lint_fix.toml").read_text().replace("Fixes.", "Deploys\\u001b[1m.")
    )
    (source / "rules" / "strict.yaml").touch()
    shown: list[Proposal] = []

    def ask(proposal: Proposal) -> AcceptedBy | None:
        shown.append(proposal)
        return AcceptedBy.TTY

    put(source, here, ask=ask)
    text = 'warning: tools/lint_fix.toml: the text of tool "lint_fix"'
    assert shown[0].notes == (
        f'{text} is "Deploys\\u{{1B}}[1m.", and the one in [[tools]] is "Fixes."',
        'warning: tools/lint_fix.toml: the key "color" is unknown and ignored',
        "note: rules/strict.yaml: data, never loaded as a tool, a skill or a record",
    )
    assert (here.workspace / ".stella/plugins/bundle/rules/strict.yaml").is_file()


def test_a_program_that_could_never_start_is_refused(tmp_path: Path) -> None:
    """G7."""
    here = settled(tmp_path)
    source = meter(tmp_path / "source")
    (source / "bin/meter").chmod(0o644)
    assert "chmod +x" in refused(source, here)


def test_a_consent_text_nobody_would_read_is_refused(tmp_path: Path) -> None:
    """C68: at the limit and past it."""
    here = settled(tmp_path)
    source = notes(tmp_path / "source")
    size = len(shown(source, here).consent.encode()) + len("x\n")

    def described(length: int) -> None:
        text = f'name = "notes"\ndescription = "{"x" * length}"\n'
        (source / "plugin.toml").write_text(text, "utf-8")

    described(limits.CONSENT_BYTES - size + 1)
    assert len(shown(source, here).consent.encode()) == limits.CONSENT_BYTES
    described(limits.CONSENT_BYTES - size + 2)
    assert f"the limit is {limits.CONSENT_BYTES}" in refused(source, here)


@pytest.mark.parametrize("scope", Scope)
def test_a_name_that_is_taken_is_refused_and_the_other_scope_is_free(
    tmp_path: Path, scope: Scope
) -> None:
    """K-164, G4, I-2: the one that is there stays as it is."""
    here = settled(tmp_path)
    put(notes(tmp_path / "first"), here, scope)
    second = notes(tmp_path / "second")
    message = refused(second, here, scope, NameTaken)
    assert "`stella plugin remove notes` makes room for it" in message
    (other,) = set(Scope) - {scope}
    put(second, here, other)


def test_a_source_inside_the_tier_or_around_it_is_refused(tmp_path: Path) -> None:
    """I-8: by what they are, not by how they are spelled."""
    here = settled(tmp_path)
    tier = here.tier(Scope.PROJECT).path
    inside = notes(tier / "placed", "notes")
    assert "it lies inside" in refused(inside, here)
    (here.workspace / "plugin.toml").write_text('name = "shop"\n', "utf-8")
    assert "it contains" in refused(here.workspace, here)
    (tmp_path / "link").symlink_to("shop")
    assert "it lies inside" in refused(tmp_path / "link/.stella/plugins/placed", here)
    put(inside, here, Scope.USER)


def test_a_manifest_that_is_not_the_one_of_the_tree_is_refused(tmp_path: Path) -> None:
    """I-2: what is judged are the bytes that are copied."""
    with tree.opened(notes(tmp_path / "source")) as root:
        package = tree.walk(root)
    refuse_unequal(package, b'name = "notes"\n')
    with pytest.raises(PackageRefused, match="changed while it was read"):
        refuse_unequal(package, b'name = "other"\n')


def test_a_manifest_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    """A22: what is judged and shown are the bytes that are copied."""
    from tests.making.faults import on_opening

    here = settled(tmp_path)
    source = notes(tmp_path / "source")

    def work() -> str:
        # `main.py` is opened by the walk, after the manifest was judged and before it is hashed.
        on_opening("main.py", lambda: _rename(source))
        install(wish(source, here), yes, HandClock())
        return "installed"

    assert said(work) == (
        f"PackageRefused: {source}: plugin.toml: changed while it was read; nothing was copied"
    )


def _rename(source: Path) -> None:
    (source / "plugin.toml").write_text('name = "other"\n', "utf-8")


def test_links_on_the_way_to_the_tier_are_refused(tmp_path: Path) -> None:
    """Q-11: before the question already."""
    here = settled(tmp_path)
    (here.workspace / ".stella").symlink_to(tmp_path / "home")
    assert "symbolic link" in refused(notes(tmp_path / "source"), here, kind=RosterError)


# ── what is shown besides the text ────────────────────────────────────────────────────


def test_warnings_of_the_manifest_come_with_the_question(tmp_path: Path) -> None:
    """M-9, I-2, step 7."""
    here = settled(tmp_path)
    risky = '[[capabilities]]\ntool = "bash"\nrisk = "hihg"\npurpose = "p"\n'
    proposal = shown(notes(tmp_path / "source", manifest=NOTES + risky), here)
    assert proposal.warnings.startswith("plugin.toml has 1 warning")


def test_credentials_a_plugin_asks_for_are_named(tmp_path: Path) -> None:
    """I-2, step 8; T-11, J4: registered names too."""
    here = settled(tmp_path)
    source = arbiter(tmp_path / "source", "")
    manifest = source / "plugin.toml"
    text = manifest.read_text("utf-8").replace('"PATH"', '"PATH", "MY_TOKEN", "MODEL_SECRETS"')
    manifest.write_text(text, "utf-8")
    asked = Wish(
        source=source,
        scope=Scope.PROJECT,
        places=here,
        path_value=None,
        registered=frozenset({"model_secrets"}),
    )
    names: list[str] = []

    def ask(proposal: Proposal) -> None:
        names.extend(proposal.withheld)

    install(asked, ask, HandClock())
    assert names == ["MY_TOKEN", "MODEL_SECRETS"]


@pytest.mark.behaviour("I-2")
@pytest.mark.parametrize("scope", Scope)
def test_the_copy_that_will_be_used_is_named_when_the_other_scope_has_one(
    tmp_path: Path, scope: Scope
) -> None:
    """I-2, step 9; I-42, E23."""
    here = settled(tmp_path)
    (other,) = set(Scope) - {scope}
    put(notes(tmp_path / "another", "another"), here, other)
    done = put(notes(tmp_path / "source"), here, other)
    proposal = shown(notes(tmp_path / "second"), here, scope)
    (note,) = proposal.notes
    assert note == (
        f"notes is in the {other.value} scope too, at {done.directory}; in this workspace "
        "the copy of the project scope is used, not the one of the user scope"
    )


def test_a_script_with_the_wrong_line_end_is_named(tmp_path: Path) -> None:
    """G8."""
    here = settled(tmp_path)
    proposal = shown(meter(tmp_path / "source", program="#!/bin/sh\r\n"), here)
    assert proposal.notes[0].startswith("bin/meter: its first line ends with a carriage return")


# ── many at once, and nothing started ─────────────────────────────────────────────────


@pytest.mark.behaviour("G11")
def test_twenty_installs_at_once_lose_nothing(tmp_path: Path) -> None:
    """G11, A26: each is there, accepted; no torn file."""
    here = settled(tmp_path)
    sources = [meter(tmp_path / f"source-{n}", f"meter-{n}") for n in range(20)]
    children = [start(_installing(source, here, Scope.PROJECT)) for source in sources]
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 20
    plugins = read_roster(here, None).plugins
    assert {plugin.name for plugin in plugins} == {f"meter-{n}" for n in range(20)}
    assert {plugin.state for plugin in plugins} == {State.OK}
    assert len(list(here.tier(Scope.PROJECT).path.iterdir())) == 20


def _installing(source: Path, here: Places, scope: Scope) -> Callable[[], None]:
    def work() -> None:
        try:
            put(source, here, scope, clock=SystemClock())
        except NameTaken:
            os._exit(3)

    return work


@pytest.mark.behaviour("A26")
def test_of_twenty_installs_of_one_name_one_wins(tmp_path: Path) -> None:
    """A26: the others are refused and no tree is merged."""
    here = settled(tmp_path)
    sources = [meter(tmp_path / f"source-{n}", "meter") for n in range(20)]
    for number, source in enumerate(sources):
        (source / f"only-{number}").touch()
    children = [start(_installing(source, here, Scope.USER)) for source in sources]
    codes = sorted(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children)
    assert codes == [0] + [3] * 19
    (plugin,) = read_roster(here, None).plugins
    assert plugin.state is State.OK
    assert len(list(plugin.directory.glob("only-*"))) == 1


@pytest.mark.behaviour("G11")
def test_installs_and_removes_at_once_end_in_some_order(tmp_path: Path) -> None:
    """G11: whatever the order, the tier and its records agree."""
    here = settled(tmp_path)
    for number in range(10):
        put(notes(tmp_path / f"old-{number}", f"old-{number}"), here, clock=SystemClock())
    sources = [notes(tmp_path / f"new-{n}", f"new-{n}") for n in range(10)]

    def removing(number: int) -> Callable[[], None]:
        return lambda: void(remove(f"old-{number}", here, SystemClock()))

    def void(_: object) -> None:
        return None

    work = [_installing(source, here, Scope.PROJECT) for source in sources]
    children = [
        start(each) for pair in zip(work, map(removing, range(10)), strict=True) for each in pair
    ]
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 20
    names = {f"new-{n}" for n in range(10)}
    plugins = read_roster(here, None).plugins
    assert {plugin.name for plugin in plugins} == names
    assert {plugin.state for plugin in plugins} == {State.OK}
    tier = here.tier(Scope.PROJECT)
    assert {path.name for path in tier.path.iterdir()} == names
    assert set(read_records(tier).by_name) == names


@pytest.mark.behaviour("A40", "I-67")
def test_no_command_starts_a_process(tmp_path: Path) -> None:
    """A40, I-67, H14: install, list, show, the check before a start, and remove."""
    here = settled(tmp_path)
    path = programs(tmp_path / "bin")
    source = arbiter(tmp_path / "source", f"open({str(tmp_path / 'was-started')!r}, 'w')")
    for name in ("setup.py", "conftest.py", "__init__.py", "sitecustomize.py", "postinstall"):
        (source / name).write_text(f"open({str(tmp_path / 'was-started')!r}, 'w')")
        (source / name).chmod(0o755)

    def work() -> str:
        started = starts()
        asked = Wish(source=source, scope=Scope.PROJECT, places=here, path_value=path)
        install(asked, yes, HandClock())
        roster = read_roster(here, path)
        (plugin,) = roster.plugins
        list_json(roster)
        list_lines(roster, frozenset())
        show_lines(plugin, lookup(here, path))
        assert cleared(plugin, lookup(here, path)) == Program(path=f"{path}/python3")
        (plugin.directory / "main.py").write_text("")
        assert isinstance(cleared(plugin, lookup(here, path)), str)
        remove("judge", here, HandClock())
        return f"started {started()}"

    assert said(work) == "started []"
    assert not (tmp_path / "was-started").exists()
    assert not (tmp_path / "bin/was-started").exists()


def test_a_start_would_have_been_seen() -> None:
    """The proof above can fail."""

    def work() -> str:
        started = starts()
        os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
        return f"started {started()}"

    assert said(work) == "started ['os.posix_spawn']"


@pytest.mark.behaviour("I-28")
def test_what_is_installed_is_what_the_digest_says_for_a_package_of_many_kinds(
    tmp_path: Path,
) -> None:
    """A22: installed bytes and shown digest are one."""
    here = settled(tmp_path)
    source = meter(tmp_path / "source")
    (source / "data/deep").mkdir(parents=True)
    (source / "data/deep/日本.bin").write_bytes(bytes(range(256)))
    (source / "empty").mkdir()
    done = put(source, here)
    for path, digest in done.record.files.items():
        data = (done.directory / path).read_bytes()
        assert digest == f"sha256:{hashlib.sha256(data).hexdigest()}"
        assert data == (source / path).read_bytes()
    assert (done.directory / "empty").is_dir()


def test_a_socket_in_the_package_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """K-157, A13, G14."""
    here = settled(tmp_path)
    source = notes(tmp_path / "source")
    monkeypatch.chdir(source)
    with socket.socket(socket.AF_UNIX) as unix:
        unix.bind("s")
        assert "s: a socket" in refused(source, here)


def test_a_path_that_is_no_text_is_shown_escaped(tmp_path: Path) -> None:
    """A19, C-5: where the source lies is author text too."""
    here = settled(tmp_path)
    source = notes(tmp_path / os.fsdecode(b"so\xff\x1burce"), "Bad")
    message = refused(source, here)
    assert r"so\u{DCFF}\u{1B}urce" in message
    assert message.isprintable()
    good = put(notes(tmp_path / os.fsdecode(b"so\xff"), "good"), here)
    assert good.record.source.endswith("so\ufffd")
    assert read_records(here.tier(Scope.PROJECT)).by_name == {"good": good.record}


def test_the_program_that_was_found_is_recorded_and_shown_later(tmp_path: Path) -> None:
    """E131, J5: an earlier one on PATH changes nothing, and one that is gone has a way out."""
    here = settled(tmp_path)
    path = programs(tmp_path / "bin")
    source = arbiter(tmp_path / "source", "print(1)\n")
    asked = Wish(source=source, scope=Scope.PROJECT, places=here, path_value=path)
    install(asked, yes, HandClock())
    earlier = f"{programs(tmp_path / 'earlier')}:{path}"
    (plugin,) = read_roster(here, earlier).plugins
    assert cleared(plugin, lookup(here, earlier)) == Program(path=f"{path}/python3")
    text = "\n".join(show_lines(plugin, lookup(here, earlier)))
    assert f"program: {path}/python3" in text
    assert f"\n  program  {path}/python3\n" in text
    (tmp_path / "bin/python3").unlink()
    found = cleared(plugin, lookup(here, earlier))
    assert isinstance(found, Program)
    assert found.not_started == (
        f"{path}/python3: the program that was accepted is gone or may not be executed; "
        "`stella plugin accept judge` shows what it is now and asks, `stella plugin remove judge` "
        "takes it away"
    )
    assert "program: not found on this machine" in "\n".join(
        show_lines(plugin, lookup(here, earlier))
    )


def test_without_a_program_nothing_is_recorded_and_nothing_is_looked_up_later(
    tmp_path: Path,
) -> None:
    """E131, T-8."""
    here = settled(tmp_path)
    done = put(arbiter(tmp_path / "source", "print(1)\n"), here)
    assert done.record.program is None
    path = programs(tmp_path / "bin")
    (plugin,) = read_roster(here, path).plugins
    found = cleared(plugin, lookup(here, path))
    assert isinstance(found, Program)
    assert (found.not_started or "").startswith(
        "python3: no such program was found when it was accepted; `stella plugin accept judge`"
    )


def test_a_path_that_toml_cannot_hold_is_not_recorded_and_an_own_program_runs(
    tmp_path: Path,
) -> None:
    """A workspace may have a name that is not UTF-8."""
    root = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff"))
    here = settled(root)
    done = put(meter(tmp_path / "source"), here)
    assert done.record.program is None
    (plugin,) = read_roster(here, None).plugins
    program = Program(path=f"{done.directory}/bin/meter")
    assert cleared(plugin, lookup(here)) == program


def test_a_package_that_names_a_program_outside_itself_is_refused(tmp_path: Path) -> None:
    """B56: with the place, what was expected, what came and the way out."""
    here = settled(tmp_path)
    source = meter(tmp_path / "source")
    manifest = source / "plugin.toml"
    text = manifest.read_text("utf-8").replace("/bin/meter", "/../../../check.sh")
    manifest.write_text(text, "utf-8")
    with pytest.raises(PackageRefused, match=r"got a path that leaves it.*; nothing was copied"):
        put(source, here)
