"""Rollouts per second of the simulated agent on m1 recipe cases: `python benchmarks/simulated_rollouts.py`.

One rollout is a whole agent run in one process, from the prompt to the graded artifact.
Goal (spec/simulated.md): 1,000 in under 10 s.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pytest_skillevo.agents import LoopAgent  # noqa: E402
from pytest_skillevo.core.skill import Skill  # noqa: E402
from pytest_skillevo.families.registry import load_behaviour, load_family, tasks  # noqa: E402
from pytest_skillevo.models import resolve_model  # noqa: E402


def main() -> None:
    """Time the rollouts and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rollouts", type=int, default=1000)
    parser.add_argument("--level", default="m1")
    parser.add_argument("--skill", type=Path, default=ROOT / "fixtures" / "skills" / "recipe-cookbook")
    options = parser.parse_args()

    family = load_family(ROOT / "suites" / "recipe" / "family.py")
    behaviour = load_behaviour(family)
    agent = LoopAgent(resolve_model("simulated", behaviours=[behaviour] if behaviour else []))
    cases = [task for task in tasks(family) if task.level == options.level]
    skill = Skill.load(options.skill)

    turns: list[int] = []
    scores: list[float] = []
    start, start_cpu = time.perf_counter(), time.process_time()
    for number in range(options.rollouts):
        task = cases[number % len(cases)]
        run = agent.run(task.prompt, tools=task.tools, skills=[skill], seed=number // len(cases))
        scores.append(task.grade(run).score)
        turns.append(run.turns)
    wall, cpu = time.perf_counter() - start, time.process_time() - start_cpu

    print(
        f"{options.rollouts} rollouts of {options.level} with {options.skill.name}: {wall:.2f} s wall, {cpu:.2f} s CPU"
    )
    print(f"{options.rollouts / wall:.0f} rollouts/s ({1000 * cpu / options.rollouts:.2f} ms CPU each)")
    print(f"{statistics.mean(turns):.1f} turns, strict {statistics.mean(scores):.3f} on average")


if __name__ == "__main__":
    main()
