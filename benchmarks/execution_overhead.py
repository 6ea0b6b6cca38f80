"""What a rollout costs beside its body: serial, on workers, and side by side in one process.

    python -m benchmarks.execution_overhead [--rounds N] [--report PATH]

Bodies are coroutines that wait 0 or 200 ms. Times are slopes between a small and a large confirmation, so that starting
up does not count. Goal: at 200 ms with 16 rollouts in flight a parallel efficiency of at least 0.9.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.rollout_throughput import CONFTEST, SKILL

SUITE = """
import asyncio
import os
import pytest

pytestmark = pytest.mark.skill("demo")
SPLITS = ["feedback"] * 2 + ["validation"] * 2 + ["holdout"] * {holdout}
WAIT = float(os.environ["WAIT"])

@pytest.mark.parametrize("n", [pytest.param(n, marks=pytest.mark.split(s), id=str(n)) for n, s in enumerate(SPLITS)])
async def test_it(skill, rollout, n):
    if WAIT:
        await asyncio.sleep(WAIT)
    rollout.record(score=1.0 if "tip" in skill.text else 0.5)
"""
#: Name, arguments, rollouts in flight.
WAYS: tuple[tuple[str, list[str], int], ...] = (
    ("serial", [], 1),
    ("-n 2", ["-n2"], 2),
    ("--evolve-concurrency 16", ["--evolve-concurrency=16"], 16),
    ("--evolve-concurrency 32", ["--evolve-concurrency=32"], 32),
    ("-n 2 --evolve-concurrency 8", ["-n2", "--evolve-concurrency=8"], 16),
)
HOLDOUT = 64
#: Seconds that the slow body waits.
WAIT = 0.2
#: Repeats of the small confirmation, and of the large one where bodies do not wait.
FEW, MANY = 1, 11


def run(folder: Path, wait: float, repeats: int, arguments: list[str]) -> tuple[float, int]:
    """Seconds and rollouts of one experiment in a fresh store, without the cache."""
    file = folder / "report.json"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--evolve", "--evolve-model=tip"]
    command += ["--evolve-stages=search,confirm", "--evolve-iterations=1", "--evolve-rollouts=100000"]
    command += [f"--evolve-repeats={repeats}", f"--evolve-report={file.name}", "--evolve-no-cache"]
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as home:
        subprocess.run(
            [*command, "-o", f"skillevo_home={home}", *arguments],
            cwd=folder,
            env={**os.environ, "WAIT": str(wait)},
            check=True,
            stdout=subprocess.DEVNULL,
        )
    spent = time.perf_counter() - start
    counts = json.loads(file.read_text(encoding="utf-8"))["rollouts"]
    return spent, counts["search"] + counts["confirmation"]


def per_rollout(folder: Path, wait: float, flying: int, arguments: list[str], rounds: int) -> float:
    """Median seconds of one more rollout; the large confirmation of waiting bodies lasts about 15 s longer."""
    large = FEW + max(1, flying // 2) if wait else MANY
    slopes = []
    for _ in range(rounds):
        few, many = (run(folder, wait, repeats, arguments) for repeats in (FEW, large))
        slopes.append((many[0] - few[0]) / (many[1] - few[1]))
    return statistics.median(slopes)


def table(rounds: int) -> list[str]:
    """The rows of the report."""
    lines = ["| way | in flight | body 0 ms: ms a rollout | body 200 ms: ms a rollout | efficiency at 200 ms |"]
    lines.append("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "skills" / "demo").mkdir(parents=True)
        (folder / "skills" / "demo" / "SKILL.md").write_text(SKILL, encoding="utf-8")
        (folder / "conftest.py").write_text(CONFTEST, encoding="utf-8")
        (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        (folder / "test_it.py").write_text(SUITE.format(holdout=HOLDOUT), encoding="utf-8")
        for way, arguments, flying in WAYS:
            quick, slow = (per_rollout(folder, wait, flying, arguments, rounds) for wait in (0.0, WAIT))
            lines.append(f"| {way} | {flying} | {quick * 1e3:.2f} | {slow * 1e3:.1f} | {WAIT / flying / slow:.2f} |")
            print(lines[-1], flush=True)
    return lines


def main() -> None:
    """Measure, print, and write the report if asked."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--report", type=Path)
    given = parser.parse_args()
    lines = table(given.rounds)
    if given.report is not None:
        heading = f"""# What a rollout costs beside its body

`python -m benchmarks.execution_overhead --rounds {given.rounds} --report reports/execution-overhead.md`

Python {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the end. Median of
{given.rounds} slopes between a small and a large confirmation over {HOLDOUT} holdout cases, journal on, cache off.
Efficiency: the time that the bodies alone would take, divided by the time they took. On a machine that others use, the
figures of 0 ms are too high and the efficiencies too low.
"""
        given.report.write_text("\n".join([heading, *lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
