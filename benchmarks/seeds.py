"""The verdicts of many seeds on the bundled recipe family, each in a store of its own.

    python benchmarks/seeds.py [--seeds 20] [--jobs 2] [--write reports/recipe-seeds.md]

The agent is the simulated model: the table shows what the machinery decides, and nothing about a language model.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def experiment(seed: int) -> dict[str, Any]:
    """The report of one seed."""
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "report.json"
        options = [f"--evolve-seed={seed}", f"--evolve-report={file}", "-o", f"skillevo_home={name}/store"]
        command = [
            sys.executable,
            "-m",
            "pytest",
            "suites/recipe",
            "--evolve",
            "-q",
            "-p",
            "no:cacheprovider",
            *options,
        ]
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        report: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return report


def row(seed: int, report: dict[str, Any]) -> str:
    """One line of the table."""
    decision, search = report["decision"], report["search"]
    cells = [
        str(seed),
        decision["verdict"],
        decision["rule"],
        f"{search['seed_score']:.3f}",
        f"{search['best_score']:.3f}",
    ]
    if report["confirmation"] is None:
        return "| " + " | ".join([*cells, "", "", "", ""]) + " |"
    holdout = report["confirmation"]["holdout"]
    cells += [
        f"{holdout['mean_before']:.3f}",
        f"{holdout['mean_after']:.3f}",
        f"{holdout['better']} / {holdout['same']} / {holdout['worse']}",
        "" if report["replay"] is None else report["replay"]["status"],
    ]
    return "| " + " | ".join(cells) + " |"


def table(reports: dict[int, dict[str, Any]], command: str) -> str:
    """The whole page as Markdown."""
    verdicts = Counter(report["decision"]["verdict"] for report in reports.values())
    summary = ", ".join(f"{count} {verdict.replace('_', ' ')}" for verdict, count in verdicts.most_common())
    some = next(iter(reports.values()))
    versions = ", ".join(f"{name} {version}" for name, version in some["experiment"]["versions"].items())
    lines = [
        f"# Recipe family, {len(reports)} seeds",
        "",
        "**Simulated model: these numbers test the machinery, they say nothing about a language model.**",
        "",
        f"Made by `{command}` ({versions}; dataset {some['dataset']['fingerprint'][:12]}).",
        "",
        f"Verdicts: {summary}.",
        "",
        "| seed | verdict | rule | seed skill, validation | best, validation | holdout before | holdout after "
        "| better / same / worse | replay |",
        "|---|---|---|---|---|---|---|---|---|",
        *(row(seed, report) for seed, report in sorted(reports.items())),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run all seeds and print or write the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    seeds = range(1, options.seeds + 1)
    with ThreadPoolExecutor(options.jobs) as pool:
        reports = dict(zip(seeds, pool.map(experiment, seeds), strict=True))
    text = table(reports, f"python benchmarks/seeds.py --seeds {options.seeds}")
    if options.write is None:
        print(text, end="")
    else:
        options.write.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
