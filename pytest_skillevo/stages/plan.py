"""What a budget buys, known before anything is spent (spec/landscape.md: print the plan before spending)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..core.errors import ConfigError
from ..core.protocols import ChatModel
from ..core.records import SPLITS
from ..core.verdict import power_note
from .dataset import Dataset
from .settings import MINIBATCH, REPLAY_GROUPS, REPLAY_SEEDS, REPLAY_TASKS, RERUN_REPEATS, Settings

#: Fewer cases than this in a split, or fewer proposals, call for a warning (spec/gepa.md part 5, 1 and 10).
SMALL_SPLIT = 10
LEAST_PROPOSALS = 3
FIVE_POINTS = 0.05


@dataclass(frozen=True, slots=True)
class Plan:
    """Rollouts by purpose. `search` is what is left for the search after the reserve for what must follow."""

    budget: int
    seed_validation: int
    per_proposal: int
    confirmation: int
    reruns: int
    replay: int

    @property
    def reserve(self) -> int:
        """What confirmation, critical reruns and replay need at the most."""
        return self.confirmation + self.reruns + self.replay

    @property
    def search(self) -> int:
        """What the search may use."""
        return self.budget - self.reserve

    @property
    def proposals(self) -> int:
        """How many proposals the search can pay for when each costs the most."""
        return max(0, (self.search - self.seed_validation) // self.per_proposal)

    @property
    def least(self) -> int:
        """The smallest budget that pays for one proposal and what must follow."""
        return self.seed_validation + self.per_proposal + self.reserve

    def to_json(self) -> dict[str, Any]:
        """The figures by name."""
        return {
            "budget": self.budget,
            "seed_validation": self.seed_validation,
            "per_proposal": self.per_proposal,
            "confirmation": self.confirmation,
            "reruns": self.reruns,
            "replay": self.replay,
            "proposals": self.proposals,
            "least": self.least,
        }


def replay_tasks(dataset: Dataset) -> int:
    """How many tasks one replay round of one group runs."""
    return min(REPLAY_TASKS, len(dataset.ids("holdout")))


def make_plan(dataset: Dataset, settings: Settings) -> Plan:
    """The plan; raises ConfigError when the budget cannot pay for one proposal and what must follow."""
    validation, holdout = len(dataset.ids("validation")), len(dataset.ids("holdout"))
    batch = min(MINIBATCH, len(dataset.ids("feedback")))
    confirms = "confirm" in settings.stages and dataset.partial is None
    reruns = len(dataset.critical) * 2 * RERUN_REPEATS if confirms and settings.critical != "any" else 0
    replays = confirms and "replay" in settings.stages
    plan = Plan(
        budget=settings.rollouts,
        seed_validation=validation,
        per_proposal=2 * batch + validation,
        confirmation=2 * (validation + holdout) * settings.repeats if confirms else 0,
        reruns=reruns,
        replay=len(REPLAY_GROUPS) * REPLAY_SEEDS * replay_tasks(dataset) if replays else 0,
    )
    if plan.budget < plan.least:
        parts = [f"{plan.seed_validation} seed", f"{plan.per_proposal} for one proposal"]
        if confirms:
            parts.append(f"2 x {validation + holdout} x {settings.repeats} confirmation")
        if plan.reruns:
            parts.append(f"{plan.reruns} critical reruns")
        if plan.replay:
            parts.append(f"{plan.replay} replay")
        raise ConfigError(
            f"--evolve-rollouts={plan.budget} cannot pay for one proposal and what must follow: "
            f"at least {plan.least} are needed ({' + '.join(parts)}). "
            "Raise it, lower --evolve-repeats, or leave out stages (--evolve-stages)."
        )
    return plan


def plan_figures(dataset: Dataset, settings: Settings, model: ChatModel) -> dict[str, Any]:
    """The plan screen as plain data: dataset, budget, cost, power and warnings; nothing is run for it."""
    plan = make_plan(dataset, settings)
    counts = {split: len(dataset.ids(split)) for split in SPLITS}
    confirms = plan.confirmation > 0
    power = power_note(counts["holdout"], settings.repeats, settings.rules) if confirms else None
    free = "0" if model.kind == "simulated" else None
    return {
        "skill": dataset.skill,
        "model": model.name,
        "simulated": model.kind == "simulated",
        "counts": counts,
        "critical": len(dataset.critical),
        "fingerprint": dataset.fingerprint,
        "budget": {
            "rollouts": plan.budget,
            "proposals": min(plan.proposals, settings.iterations),
            "seed": plan.seed_validation,
            "per_proposal": plan.per_proposal,
            "confirmation_cases": counts["validation"] + counts["holdout"] if confirms else 0,
            "repeats": settings.repeats,
            "critical_reruns": plan.reruns,
            "replay": plan.replay,
        },
        "costs": [{"model": model.name, "low": free, "high": free}],
        "power": power
        and {
            "cases": power.cases,
            "repeats": power.repeats,
            "detectable": power.smallest_gain,
            "gain": FIVE_POINTS,
            "cases_needed": power.cases_for_five_points,
        },
        "warnings": list(_warnings(dataset, plan, confirms)),
    }


def _warnings(dataset: Dataset, plan: Plan, confirms: bool) -> Iterator[str]:
    if dataset.partial is not None:
        yield f"the dataset is partial ({dataset.partial}): the run may search, but it decides nothing"
    if plan.proposals < LEAST_PROPOSALS:
        yield f"the budget is sure to pay for {plan.proposals} proposals only; {LEAST_PROPOSALS} are few already"
    for split in ("feedback", "validation", "holdout"):
        if len(dataset.ids(split)) < SMALL_SPLIT and (confirms or split != "holdout"):
            yield f"only {len(dataset.ids(split))} {split} cases: luck weighs heavily below {SMALL_SPLIT}"
    if confirms and not dataset.critical:
        yield "no case is marked critical: nothing vetoes a version that is better on average"
