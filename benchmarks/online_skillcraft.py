"""The online experiment of the public study: baseline against evolution, a family's six levels, three rounds.

    python benchmarks/online_skillcraft.py [--model NAME] [--seed 701] [--write reports/online-skillcraft.md]

Runs `pytest benchmarks/skillcraft --evolve-online` in a store of its own, over the families that are under suites/, and
sets the study's published figures (spec/suites.md 2.8) beside what came out.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import mean, median
from typing import Any, TypeAlias

from pytest_skillevo.core.stats import geometric_ratio

ROOT = Path(__file__).parents[1]
#: A run over this many times the median of its family and level is a runaway.
RUNAWAY = 5
#: Change of tokens and of pass rate as published, by family; None was not published.
PUBLISHED = {
    "weather": ("-7.0 %", None),
    "economy": ("-9.6 %", None),
    "recipe": ("+7.3 %", None),
    "cats": ("-53.5 %", "+16.7 points, load rate 0 %"),
    "creatures": (None, None),
}
Run: TypeAlias = Mapping[str, Any]


class Pairs:
    """Tasks that both groups ran, each as (baseline, evolution)."""

    def __init__(self, runs: Sequence[tuple[Run, Run]], limits: Mapping[tuple[str, str], float]) -> None:
        self.runs = runs
        self.limits = limits

    def only(self, wanted: Callable[[Run], bool]) -> Pairs:
        """Those whose task is wanted."""
        return Pairs([pair for pair in self.runs if wanted(pair[0])], self.limits)

    def share(self, value: Callable[[Run], float]) -> tuple[float, float]:
        """The mean of a value in both groups."""
        before, after = (mean(value(pair[side]["run"]) for pair in self.runs) for side in (0, 1))
        return before, after

    def runaway(self, task: Run) -> bool:
        """Whether a run used far more than others of its family and level."""
        return bool(task["run"]["tokens"] > RUNAWAY * self.limits[task["family"], task["level"]])

    @property
    def runaways(self) -> tuple[int, int]:
        """Runaway runs of both groups."""
        before, after = (sum(self.runaway(pair[side]) for pair in self.runs) for side in (0, 1))
        return before, after

    @property
    def steady(self) -> Pairs:
        """Without the pairs in which a run ran away."""
        return Pairs([pair for pair in self.runs if not any(map(self.runaway, pair))], self.limits)

    @property
    def ratio(self) -> str:
        """Geometric ratio of end-to-end tokens, evolution to baseline, with its interval."""
        before, after = ([pair[side]["run"]["tokens"] for pair in self.runs] for side in (0, 1))
        found = geometric_ratio(before, after)
        if found is None:
            return "unknown"
        interval = "" if found.interval is None else f" [{found.interval[0]:.2f}, {found.interval[1]:.2f}]"
        return f"{found.ratio:.2f}{interval}"


def paired(tasks: Sequence[Run]) -> Pairs:
    """The pairs of a run. A task that one group could not run is left out in both; unknown tokens are refused."""
    ran = [task for task in tasks if task["run"]["score"] is not None]
    if any(task["run"]["tokens"] is None for task in ran):
        sys.exit("a run has no token figures, so nothing can be said about cost")
    by_place: dict[tuple[int, str], dict[str, Run]] = {}
    amounts: dict[tuple[str, str], list[int]] = {}
    for task in ran:
        by_place.setdefault((task["round"], task["case"]), {})[task["group"]] = task
        amounts.setdefault((task["family"], task["level"]), []).append(task["run"]["tokens"])
    both = [(found["baseline"], found["evolution"]) for found in by_place.values() if len(found) == 2]
    return Pairs(both, {key: median(values) for key, values in amounts.items()})


def row(name: str, pairs: Pairs, *more: str) -> str:
    """One line of the tables by family and by round."""
    passed, quality = pairs.share(_objective("passed70")), pairs.share(_objective("official"))
    strict, tokens = pairs.share(lambda run: run["score"]), pairs.share(lambda run: run["tokens"])
    cells = [
        name,
        str(len(pairs.runs)),
        f"{passed[0]:.1%} → {passed[1]:.1%}",
        f"{100 * quality[0]:.2f} → {100 * quality[1]:.2f}",
        f"{strict[0]:.3f} → {strict[1]:.3f}",
        f"{tokens[0]:,.0f} → {tokens[1]:,.0f}",
        change(*tokens),
        pairs.ratio,
        "{} → {}".format(*pairs.runaways),
        f"{pairs.share(lambda run: run['loaded'])[1]:.1%}",
        str(sum(pair[1]["run"]["updated"] for pair in pairs.runs)),
        *more,
    ]
    return "| " + " | ".join(cells) + " |"


def _objective(name: str) -> Callable[[Run], float]:
    return lambda run: float(run["objectives"][name])


def _is(key: str, value: Any) -> Callable[[Run], bool]:
    return lambda task: bool(task[key] == value)


def change(before: float, after: float) -> str:
    """How much more or less, in percent."""
    return f"{100 * (after / before - 1):+.1f} %"


def report(figures: Mapping[str, Any], command: str, behind: str) -> str:
    """The report as Markdown."""
    tasks = figures["tasks"]
    pairs = paired(tasks)
    families = [name for name in PUBLISHED if any(task["family"] == name for task in tasks)]
    missing = [name for name in PUBLISHED if name not in families]
    simulated = figures["model"]["kind"] == "simulated"
    model = figures["model"]["name"]
    first = f"**Our figures were made with the model {model}"
    first += ": they show that the machinery works; they are no result of a language model.**" if simulated else ".**"
    tokens, passed = pairs.share(lambda run: run["tokens"]), pairs.share(_objective("passed70"))
    hard, quality = pairs.share(_objective("passed90")), pairs.share(_objective("official"))
    strict = pairs.share(lambda run: run["passed"] is True)
    reviewer = mean(pair[1]["run"]["reviewer_tokens"] for pair in pairs.runs)
    load = pairs.share(lambda run: run["loaded"])[1]
    steady = pairs.steady.share(lambda run: run["tokens"])
    per_group = len(tasks) // 2
    return TEXT.format(
        first=first,
        command=command,
        behind=behind,
        families=", ".join(families) + (f" (not there: {', '.join(missing)})" if missing else " (all five)"),
        per_group=per_group,
        rounds=figures["rounds"],
        left_out=per_group - len(pairs.runs),
        passed=f"{passed[0]:.2%} → {passed[1]:.2%}",
        hard=f"{hard[0]:.2%} → {hard[1]:.2%}",
        strict=f"{strict[0]:.2%} → {strict[1]:.2%}",
        quality=f"{100 * quality[0]:.2f} → {100 * quality[1]:.2f}",
        tokens=f"{tokens[0]:,.0f} → {tokens[1]:,.0f} ({change(*tokens)})",
        sums=f"{sum(pair[0]['run']['tokens'] for pair in pairs.runs):,} → "
        f"{sum(pair[1]['run']['tokens'] for pair in pairs.runs):,}",
        reviewer=f"{reviewer:,.0f}",
        ratio=pairs.ratio,
        runaways="{} → {}".format(*pairs.runaways),
        runaway=RUNAWAY,
        steady=f"{steady[0]:,.0f} → {steady[1]:,.0f} ({change(*steady)})",
        load=f"{load:.1%}",
        by_family="\n".join(_family_row(name, pairs) for name in families),
        by_round="\n".join(
            row(str(number), pairs.only(_is("round", number))) for number in range(1, figures["rounds"] + 1)
        ),
    )


def _family_row(name: str, pairs: Pairs) -> str:
    tokens, passed = PUBLISHED[name]
    told = " and ".join(part for part in (tokens and f"tokens {tokens}", passed) if part) or "not published"
    return row(name, pairs.only(_is("family", name)), told)


COLUMNS = (
    "tasks | passed (70) | official quality | strict score | tokens a task | change | geometric ratio | runaways | "
    "loaded | skill changed after"
)
RULES = "|".join(["---"] * 11)

TEXT = f"""\
# The online experiment of the public study

