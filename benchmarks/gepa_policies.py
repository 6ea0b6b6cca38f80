"""Our other policies on the landscapes of the comparison with gepa, beside the default.

python -m benchmarks.gepa_policies [--runs 12] [--first 61] [--write reports/gepa-policies.md]
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, Final

from benchmarks.gepa_landscapes import COMPONENTS, LANDSCAPES, MINIBATCH, ROLLOUTS, Evaluator, Proposer, seed_components
from benchmarks.gepa_peers import our_engine, our_search
from benchmarks.gepa_search_quality import FEEDBACK, VALIDATION, Outcome, outcome
from pytest_skillevo.core.gepa import named_strategy

#: Name -> names of policies by kind, and further settings.
VARIANTS: Final[Mapping[str, tuple[Mapping[str, str], Mapping[str, Any]]]] = {
    "default": ({}, {}),
    "parent reference": ({"parent": "reference"}, {}),
    "parent top-k": ({"parent": "top-k"}, {}),
    "parent current-best": ({"parent": "current-best"}, {}),
    "parent current-best, validation bound": ({"parent": "current-best", "validation": "bound"}, {}),
    "sampler independent": ({"sampler": "independent"}, {}),
    "sampler hardest": ({"sampler": "hardest"}, {}),
    "component blamed": ({"component": "blamed"}, {}),
    "acceptance or-equal": ({"acceptance": "or-equal"}, {}),
    "10 merges": ({}, {"merges": 10}),
    "width 4": ({}, {"width": 4}),
}


def run(task: tuple[str, int, int]) -> Outcome:
    """One search of ours."""
    name, place, world = task
    names, settings = VARIANTS[name]
    seed = {component: seed_components()[component] for component in COMPONENTS}
    fixed = {"seed": world, "minibatch": MINIBATCH, "max_rollouts": ROLLOUTS}
    engine = our_engine(seed, FEEDBACK, VALIDATION, strategy=named_strategy(names), **fixed, **settings)
    landscape = LANDSCAPES[place]
    return outcome(landscape, world, our_search(engine, Evaluator(landscape, world), Proposer(world, world)))


def main() -> None:
    """Run, then print or write."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=12)
    parser.add_argument("--first", type=int, default=61)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    worlds = range(options.first, options.first + options.runs)
    places = range(len(LANDSCAPES))
    tasks = [(name, place, world) for name in VARIANTS for place in places for world in worlds]
    with ProcessPoolExecutor(options.jobs) as pool:
        found = dict(zip(tasks, pool.map(run, tasks), strict=True))
    lines = [
        "# Our policies on the landscapes",
        "",
        f"Made by `python -m benchmarks.gepa_policies --runs {options.runs} --first {options.first}`: true score of "
        f"the best candidate after {ROLLOUTS} rollouts, mean of {options.runs} worlds. Few worlds: read differences "
        "below 0.03 as chance.",
        "",
        f"| policy | {' | '.join(landscape.name for landscape in LANDSCAPES)} | mean |",
        f"|---|{'---|' * (len(LANDSCAPES) + 1)}",
    ]
    for name in VARIANTS:
        means = [statistics.fmean(found[name, place, world].final for world in worlds) for place in places]
        lines.append(f"| {name} | {' | '.join(f'{mean:.3f}' for mean in [*means, statistics.fmean(means)])} |")
    text = "\n".join(lines) + "\n"
    if options.write is None:
        print(text, end="")
    else:
        options.write.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
