"""Content on a real disk: tool files, skills, rules, and packages that declare them."""

from pathlib import Path

import msgspec

from stella.files import tree
from stella.roster import lock
from stella.roster.scope import Places
from stella.roster.scope import Scope

TOOL = """\
name = "{name}"
description = "Fixes."
command = ["true"]
"""
SKILL = "---\nname: {name}\ndescription: Fixes.\n---\nFix it.\n"
RULES = """\
schema = "context-record/v0.1"
set_id = "shop"
[[record]]
lineage_id = "{name}"
kind = "rule"
statement = "Fix it."
"""


def tool(folder: Path, name: str = "lint_fix", more: str = "", file: str = "") -> Path:
    """Write a tool file into `folder`/tools; `more` are further lines of it."""
    return put(folder / "tools" / (file or f"{name}.toml"), TOOL.format(name=name) + more)


def skill(folder: Path, slug: str = "fix", name: str = "") -> Path:
    """Write a skill into `folder`/skills."""
    return put(folder / "skills" / slug / "SKILL.md", SKILL.format(name=name or slug))


def rules(folder: Path, lineage: str = "shop-fix", file: str = "shop.toml") -> Path:
    """Write a rules file of one record into `folder`/rules."""
    return put(folder / "rules" / file, RULES.format(name=lineage))


def put(path: Path, data: str | bytes, mode: int = 0o644) -> Path:
    """Write a file, its directories included."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    path.chmod(mode)
    return path


def declared(
    *, tools: tuple[str, ...] = (), skills: tuple[str, ...] = (), records: tuple[str, ...] = ()
) -> str:
    """Return the manifest tables that declare these identities, with the texts used here."""
    lines = [f'[[tools]]\nname = "{name}"\ndescription = "Fixes."\n' for name in tools]
    lines += [f'[[skills]]\nslug = "{name}"\ndescription = "Fixes."\n' for name in skills]
    lines += [f'[[records]]\nlineage = "{name}"\nstatement = "Fix it."\n' for name in records]
    return "".join(lines)


def bundle(
    folder: Path,
    name: str = "bundle",
    *,
    tools: tuple[str, ...] = (),
    skills: tuple[str, ...] = (),
    records: tuple[str, ...] = (),
) -> Path:
    """Write a package that ships what it declares and never runs in a turn."""
    text = declared(tools=tools, skills=skills, records=records)
    put(folder / "plugin.toml", f'name = "{name}"\n{text}')
    for each in tools:
        tool(folder, each)
    for each in skills:
        skill(folder, each)
    for each in records:
        rules(folder, each, f"{each}.toml")
    return folder


def accepted_as_it_stands(here: Places, directory: Path) -> None:
    """Rewrite the record to the bytes that stand there, as no command would."""
    tier = here.tier(Scope.PROJECT)
    [record] = lock.read_records(tier).by_name.values()
    with tree.opened(directory) as root:
        package = tree.installed(root)
    new = msgspec.structs.replace(record, digest=package.digest, files=dict(package.files))
    lock.put(tier, new, mark="x")
