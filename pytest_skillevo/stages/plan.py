"""What a budget buys, known before anything is spent (spec/landscape.md: print the plan before spending)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from decimal import ROUND_UP, Decimal
from typing import Any

from ..core.errors import ConfigError
from ..core.gepa import SearchSettings
from ..core.protocols import ChatModel
from ..core.records import SPLITS
from ..core.verdict import power_note
from .dataset import Dataset
from .settings import REPLAY_GROUPS, REPLAY_SEEDS, REPLAY_TASKS, RERUN_REPEATS, Settings

#: Fewer cases than this in a split, or fewer proposals, call for a warning (spec/gepa.md part 5, 1 and 10).
SMALL_SPLIT = 10
LEAST_PROPOSALS = 3
#: Holdout cases below which a person should know what they can show.
SMALL_HOLDOUT = 30
FIVE_POINTS = 0.05
#: A validation mean of the seed above which a search has little to find.
NEARLY_PERFECT = 0.95
#: The best of so many proposals on fewer validation cases than this is mostly luck (spec/gepa.md 4.4).
SELECTION = 20
MANY_PROPOSALS = 5
#: Rollouts of a search per validation case below which it seldom gets anywhere (spec/gepa.md 2.4).
LEAST_TIMES = 15


@dataclass(frozen=True, slots=True)
class Plan:
    """Rollouts by purpose. `search` is what is left for the search after the reserve for what must follow."""

    budget: int
    seed_validation: int
    per_proposal: int
    confirmation: int
    reruns: int
    replay: int
    #: Both versions on the holdout with a second model.
    transfer: int = 0

    @property
    def reserve(self) -> int:
        """What confirmation, critical reruns, replay and transfer check need at the most."""
        return self.confirmation + self.reruns + self.replay + self.transfer

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
            "transfer": self.transfer,
            "proposals": self.proposals,
            "least": self.least,
        }


def replay_tasks(dataset: Dataset) -> int:
    """How many tasks one replay round of one group runs."""
    return min(REPLAY_TASKS, len(dataset.ids("holdout")))


def make_plan(dataset: Dataset, settings: Settings) -> Plan:
    """The plan; raises ConfigError when the budget cannot pay for one proposal and what must follow."""
    validation, holdout = len(dataset.ids("validation")), len(dataset.ids("holdout"))
    batch = min(settings.minibatch, len(dataset.ids("feedback")))
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
        transfer=2 * holdout * settings.repeats if confirms and settings.transfer is not None else 0,
    )
    if plan.budget < plan.least:
        parts = [f"{plan.seed_validation} seed", f"{plan.per_proposal} for one proposal"]
        if confirms:
            parts.append(f"2 x {validation + holdout} x {settings.repeats} confirmation")
        if plan.reruns:
            parts.append(f"{plan.reruns} critical reruns")
        if plan.replay:
            parts.append(f"{plan.replay} replay")
        if plan.transfer:
            parts.append(f"{plan.transfer} transfer check")
        raise ConfigError(
            f"--evolve-rollouts={plan.budget} cannot pay for one proposal and what must follow: "
            f"at least {plan.least} are needed ({' + '.join(parts)}). "
            "Raise it, lower --evolve-repeats, or leave out stages (--evolve-stages)."
        )
    return plan


def search_settings(settings: Settings, plan: Plan) -> SearchSettings:
    """What the search is told: the settings that it shares with the experiment, and what must be kept back for later.

    Raises ConfigError for settings that contradict each other.
    """
    shared = {field.name for field in fields(SearchSettings)} & {field.name for field in fields(Settings)}
    # The groups of a replay that have a Reviewer; plan.replay counts the tasks of all three.
    reviews = plan.replay * 2 // len(REPLAY_GROUPS)
    return SearchSettings(
        max_rollouts=plan.search,
        reserve_rollouts=plan.reserve,
        reserve_calls=reviews,
        **{name: getattr(settings, name) for name in shared},
    )


@dataclass(frozen=True, slots=True)
class Earlier:
    """What finished experiments in the store say about the next one. None is unknown."""

    #: Validation mean of the seed skill on the same cases, and the experiment that measured it.
    seed_score: float | None = None
    experiment: str = ""
    #: US dollars of a rollout with the same model, the cost of reflection and review spread over them.
    usd_per_rollout: Decimal | None = None


def earlier_runs(reports: Iterable[Mapping[str, Any]], dataset: Dataset, seed_digest: str, model: str) -> Earlier:
    """What the reports of finished experiments say, given the newest first."""
    found = Earlier()
    for report in reports:
        if found.usd_per_rollout is None and report["model"]["name"] == model:
            found = replace(found, usd_per_rollout=_usd_per_rollout(report))
        same = report["skill"]["before"] == seed_digest and report["dataset"]["fingerprint"] == dataset.fingerprint
        if found.seed_score is None and same and report["search"] is not None:
            found = replace(found, seed_score=report["search"]["seed_score"], experiment=report["experiment"]["id"])
    return found


def _usd_per_rollout(report: Mapping[str, Any]) -> Decimal | None:
    amounts = [usage["usd"] for usage in report["usage"].values()]
    rollouts: int = sum(report["rollouts"][stage] for stage in ("search", "confirmation", "critical_reruns", "replay"))
    if not rollouts or any(amount is None for amount in amounts):
        return None
    return sum(map(Decimal, amounts), Decimal(0)) / rollouts


def plan_figures(
    dataset: Dataset, settings: Settings, model: ChatModel, earlier: Earlier | None = None
) -> dict[str, Any]:
    """The plan screen as plain data: dataset, budget, cost, power and warnings; nothing is run for it."""
    earlier = earlier or Earlier()
    plan = make_plan(dataset, settings)
    counts = {split: len(dataset.ids(split)) for split in SPLITS}
    confirms = plan.confirmation > 0
    power = power_note(counts["holdout"], settings.repeats, settings.rules) if confirms else None
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
            "transfer": plan.transfer,
        },
        "costs": [_cost(plan, model, earlier)],
        "power": power
        and {
            "cases": power.cases,
            "repeats": power.repeats,
            "detectable": power.smallest_gain,
            "gain": FIVE_POINTS,
            "cases_needed": power.cases_for_five_points,
        },
        "warnings": list(_warnings(dataset, settings, plan, earlier)),
    }


def _cost(plan: Plan, model: ChatModel, earlier: Earlier) -> dict[str, Any]:
    """From a search that finds nothing at once to the whole budget; unknown without an earlier run on this model."""
    if model.kind == "simulated":
        return {"model": model.name, "low": "0", "high": "0"}
    if earlier.usd_per_rollout is None:
        return {"model": model.name, "low": None, "high": None}
    amounts = (
        earlier.usd_per_rollout * rollouts for rollouts in (plan.seed_validation + plan.per_proposal, plan.budget)
    )
    low, high = (str(amount.quantize(Decimal("0.01"), ROUND_UP)) for amount in amounts)
    return {"model": model.name, "low": low, "high": high}


def _warnings(dataset: Dataset, settings: Settings, plan: Plan, earlier: Earlier) -> Iterator[str]:
    confirms, validation = plan.confirmation > 0, len(dataset.ids("validation"))
    if earlier.seed_score is not None and earlier.seed_score >= NEARLY_PERFECT:
        yield (
            f"the seed skill scored {earlier.seed_score:.3f} on these validation cases already "
            f"({earlier.experiment}): little is left to win, harder cases would show more"
        )
    if dataset.partial is not None:
        yield f"the dataset is partial ({dataset.partial}): the run may search, but it decides nothing"
    if plan.proposals < LEAST_PROPOSALS:
        yield f"the budget is sure to pay for {plan.proposals} proposals only; {LEAST_PROPOSALS} are few already"
    proposals = min(plan.proposals, settings.iterations)
    if validation < SELECTION and proposals >= MANY_PROPOSALS:
        yield (
            f"the best of {proposals} proposals on {validation} validation cases looks better than it is: "
            f"with {SELECTION} cases or more luck chooses less often"
        )
    if plan.search < LEAST_TIMES * validation:
        yield (
            f"the search has {plan.search} rollouts for {validation} validation cases; "
            f"{LEAST_TIMES} times as many as cases are usual"
        )
    holdout = len(dataset.ids("holdout"))
    if confirms and SMALL_SPLIT <= holdout < SMALL_HOLDOUT:
        smallest = power_note(holdout, settings.repeats, settings.rules).smallest_gain
        shown = "no gain of any size" if smallest is None else f"only gains of {smallest:.2f} and more"
        yield f"only {holdout} holdout cases: they can be expected to show {shown}; {SMALL_HOLDOUT} are usual"
    for split in ("feedback", "validation", "holdout"):
        if len(dataset.ids(split)) < SMALL_SPLIT and (confirms or split != "holdout"):
            yield f"only {len(dataset.ids(split))} {split} cases: luck weighs heavily below {SMALL_SPLIT}"
    if confirms and not dataset.critical:
        yield "no case is marked critical: nothing vetoes a version that is better on average"
