"""The same bytes in every process, for every hash seed and every order of building."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

SCRIPT = """
import sys
from pathlib import Path
from pytest_skillevo.core.canonical import digest_json
from pytest_skillevo.core.records import SPLITS
from pytest_skillevo.families.oracle import oracle, run_script
from pytest_skillevo.families.registry import load_family
from pytest_skillevo.families.scenario import Scenario
from pytest_skillevo.families.tasks import grade, make_task

spec = load_family(Path(sys.argv[1]))
keys = [(split, draw, level) for split in SPLITS for draw in range(2) for level in spec.levels]
if sys.argv[2] == "backwards":
    keys.reverse()
lines = []
for split, draw, level in keys:
    scenario = Scenario(spec, level, split, draw, "standard")
    run = run_script(scenario, oracle)
    task = make_task(scenario)
    log = [entry.to_json() for entry in run.tools.log]
    seen = [task.content, task.prompt, list(task.watched), dict(scenario.files), scenario.artifact(), log]
    lines.append(f"{split} {draw} {level} {digest_json(seen)} {digest_json(grade(scenario, run).trace)}")
print("\\n".join(sorted(lines)))
"""


def test_processes_with_other_hash_seeds_and_orders_give_the_same_bytes():
    outputs = set()
    for seed, order in (("0", "forwards"), ("1", "backwards"), ("4711", "forwards")):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(ROOT / "suites" / "recipe" / "family.py"), order],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=True,
        )
        outputs.add(done.stdout)
    assert len(outputs) == 1
    assert len(outputs.pop().splitlines()) == 36
