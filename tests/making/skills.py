"""Skills on a real disk, and packages that carry skills and records with texts of their own."""

from collections.abc import Mapping
from pathlib import Path

import tomli_w

from tests.making.content import put
from tests.making.records import Table
from tests.making.records import rules_file


def skill_file(folder: Path, slug: str, description: str, body: str) -> Path:
    """Write a skill into `folder`/skills."""
    text = f"---\nname: {slug}\ndescription: {description}\n---\n\n{body}\n"
    return put(folder / "skills" / slug / "SKILL.md", text)


def carries(
    folder: Path,
    name: str = "bundle",
    *,
    skills: Mapping[str, tuple[str, str]] | None = None,
    records: Mapping[str, Table] | None = None,
) -> Path:
    """Write a package with these skills (description and body) and records (by lineage)."""
    skills, records = skills or {}, records or {}
    declared = {
        "name": name,
        "skills": [{"slug": slug, "description": words} for slug, (words, _) in skills.items()],
        "records": [
            {"lineage": lineage, "statement": table["statement"]}
            for lineage, table in records.items()
        ],
    }
    put(folder / "plugin.toml", tomli_w.dumps({k: v for k, v in declared.items() if v}))
    for slug, (words, body) in skills.items():
        skill_file(folder, slug, words, body)
    if records:
        put(folder / "rules" / "all.toml", rules_file(*records.values()).decode())
    return folder
