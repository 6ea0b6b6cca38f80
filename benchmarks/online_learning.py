"""A stream of tasks that begins without any skill and learns one: with the loop, without it, and with a bad Reviewer.

    python benchmarks/online_learning.py [--tasks 36] [--seeds 3] [--write reports/online-learning.md]

Each task of a family's feedback draws is run by the built-in agent, its conversation and its score go to the learning
service, proposals meet the gates, what the gates park is measured on the validation tasks, and a rule stands in for the
person: it approves what is better there, or in the arm `cost` what is cheaper and not worse. Later tasks use what was
published. What counts in the end are the holdout tasks, which nobody learned from and nothing was decided on. All
models are simulated: the figures show the machinery, not a language model.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from pytest_skillevo import LearningJob, LearningService, Session, Skill, Task, TaskOutcome
from pytest_skillevo.agents import LoopAgent
from pytest_skillevo.core.draws import seed_of
from pytest_skillevo.core.judging import standard_gates
from pytest_skillevo.core.review.reviewer import Reviewer
from pytest_skillevo.core.revisions import Revision, Status
from pytest_skillevo.families.registry import behaviours, find_family, tasks
from pytest_skillevo.learning import Settings
from pytest_skillevo.learning.metrics import STAGES, status
from pytest_skillevo.models.simulated import EditMix, SimulatedModel
from pytest_skillevo.store import Repository, Store

ROOT = Path(__file__).parents[1]
FAMILIES = ("recipe", "weather", "cats", "economy", "creatures")
PERSON = "benchmark"
#: Edits of the Reviewer: as documented; harmful rules only; vague ones only.
MIXES = {
    "quality": EditMix(),
    "cost": EditMix(),
    "harmful": EditMix(0, 0, 0, 0, 1, 0),
    "vague": EditMix(0, 1, 0, 0, 0, 0),
}
ARMS = ("without", *MIXES)


@dataclass(frozen=True, slots=True)
class Figures:
    """Means over tasks."""

    score: float
    tokens: float

    @classmethod
    def of(cls, runs: Sequence[tuple[float, int]]) -> Figures:
        """The means of scores and tokens."""
        return cls(mean(score for score, _ in runs), mean(tokens for _, tokens in runs))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one stream led to."""

    first: Figures
    last: Figures
    holdout: Figures
    stages: dict[str, int]
    decided: dict[str, int]
    reviewer_tokens: int
    skills: tuple[Skill, ...]


