"""Hold the coverage bars: all branches of floors 0 to 5, 95 % of the rest.

Usage: bars.py coverage.json. Exits 1 and names every file below its bar.
"""

import json
import sys
from pathlib import Path

PURE = (
    "authority",
    "codec",
    "consent",
    "errors",
    "escape",
    "limits",
    "manifest",
    "content",
    "message",
    "near",
    "redact",
    "strict",
    "turn",
    "verdict",
    "wire",
)
PURE_BAR = 100.0
BAR = 95.0


def main(report: str) -> int:
    """Print each floor's figure and return the exit status."""
    files = json.loads(Path(report).read_text("utf-8"))["files"]
    low = []
    totals = {True: [0, 0], False: [0, 0]}
    for name, entry in sorted(files.items()):
        room = Path(name).parts[2].removesuffix(".py")
        summary = entry["summary"]
        of = summary["num_statements"] + summary["num_branches"]
        hit = summary["covered_lines"] + summary["covered_branches"]
        totals[room in PURE][0] += hit
        totals[room in PURE][1] += of
        if room in PURE and hit < of:
            low.append(f"{name}: {summary['percent_covered']:.1f} % of 100 %")
    for pure, title, bar in ((True, "floors 0 to 5", PURE_BAR), (False, "above", BAR)):
        hit, of = totals[pure]
        share = 100.0 * hit / of if of else 0.0
        print(f"coverage of {title}: {share:.2f} % of lines and branches")
        if share < bar:
            low.append(f"{title}: {share:.2f} % of {bar:g} %")
    for line in low:
        print(f"below the bar: {line}")
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
