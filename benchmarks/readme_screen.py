"""The screen in the README is what the main job prints, to the letter but for ids.

    python benchmarks/readme_screen.py OUTPUT [--write]

OUTPUT is the captured output of the README's first command. Without --write the exit code is 1 when they differ.
"""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"
_BLOCK = re.compile(r"(It ends like this:\n\n```\n)(.*?)(\n```)", re.DOTALL)
_IDS = re.compile(r"\b(rv|ex)-[0-9a-f]{8}\b")


def screen(output: str) -> list[str]:
    """The end screen in the output of the main job: from its title to pytest's closing line, which has a time in it."""
    lines = output.replace("\r\n", "\n").split("\n")
    first = next(number for number, line in enumerate(lines) if re.match(r"=+ .*\(simulated model\) =+$", line))
    last = next(number for number, line in enumerate(lines) if number > first and line.startswith("====="))
    return lines[first:last]


def without_ids(lines: list[str]) -> list[str]:
    """The lines with ids of revisions and experiments, which differ in every run, made equal."""
    return [_IDS.sub(lambda found: found[1] + "-00000000", line) for line in lines]


def main() -> int:
    """Compare or write."""
    parser = argparse.ArgumentParser()
    parser.add_argument("output", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    shown = screen(options.output.read_text(encoding="utf-8"))
    readme = README.read_text(encoding="utf-8")
    block = _BLOCK.search(readme)
    if block is None:
        print("README.md has no block after 'It ends like this:'", file=sys.stderr)
        return 1
    if options.write:
        new = readme[: block.start(2)] + "\n".join(shown) + readme[block.end(2) :]
        README.write_text(new, encoding="utf-8", newline="\n")
        return 0
    written = block[2].split("\n")
    diff = list(difflib.unified_diff(without_ids(written), without_ids(shown), "README.md", "output", lineterm=""))
    print("\n".join(diff) if diff else "the screen in README.md is what the main job printed")
    return 1 if diff else 0


if __name__ == "__main__":
    sys.exit(main())
