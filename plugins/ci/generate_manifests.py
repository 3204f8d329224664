"""Write the manifest of the plugin `verify` in each language from the one template beside this.

    generate_manifests.py [--check] [--plugins DIR]

The template is `verify.plugin.toml`; its `${argv}` is what a language needs to be started, and
nothing else may differ. With `--check` nothing is written: exit 1 with the difference when a
manifest is not what the template makes of it. Standard library only.
"""

import argparse
import difflib
import json
import sys
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
TEMPLATE = HERE / "verify.plugin.toml"
PLACEHOLDER = "${argv}"
ARGV: Mapping[str, tuple[str, ...]] = {
    "verify-py": ("python3", "${plugin_dir}/main.py"),
    "verify-ts": ("node", "${plugin_dir}/dist/main.js"),
    "verify-rs": ("${plugin_dir}/bin/verify",),
}
"""The directory of each language's plugin, and the words that start it."""


def made() -> dict[str, bytes]:
    """Return each manifest, by the name of its directory.

    Raises `ValueError` when the template has not exactly one placeholder.
    """
    template = TEMPLATE.read_text("utf-8")
    if template.count(PLACEHOLDER) != 1:
        raise ValueError(
            f"{TEMPLATE}: expected {PLACEHOLDER} once, found {template.count(PLACEHOLDER)}"
        )
    # JSON's form of a list of such words is TOML's too.
    return {
        name: template.replace(PLACEHOLDER, json.dumps(argv)).encode()
        for name, argv in ARGV.items()
    }


def differences(plugins: Path) -> Iterator[str]:
    """Yield how the manifests in `plugins` differ from what the template makes."""
    for name, wanted in made().items():
        path = plugins / name / "plugin.toml"
        found = path.read_bytes() if path.is_file() else b""
        if found != wanted:
            yield f"{path} is not what {TEMPLATE.name} makes; run generate_manifests.py"
            ours, theirs = (
                data.decode("utf-8", "replace").splitlines() for data in (wanted, found)
            )
            yield from difflib.unified_diff(ours, theirs, "made", "found", lineterm="", n=0)


def main(words: Sequence[str]) -> int:
    """Write or compare, and return the exit status."""
    parser = argparse.ArgumentParser(prog="generate_manifests.py")
    parser.add_argument("--check", action="store_true", help="compare and write nothing")
    parser.add_argument("--plugins", type=Path, default=HERE.parent, metavar="DIR")
    options = parser.parse_args(words)
    if not options.check:
        for name, data in made().items():
            (options.plugins / name / "plugin.toml").write_bytes(data)
        return 0
    found = list(differences(options.plugins))
    print("\n".join(found or [f"{len(ARGV)} manifests are what the template makes"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
