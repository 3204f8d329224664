"""Real git repositories for tests, made and asked without anybody's configuration."""

import os
import subprocess
from pathlib import Path

PATH = "/usr/local/bin:/usr/bin:/bin"
NAMED = {
    "PATH": PATH,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    **dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"), "somebody"),
    **dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "somebody@example.org"),
}


def git(place: Path, *words: str) -> str:
    """Run git in `place` and return its output; it must succeed."""
    done = subprocess.run(
        ["git", *words], cwd=place, env=NAMED, check=True, capture_output=True, text=True
    )
    return done.stdout


def repository(place: Path, files: dict[str, str], *, ignored: str = "") -> Path:
    """Make a repository that tracks `files` and ignores what `ignored` says."""
    place.mkdir(parents=True, exist_ok=True)
    git(place, "init", "--quiet")
    for name, text in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    if ignored:
        (place / ".gitignore").write_text(ignored)
    git(place, "add", "--all")
    git(place, "commit", "--quiet", "--allow-empty", "--message", "first")
    return place