class Stream:
    """One family, one arm, one seed, in a store of its own."""

    def __init__(self, family: str, arm: str, seed: int, folder: Path) -> None:
        place = ROOT / "suites" / family
        self.family, self.arm, self.seed = family, arm, seed
        self.spec = find_family(family, place)
        self.agent = LoopAgent(SimulatedModel(behaviours(place)))
        self.store = Store.open(folder / "store", skills=folder / "skills", gates=standard_gates())
        self.repository = Repository(folder / "skills")
        reviewer = Reviewer(SimulatedModel(mix=MIXES.get(arm)))
        self.service = LearningService(self.store, reviewer, Settings(timeout=60))
        self.decided = {"approved": 0, "turned down": 0}
        self.known: dict[tuple[str, ...], Figures] = {}

    def run(self, count: int) -> Outcome:
        """Run the whole stream and then the holdout tasks."""
        pool = tasks(self.spec, split="feedback")
        runs = []
        for number in range(count):
            task = pool[number % len(pool)]
            runs.append(self.task(task, number))
            if self.arm != "without":
                self.service.drain()
                self.decide()
        window = max(1, count // 4)
        told = status(self.store)
        skills = self.repository.library().skills
        holdout = self.measured(tasks(self.spec, split="holdout"), skills, "holdout")
        self.service.close()
        self.store.close()
        tokens = told["counts"].get("reviewer_tokens", 0)
        return Outcome(
            Figures.of(runs[:window]), Figures.of(runs[-window:]), holdout, told["stages"], self.decided, tokens, skills
        )

    def task(self, task: Task, number: int) -> tuple[float, int]:
        """One task with what is published now; its session is handed in."""
        skills = self.repository.library().skills
        run = self.agent.run(task.prompt, tools=task.tools, skills=skills, seed=seed_of(self.seed, "task", number))
        evaluation = task.grade(run)
        assert run.usage.tokens is not None
        if self.arm != "without":
            digests = {skill.name: skill.digest for skill in skills}
            loaded = {name: digests[name] for name in run.skills_loaded}
            session = Session.of(f"{task.id}-{number}", run.messages, app="benchmark", skills=loaded)
            passed = {True: "success", False: "partial", None: ""}[evaluation.passed]
            outcome = TaskOutcome(passed, evaluation.score, evaluation.feedback, "family", run.usage.tokens)
            receipt = self.service.enqueue(LearningJob(session, outcome, kind=self.family))
            assert receipt.status == "queued", receipt
        return evaluation.score, run.usage.tokens

    def decide(self) -> None:
        """Measure what is parked, let the gates judge again, approve or turn down what waits for a person."""
        for parked in self.store.revisions(status=Status.PENDING_EVAL):
            before, after = self.compared(parked)
            evidence = {
                "submission": {"baseline_score": before.score, "candidate_score": after.score, "case_count": 12},
                "tokens": {"before": before.tokens, "after": after.tokens},
            }
            self.store.reevaluate(parked.id, evidence, actor=PERSON, reason="measured on the validation tasks")
        for waiting in self.store.revisions(status=Status.PENDING_APPROVAL):
            before, after = self.compared(waiting)
            better = after.score > before.score or (after.score == before.score and after.tokens < before.tokens)
            cheaper = after.tokens < before.tokens and after.score >= before.score
            if (cheaper if self.arm == "cost" else better) and self.store.is_fresh(waiting):
                self.store.approve(waiting.id, PERSON, "better on the validation tasks")
                self.decided["approved"] += 1
            else:
                self.store.reject(waiting.id, PERSON, "not better on the validation tasks")
                self.decided["turned down"] += 1
        for parked in self.store.revisions(status=Status.PENDING_EVAL):
            self.store.reject(parked.id, PERSON, "worse on the validation tasks")
            self.decided["turned down"] += 1

    def compared(self, revision: Revision) -> tuple[Figures, Figures]:
        """The validation tasks with what is published, and with the candidate in its place."""
        present = self.repository.library().skills
        candidate = self.store.skill_of(revision)
        others = [skill for skill in present if skill.name != revision.skill]
        pool = tasks(self.spec, split="validation")
        after = [*others, candidate] if candidate.exists else others
        return self.measured(pool, present, "validation"), self.measured(pool, after, "validation")

    def measured(self, pool: Sequence[Task], skills: Sequence[Skill], purpose: str) -> Figures:
        """Each task of a pool once; seeds depend on the task only, so that both sides meet the same chance."""
        key = (purpose, *(skill.digest for skill in skills))
        if key in self.known:
            return self.known[key]
        runs = []
        for task in pool:
            run = self.agent.run(
                task.prompt, tools=task.tools, skills=skills, seed=seed_of(self.seed, purpose, task.id)
            )
            assert run.usage.tokens is not None
            runs.append((task.grade(run).score, run.usage.tokens))
        self.known[key] = Figures.of(runs)
        return self.known[key]


def outcomes(family: str, arm: str, seeds: int, count: int) -> list[Outcome]:
    """The streams of all seeds."""
    found = []
    for seed in range(1, seeds + 1):
        with tempfile.TemporaryDirectory() as folder:
            found.append(Stream(family, arm, seed, Path(folder)).run(count))
    return found


def row(family: str, arm: str, found: Sequence[Outcome]) -> str:
    """One line of the first table."""

    def figures(parts: Sequence[Figures]) -> tuple[str, str]:
        return f"{mean(part.score for part in parts):.3f}", f"{mean(part.tokens for part in parts):,.0f}"

    first, last = figures([one.first for one in found]), figures([one.last for one in found])
    holdout = figures([one.holdout for one in found])
    price = mean(one.holdout.tokens for one in found) / mean(one.holdout.score for one in found)
    cells = [family, arm, first[0], last[0], holdout[0], first[1], last[1], holdout[1], f"{price:,.0f}"]
    return "| " + " | ".join(cells) + " |"


def stage_row(family: str, arm: str, found: Sequence[Outcome]) -> str:
    """One line of the second table: sums over the seeds."""
    stages = [str(sum(one.stages[stage] for one in found)) for stage in STAGES]
    decided = [str(sum(one.decided[what] for one in found)) for what in ("approved", "turned down")]
    tokens = f"{sum(one.reviewer_tokens for one in found):,}"
    return "| " + " | ".join([family, arm, *stages, *decided, tokens]) + " |"


def report(arguments: argparse.Namespace, command: str) -> str:
    """The report as Markdown."""
    streams, stages, shown = [], [], ""
    for family in FAMILIES:
        for arm in ARMS:
            found = outcomes(family, arm, arguments.seeds, arguments.tasks)
            streams.append(row(family, arm, found))
            if arm != "without":
                stages.append(stage_row(family, arm, found))
            if arm == "quality" and found[0].skills:
                shown += f"\n### {family}, seed 1\n\n```markdown\n{found[0].skills[0].text}```\n"
            print(streams[-1], file=sys.stderr)
    quarter = max(1, arguments.tasks // 4)
    return TEXT.format(
        command=command,
        tasks=arguments.tasks,
        seeds=arguments.seeds,
        quarter=quarter,
        streams="\n".join(streams),
        stage_names=" | ".join(STAGES),
        stage_rules="|".join(["---"] * len(STAGES)),
        stages="\n".join(stages),
        skills=shown,
    )


TEXT = """\
# Online learning, end to end (simulated models)

**All models here are simulated: the figures show that the machinery works, and nothing about a language model.**

    {command}

Each stream has {tasks} tasks of a family's feedback draws and begins without any skill; means over {seeds} root seeds.
`first` and `last` are the first and the last {quarter} tasks of the stream, `holdout` are the 30 holdout tasks after
it, with the skills as the stream left them and with equal seeds in all arms; `per point` is the price of one point of
score there. Arms: `without` has no loop. `quality` and `cost` have the Reviewer with its documented shares of bad
edits; what was measured on the validation tasks is approved if it is better, or if it is cheaper and not worse.
`harmful` and `vague` have a Reviewer that writes nothing but such rules, and the rule of `quality`.

| family | arm | score first | last | holdout | tokens first | last | holdout | per point |
|---|---|---|---|---|---|---|---|---|
{streams}

What passed each stage (sums over the seeds). A proposal that a badly ended task taught is parked by the Effectiveness
gate; it is measured on the 12 validation tasks with equal seeds, judged again, and decided by a rule in the place of a
person. `gated` counts what the gates let through at once, `published` what needed nobody (the human gate lets nothing
pass), `loaded` tasks of the stream that loaded a learned version.

| family | arm | {stage_names} | approved | turned down | Reviewer tokens |
|---|---|{stage_rules}|---|---|---|
{stages}

## What was learned
{skills}"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run all streams and print or write the report."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tasks", type=int, default=36)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args(argv)
    command = f"python benchmarks/online_learning.py --tasks {arguments.tasks} --seeds {arguments.seeds}"
    text = report(arguments, command)
    if arguments.write:
        arguments.write.write_text(text, encoding="utf-8", newline="\n")
    else:
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
