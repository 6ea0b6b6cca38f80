"""Artifacts per second of the official score, over all 126 public task-levels: `python benchmarks/official_scoring.py`.

The artifacts are those of the conformance vectors; an artifact is scored from its text, reading the JSON included.
Goal: more than 2,000 a second.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from pathlib import Path

from pytest_skillevo.families.official import LEVELS, public_families, public_task, score_official

VECTORS = Path(__file__).parents[1] / "tests" / "data" / "skillcraft_vectors.json"


def artifacts() -> dict[tuple[str, str], list[str]]:
    """The artifacts that are whole or nearly so, by task-level: the slowest to score."""
    by_task = defaultdict(list)
    for vector in json.loads(VECTORS.read_text(encoding="utf-8"))["vectors"]:
        if vector["artifact"] and vector["expect"].get("percent", 0) >= 70:
            by_task[vector["family"], vector["level"]].append(vector["artifact"])
    return by_task


def main() -> None:
    """Time rounds over the 126 task-levels and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=100)
    options = parser.parse_args()

    texts = artifacts()
    tasks = [public_task(family, level) for family in public_families() for level in LEVELS]
    size = passed = scored = 0
    start, start_cpu = time.perf_counter(), time.process_time()
    for number in range(options.rounds):
        for task in tasks:
            choice = texts[task.family, task.level]
            text = choice[number % len(choice)]
            passed += score_official(task.rules, text, task.expected).passed70
            size += len(text)
            scored += 1
    wall, cpu = time.perf_counter() - start, time.process_time() - start_cpu

    print(f"{scored} artifacts of {len(tasks)} task-levels, {size / scored:.0f} characters on average")
    print(
        f"{wall:.2f} s wall, {cpu:.2f} s CPU: {scored / wall:,.0f} artifacts/s ({1e6 * cpu / scored:.0f} us CPU each)"
    )
    print(f"{passed} passed at 70")


if __name__ == "__main__":
    main()
