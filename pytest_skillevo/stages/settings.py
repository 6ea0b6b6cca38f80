"""What an experiment was told to do, fixed before it starts."""

from __future__ import annotations

from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any

from ..core.metering import Caps
from ..core.verdict import CriticalRule, Goal, Rules

MINIBATCH = 3
RERUN_REPEATS = 5
REPLAY_SEEDS = 3
#: At most this many sequential tasks in one replay round of one group.
REPLAY_TASKS = 12
REPLAY_GROUPS = ("baseline", "evolution", "optimized")


@dataclass(frozen=True, slots=True)
class Settings:
    """Options of one experiment. Caps that are None do not bind."""

    seed: int = 1
    stages: tuple[str, ...] = ("search", "confirm", "replay")
    iterations: int = 60
    rollouts: int = 1000
    max_tokens: int | None = None
    max_usd: Decimal | None = None
    max_seconds: float | None = None
    goal: str = "quality"
    margin: float = 0.10
    alpha: float = 0.05
    repeats: int = 3
    critical: str = "rerun"
    #: Name of a second model of the agent, with which both versions run the holdout, shown only; None: no such check.
    transfer: str | None = None
    #: How the search goes (docs/search.md); names of policies may be those of plugins.
    method: str = "gepa"
    parent: str = "pareto"
    sampler: str = "epoch"
    component: str = "round-robin"
    acceptance: str = "strict"
    validation: str = "full"
    proposer: str = "model"
    minibatch: int = MINIBATCH
    width: int = 1
    pace: float = 1.0
    merges: int = 0
    patience: int | None = None
    threshold: float = 1.0
    epsilon: float = 0.0
    cost: str = "tokens"
    max_cost_growth: float | None = None
    frontier: str = "instance"
    pick: str = "best"
    frozen: tuple[str, ...] = ()
    max_reflection_usd: Decimal | None = None
    rollout_tokens: int | None = None
    rollout_usd: Decimal | None = None
    call_tokens: int | None = None
    call_usd: Decimal | None = None
    #: Whether the search may take answers from earlier searches; the result does not depend on it.
    cache: bool = True

    @property
    def rules(self) -> Rules:
        """The decision rules that these settings declare."""
        return Rules(
            goal=Goal(self.goal),
            margin=self.margin,
            alpha=self.alpha,
            critical=CriticalRule(self.critical),
            repeats=self.repeats,
            rerun_repeats=RERUN_REPEATS,
        )

    @property
    def caps(self) -> Caps:
        """The caps in tokens and money, which hold in all stages together."""
        return Caps(**{field.name: getattr(self, field.name) for field in fields(Caps)})

    @property
    def policies(self) -> dict[str, str]:
        """The name of the search's policy of each kind."""
        return {
            "parent": self.parent,
            "sampler": self.sampler,
            "component": self.component,
            "acceptance": self.acceptance,
            "validation": self.validation,
        }

    def to_json(self) -> dict[str, Any]:
        """Everything that decides the result, for the fingerprint and the record."""
        return {
            "seed": self.seed,
            "stages": list(self.stages),
            "iterations": self.iterations,
            "rollouts": self.rollouts,
            "max_tokens": self.max_tokens,
            "max_usd": None if self.max_usd is None else str(self.max_usd),
            "max_seconds": self.max_seconds,
            "goal": self.goal,
            "margin": self.margin,
            "alpha": self.alpha,
            "repeats": self.repeats,
            "critical": self.critical,
            "transfer": self.transfer,
            "method": self.method,
            **self.policies,
            "proposer": self.proposer,
            "minibatch": self.minibatch,
            "width": self.width,
            "pace": self.pace,
            "merges": self.merges,
            "patience": self.patience,
            "threshold": self.threshold,
            "epsilon": self.epsilon,
            "cost": self.cost,
            # Left out where it does not bind: experiments from before there was such a limit stay what they are.
            **({} if self.max_cost_growth is None else {"max_cost_growth": self.max_cost_growth}),
            "frontier": self.frontier,
            "pick": self.pick,
            "frozen": list(self.frozen),
            "max_reflection_usd": None if self.max_reflection_usd is None else str(self.max_reflection_usd),
            "rollout_tokens": self.rollout_tokens,
            "rollout_usd": None if self.rollout_usd is None else str(self.rollout_usd),
            "call_tokens": self.call_tokens,
            "call_usd": None if self.call_usd is None else str(self.call_usd),
            "rerun_repeats": RERUN_REPEATS,
            "replay": {"seeds": REPLAY_SEEDS, "tasks": REPLAY_TASKS},
        }
