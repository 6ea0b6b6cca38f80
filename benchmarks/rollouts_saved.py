"""Rollouts that the search need not make, on the bundled recipe family.

    python -m benchmarks.rollouts_saved [--seeds 2] [--write reports/rollouts-saved.md]

Only tricks that change no result are counted: a minibatch that ends when its verdict is certain, a perfect minibatch
for which nothing is proposed, a proposal that is known, and answers of an earlier search (a second search with more
iterations in the same store). SKILLEVO_SCALE=full takes 6 seeds.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from pytest_skillevo.report.lineage import read_lineage
from pytest_skillevo.store import Store

ROOT = Path(__file__).parents[1]
FIRST, SECOND = 30, 40


def search(seed: int, iterations: int, folder: Path) -> dict[str, Any]:
    """The report of one search."""
    file = folder / "report.json"
    options = [f"--evolve-seed={seed}", f"--evolve-iterations={iterations}", f"--evolve-report={file}"]
    home = ["-o", f"skillevo_home={folder / 'store'}"]
    command = [sys.executable, "-m", "pytest", "suites/recipe", "--evolve", "--evolve-stages=search", "-q"]
    subprocess.run(
        [*command, "-p", "no:cacheprovider", *options, *home], cwd=ROOT, check=True, stdout=subprocess.DEVNULL
    )
    report: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return report


def saved(folder: Path) -> Counter[str]:
    """Rollouts saved in the latest search of a store, by trick, and those that were asked for."""
    counts: Counter[str] = Counter()
    with Store.open(folder / "store") as store:
        experiment = store.experiments()[0].id
        children: Counter[int] = Counter()
        for entry in store.entries(experiment):
            if entry.kind != "rollout":
                continue
            counts["asked"] += 1
            counts["from an earlier search"] += bool(entry.payload.get("cached"))
            if "/child/" in entry.key:
                children[int(entry.key.split("/")[1].removeprefix("it"))] += 1
        for event in read_lineage(store, experiment).events:
            size = len(event.minibatch)
            if event.kind == "minibatch_perfect":
                counts["perfect minibatch"] += size
            elif event.kind == "candidate_duplicate":
                counts["known proposal"] += size
            elif children[event.iteration]:
                counts["certain verdict"] += size - children[event.iteration]
    return counts


def main() -> None:
    """Run, then print or write."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=6 if os.environ.get("SKILLEVO_SCALE") == "full" else 2)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    tricks = ("certain verdict", "perfect minibatch", "known proposal", "from an earlier search")
    lines = [
        "# Rollouts saved without changing a result",
        "",
        "**Simulated model: these numbers test the machinery, they say nothing about a language model.**",
        "",
        f"Made by `python -m benchmarks.rollouts_saved --seeds {options.seeds}`: recipe family, search only. The first "
        f"line of a seed is a search of {FIRST} iterations, the second one of {SECOND} in the same store.",
        "",
        f"| seed | iterations | rollouts of the search | {' | '.join(tricks)} | really run |",
        f"|---|---|---|{'---|' * len(tricks)}---|",
    ]
    for seed in range(1, options.seeds + 1):
        with tempfile.TemporaryDirectory() as name:
            for iterations in (FIRST, SECOND):
                search(seed, iterations, Path(name))
                counts = saved(Path(name))
                cells = [str(seed), str(iterations), str(counts["asked"]), *(str(counts[trick]) for trick in tricks)]
                lines.append(f"| {' | '.join([*cells, str(counts['asked'] - counts['from an earlier search'])])} |")
    lines += [
        "",
        "The first three columns of savings come on top of the rollouts of the search; the last is a part of them.",
    ]
    text = "\n".join(lines) + "\n"
    if options.write is None:
        print(text, end="")
    else:
        options.write.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
