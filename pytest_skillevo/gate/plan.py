"""The plan of a gate or an A/A, told before anything is spent (`--evolve-plan`)."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_UP, Decimal
from typing import TYPE_CHECKING

import pytest

from .. import options
from ..core.errors import ConfigError
from ..stages.trial_plan import PlannedTrial

if TYPE_CHECKING:
    from ..stages.trial import Trial


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
