"""Digests of all that a family makes, so that processes can be compared: `python -m ...digests FOLDER NAME ORDER`."""

from __future__ import annotations

import sys
from pathlib import Path

from ...core.canonical import digest_json
from ...core.records import SPLITS
from ..oracle import oracle, run_script
from ..registry import find_family
from ..scenario import Scenario
from ..spec import FamilySpec
from ..tasks import grade, make_task


def digest_lines(spec: FamilySpec, order: str) -> list[str]:
    """One sorted line for each task: split, draw, level, digest of what is seen and done, digest of the evaluation."""
    keys = [(split, draw, level) for split in SPLITS for draw in range(2) for level in spec.levels]
    if order == "backwards":
        keys.reverse()
    lines = []
    for split, draw, level in keys:
        scenario = Scenario(spec, level, split, draw, "standard")
        run = run_script(scenario, oracle)
        task = make_task(scenario)
        log = [entry.to_json() for entry in run.tools.log]
        seen = [task.content, task.prompt, list(task.watched), dict(scenario.files), scenario.artifact(), log]
        lines.append(f"{split} {draw} {level} {digest_json(seen)} {digest_json(grade(scenario, run).trace)}")
    return sorted(lines)


if __name__ == "__main__":
    folder, name, order = sys.argv[1:]
    print("\n".join(digest_lines(find_family(name, Path(folder)), order)))  # noqa: T201
