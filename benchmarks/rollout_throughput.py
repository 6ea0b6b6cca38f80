"""Rollouts per second against plain pytest's items per second, with the same trivial body.

    python benchmarks/rollout_throughput.py [--rounds N]

Serial, journal on. Both rates are slopes between a small and a large run, so that starting up does not count. Goal: a
ratio of at least 0.7.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HOLDOUT = 200
FEW, MANY = 1, 11

SUITE = """
import pytest

pytestmark = pytest.mark.skill("demo")
SPLITS = ["feedback"] * 4 + ["validation"] * 10 + ["holdout"] * {holdout}

@pytest.mark.parametrize("n", [pytest.param(n, marks=pytest.mark.split(s), id=str(n)) for n, s in enumerate(SPLITS)])
def test_it(skill, rollout, n):
    rollout.record(score=1.0 if "tip" in skill.text else 0.5)
"""

CONFTEST = '''
import json
from pytest_skillevo.core.protocols import Reply
from pytest_skillevo.core.records import NO_USAGE

class Tip:
    """A stand-in for a reflection model: it always adds the same line."""
    name, kind, priced = "tip", "simulated", True
    def complete(self, messages, tools=(), **settings):
        text = messages[-1]["content"]
        component = text.split("<component>")[1].split("</component>")[0].strip()
        answer = {"component": component, "text": "1. Look.\\n2. Use the tip.", "rationale": "tip"}
        return Reply(json.dumps(answer), (), "stop", NO_USAGE)

def pytest_skillevo_chat_model(name, role, config):
    return Tip() if name == "tip" else None
'''

SKILL = """---
name: demo
description: A demo.
---
# Demo

## When to use

Always.

## Steps

1. Look.
2. Answer.
"""


def seconds(folder: Path, *arguments: str) -> float:
    """Wall seconds of one pytest run."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def evolve(folder: Path, repeats: int, seed: int) -> tuple[float, int]:
    """Seconds and rollouts of one experiment."""
    file = folder / "report.json"
    spent = seconds(
        folder,
        "--evolve",
        "--evolve-model=tip",
        "--evolve-stages=search,confirm",
        "--evolve-iterations=1",
        "--evolve-rollouts=100000",
        f"--evolve-repeats={repeats}",
        f"--evolve-seed={seed}",
        f"--evolve-report={file.name}",
    )
    counts = json.loads(file.read_text(encoding="utf-8"))["rollouts"]
    return spent, counts["search"] + counts["confirmation"]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    rollouts, items = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "skills" / "demo").mkdir(parents=True)
        (folder / "skills" / "demo" / "SKILL.md").write_text(SKILL, encoding="utf-8")
        (folder / "conftest.py").write_text(CONFTEST, encoding="utf-8")
        (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        test = folder / "test_it.py"
        for number in range(rounds):
            test.write_text(SUITE.format(holdout=HOLDOUT), encoding="utf-8")
            few, many = evolve(folder, FEW, 2 * number), evolve(folder, MANY, 2 * number + 1)
            rollouts.append((many[1] - few[1]) / (many[0] - few[0]))
            little = seconds(folder)
            test.write_text(SUITE.format(holdout=HOLDOUT + 4000), encoding="utf-8")
            items.append(4000 / (seconds(folder) - little))
    rate, plain = statistics.median(rollouts), statistics.median(items)
    print(f"rollouts per second {rate:,.0f}, plain items per second {plain:,.0f}, ratio {rate / plain:.2f}")


if __name__ == "__main__":
    main()