{{first}}

    {{command}}

which runs

    {{behind}}

Families that were run: {{families}}.

Each group had {{per_group}} tasks: one of each level of each family in each of {{rounds}} rounds, easy levels first;
{{left_out}} pairs did not run. `baseline` has no skill and no Reviewer. `evolution` begins every round with the study's
set-up of seed skills (seven for weather, recipe and economy, none for the others) and has the Reviewer after each task;
what it changes in the family's first skill is used at once in the next task. No gate and no person stands between.
Both groups of a round have the same tasks and seeds. Tasks are the families' feedback cases. Tokens are
end to end: the agent's and the Reviewer's. A difference between the groups is the work of seed skills and learning
together; only cats and creatures show learning alone.

## Both groups

The study: an early online report with gpt-4o-mini (90 tasks a group, one run) and a late operational one with GLM-5.2
(three arms of 90: without skills, evolution, optimized). Payloads, models and tasks differ, so the columns show the
same measures and cannot be compared as numbers.

| measure | ours | study, gpt-4o-mini | study, GLM-5.2 |
|---|---|---|---|
| passed, official score of 70 | {{passed}} | 84.44 % → 87.78 % | 97.78 / 97.78 / 98.89 % |
| passed, official score of 90 | {{hard}} | not published | not published |
| passed, strict | {{strict}} | no such score | no such score |
| official quality | {{quality}} | not published | 95.98 / 95.96 / 97.21 |
| tokens a task, end to end | {{tokens}} | 272,653 → 183,435 (-32.7 %) | 305,240 / 352,971 / 362,368 |
| sum of tokens | {{sums}} | not published | not published |
| of it the Reviewer, a task | {{reviewer}} | not published | 0 / 15,683 / 15,390 |
| geometric ratio of tokens, with its interval | {{ratio}} | not published | not published |
| runaways, over {{runaway}} x the median of family and level | {{runaways}} | one is told (1.34 M) | not published |
| tokens a task without runaway pairs | {{steady}} | not published | not published |
| tasks that loaded a skill | {{load}} | 74.4 % | not published |

## By family (baseline → evolution)

| family | {COLUMNS} | study, gpt-4o-mini |
|{RULES}|---|
{{by_family}}

## By round

The study's evolution was 3.3 points below its baseline in round two.

| round | {COLUMNS} |
|{RULES}|
{{by_round}}
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the experiment and print or write the report."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="simulated")
    parser.add_argument("--seed", type=int, default=701)
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args(argv)
    model = [] if arguments.model == "simulated" else ["--evolve-model", arguments.model]
    given = ["benchmarks/skillcraft", "--evolve-online", "--evolve-seed", str(arguments.seed), *model]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "online.json"
        places = ["--evolve-report", str(file), "-o", f"skillevo_home={folder}/store"]
        done = subprocess.run([sys.executable, "-m", "pytest", *given, *places], cwd=ROOT, check=False)
        if done.returncode:
            return done.returncode
        figures = json.loads(file.read_text(encoding="utf-8"))
    command = f"python benchmarks/online_skillcraft.py --model {arguments.model} --seed {arguments.seed}"
    text = report(figures, command, " ".join(["pytest", *given]))
    if arguments.write:
        arguments.write.write_text(text, encoding="utf-8", newline="\n")
    else:
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
