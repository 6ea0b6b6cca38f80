"""Search quality at equal rollouts against gepa, on four landscapes with one noisy proposer.

    python -m benchmarks.gepa_search_quality [--runs 30] [--first 1] [--write reports/gepa-search-quality.md]

Small scale by default (6 runs); SKILLEVO_SCALE=full runs all 30. `--first` is the number of the first world. What an
engine finds after the budget does not count.
Both engines run in one process, one after the other, with their default policies.
"""

from __future__ import annotations

import argparse
import os
import statistics
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

from benchmarks.gepa_landscapes import (
    COMPONENTS,
    FEEDBACK_CASES,
    LANDSCAPES,
    MINIBATCH,
    ROLLOUTS,
    RUNS,
    VALIDATION_CASES,
    Evaluator,
    Landscape,
    Proposer,
    genes_of,
    seed_components,
)
from benchmarks.gepa_peers import GEPA_VERSION, Found, gepa_search, our_engine, our_search
from pytest_skillevo.core.draws import draw_int

ENGINES = ("ours", "gepa")
GOAL = 0.95
RESAMPLES = 2000
FEEDBACK = tuple(f"f-{n}" for n in range(FEEDBACK_CASES))
VALIDATION = tuple(f"v-{n}" for n in range(VALIDATION_CASES))


class Outcome(NamedTuple):
    """What one search reached."""

    #: True score of the candidate with the best validation mean.
    final: float
    #: Rollouts until the true score of the best so far passed GOAL; the budget when it never did.
    reached: int
    pool: int


def outcome(landscape: Landscape, world: int, found: Sequence[Found]) -> Outcome:
    """The outcome of a search from what it found, in the order of discovery."""
    best, final, reached = -1.0, 0.0, ROLLOUTS
    counted = [one for one in found if one.rollouts <= ROLLOUTS]
    for one in counted:
        if one.mean > best:
            best = one.mean
            final = landscape.truth(world, genes_of(one.components))
        if final >= GOAL:
            reached = min(reached, one.rollouts)
    return Outcome(final, reached, len(counted))


def run(task: tuple[int, int]) -> dict[str, Outcome]:
    """Both engines in one world of one landscape."""
    landscape, world = LANDSCAPES[task[0]], task[1]
    seed = {name: seed_components()[name] for name in COMPONENTS}
    engine = our_engine(seed, FEEDBACK, VALIDATION, seed=world, minibatch=MINIBATCH, max_rollouts=ROLLOUTS)
    ours = our_search(engine, Evaluator(landscape, world), Proposer(world, world))
    theirs = gepa_search(
        seed,
        FEEDBACK,
        VALIDATION,
        Evaluator(landscape, world),
        Proposer(world, world),
        seed=world,
        reflection_minibatch_size=MINIBATCH,
        max_metric_calls=ROLLOUTS,
    )
    return {"ours": outcome(landscape, world, ours), "gepa": outcome(landscape, world, theirs)}


def interval(values: Sequence[float]) -> tuple[float, float]:
    """A 95 % bootstrap interval of the mean."""
    means = sorted(
        statistics.fmean(values[draw_int(len(values), "bootstrap", n, i)] for i in range(len(values)))
        for n in range(RESAMPLES)
    )
    return means[int(RESAMPLES * 0.025)], means[int(RESAMPLES * 0.975) - 1]


def shown(values: Sequence[float], digits: int) -> str:
    """Mean and interval."""
    low, high = interval(values)
    return f"{statistics.fmean(values):.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def table(results: dict[str, list[dict[str, Outcome]]], command: str) -> str:
    """The page as Markdown."""
    count = len(next(iter(results.values())))
    lines = [
        "# Search quality against gepa at equal rollouts",
        "",
        f"Made by `{command}`: {count} searches per landscape and engine, {ROLLOUTS} rollouts each, minibatch "
        f"{MINIBATCH}, {FEEDBACK_CASES} feedback and {VALIDATION_CASES} validation cases, gepa {GEPA_VERSION}, default "
        "policies of both, same evaluator and proposer. Landscapes, proposer and sizes were committed before the "
        "first run (benchmarks/gepa_landscapes.py). Means with 95 % bootstrap intervals, differences paired by world.",
        "",
        "| landscape | true score, ours | true score, gepa | difference | rollouts to 95 %, ours | gepa | difference |",
        "|---|---|---|---|---|---|---|",
    ]
    total = []
    for name, runs in results.items():
        final = {engine: [one[engine].final for one in runs] for engine in ENGINES}
        reached = {engine: [float(one[engine].reached) for one in runs] for engine in ENGINES}
        gain = [a - b for a, b in zip(final["ours"], final["gepa"], strict=True)]
        sooner = [a - b for a, b in zip(reached["ours"], reached["gepa"], strict=True)]
        total += gain
        cells = [shown(final["ours"], 3), shown(final["gepa"], 3), shown(gain, 3)]
        cells += [shown(reached["ours"], 0), shown(reached["gepa"], 0), shown(sooner, 0)]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    lines += ["", f"Difference over all landscapes: {shown(total, 4)}. {verdict(results)}", ""]
    pools = {engine: max(one[engine].pool for runs in results.values() for one in runs) for engine in ENGINES}
    lines.append(f"Largest pools: ours {pools['ours']}, gepa {pools['gepa']}. A search that never passed 95 % of the")
    lines.append(f"optimum counts with its whole budget of {ROLLOUTS}.")
    return "\n".join(lines) + "\n"


def verdict(results: dict[str, list[dict[str, Outcome]]]) -> str:
    """Wins and losses in words, by whether the interval of the difference leaves 0 out."""
    words = []
    for name, runs in results.items():
        low, high = interval([one["ours"].final - one["gepa"].final for one in runs])
        words.append(f"{name}: {'better' if low > 0 else 'WORSE' if high < 0 else 'no clear difference'}")
    return "By the true score: " + "; ".join(words) + "."


def main() -> None:
    """Run, then print or write the page."""
    full = os.environ.get("SKILLEVO_SCALE") == "full"
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=RUNS if full else 6)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    worlds = range(options.first, options.first + options.runs)
    tasks = [(place, world) for place in range(len(LANDSCAPES)) for world in worlds]
    with ProcessPoolExecutor(options.jobs) as pool:
        outcomes = dict(zip(tasks, pool.map(run, tasks), strict=True))
    results = {
        landscape.name: [outcomes[place, world] for world in worlds] for place, landscape in enumerate(LANDSCAPES)
    }
    text = table(results, f"python -m benchmarks.gepa_search_quality --runs {options.runs} --first {options.first}")
    if options.write is None:
        print(text, end="")
    else:
        options.write.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
