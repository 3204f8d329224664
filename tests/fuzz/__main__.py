"""Look for documents that the readers of outside data do not read as a value or a refusal.

`python -m tests.fuzz [--seed N] [--manifests N] [--messages N] [--jobs N]` prints one line per
part and ends with 1 when it found something; the document is then in the file that is named.
The same arguments read the same documents.
"""

import argparse
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from tests.fuzz.parts import Found
from tests.fuzz.parts import share

MIB = 1024 * 1024


def main(words: list[str]) -> int:
    """Run the parts one after another; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--manifests", type=int, default=200_000)
    parser.add_argument("--messages", type=int, default=500_000)
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args(words)
    counts = {"manifests": asked.manifests, "messages": asked.messages}
    return max(part(name, count, asked.seed, asked.jobs) for name, count in counts.items())


def part(name: str, count: int, seed: int, jobs: int) -> int:
    """Run one part in fresh processes and print its line; return 1 when it found something."""
    begun = time.perf_counter()
    shares = [count // jobs + (number < count % jobs) for number in range(jobs)]
    seeds = [f"{name}-{seed}-{number}" for number in range(jobs)]
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        found = list(pool.map(share, [name] * jobs, seeds, shares))
    slowest = max(it.slowest for it in found) * 1000
    early, late = (sum(sizes) // MIB for sizes in zip(*map(_sizes, found), strict=True))
    print(
        f"{name}: {sum(it.read for it in found)} read, "
        f"{sum(it.accepted for it in found)} accepted, slowest {slowest:.1f} ms, "
        f"memory {early} MiB then {late} MiB, {time.perf_counter() - begun:.0f} s"
    )
    for it in found:
        if it.failure:
            print(f"  {it.failure}; the document: {_kept(name, it)}")
    return int(any(it.failure for it in found))


def _sizes(found: Found) -> tuple[int, int]:
    return found.early, found.late


def _kept(name: str, found: Found) -> Path:
    with tempfile.NamedTemporaryFile(prefix=f"fuzz-{name}-", delete=False) as file:
        file.write(found.document or found.slow_document)
    return Path(file.name)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
