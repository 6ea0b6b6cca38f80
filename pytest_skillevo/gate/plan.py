"""What a gate or an A/A would run, and what that could show: told before anything is spent (`--evolve-plan`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import ROUND_UP, Decimal
from typing import TYPE_CHECKING, Any

import pytest

from .. import options
from ..core.errors import ConfigError
from ..core.verdict import Goal, Rules, power_note, words

if TYPE_CHECKING:
    from ..stages.trial import Trial


@dataclass(frozen=True, slots=True)
class PlannedTrial:
    """Two versions of one skill on the holdout, before they are run. Unknown costs are None, in US dollars."""

    name: str
    #: What happened to the skill: edited, added, deleted, renamed; empty for an A/A.
    kind: str
    model: str
    simulated: bool
    cases: int
    critical: int
    repeats: int
    #: Rollouts that are sure, and those of critical reruns at the most.
    rollouts: int
    reruns: int
    usd: str | None
    goal: str
    margin: float
    alpha: float

    def to_json(self) -> dict[str, Any]:
        """The fields by name; `planned_from` is the inverse."""
        return asdict(self)

    def power(self, together: int = 1) -> str:
        """What the holdout can show when so many skills are decided together."""
        alpha = self.alpha / together
        note = power_note(self.cases, self.repeats, Rules(margin=self.margin, alpha=alpha))
        if self.goal != Goal.no_worse.value:
            return note.sentence
        least, margin = words.counted(note.clean_cases, "case"), words.points(self.margin)
        shown = f"not worse by {margin} is shown by {least} or more without a loss"
        few = "" if self.cases >= note.clean_cases else f"; {self.cases} cannot show it if scores are passes and fails"
        return shown + few


def planned_from(data: Mapping[str, Any]) -> PlannedTrial:
    """The inverse of `PlannedTrial.to_json`."""
    return PlannedTrial(**data)


def planned(config: pytest.Config, trial: Trial, name: str, kind: str = "") -> PlannedTrial:
    """The plan of one trial; the store is looked at for what a rollout cost earlier, never made."""
    from ..wiring import earlier_runs_of

    setting, model = trial.setting, trial.model_part()
    settings, dataset = setting.settings, setting.dataset
    reruns = 0 if settings.critical == "any" else trial.reruns
    rollouts = trial.budget - trial.reruns
    each = Decimal(0) if model["kind"] == "simulated" else earlier_runs_of(config, setting).usd_per_rollout
    cost = None if each is None else str((each * (rollouts + reruns)).quantize(Decimal("0.01"), ROUND_UP))
    return PlannedTrial(
        name=name,
        kind=kind,
        model=model["name"],
        simulated=model["kind"] == "simulated",
        cases=len(dataset.ids("holdout")),
        critical=len(dataset.critical),
        repeats=settings.repeats,
        rollouts=rollouts,
        reruns=reruns,
        usd=cost,
        goal=settings.goal,
        margin=settings.margin,
        alpha=settings.alpha,
    )


def check_rollouts(config: pytest.Config, needed: int) -> None:
    """Raise ConfigError when --evolve-rollouts, which is meant for searches unless it is given, is too small."""
    most = options.value_of(config, "evolve_rollouts")
    if options.is_given(config, "evolve_rollouts") and needed > most:
        raise ConfigError(
            f"--evolve-rollouts={most}: {needed} are needed at the most. Raise it, or lower --evolve-repeats"
        )


def total_of(plans: Sequence[PlannedTrial]) -> int:
    """Rollouts of all of them at the most."""
    return sum(plan.rollouts + plan.reruns for plan in plans)
