"""What an experiment was told to do, fixed before it starts."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

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
    iterations: int = 30
    rollouts: int = 1000
    max_tokens: int | None = None
    max_usd: Decimal | None = None
    max_seconds: float | None = None
    goal: str = "quality"
    margin: float = 0.10
    alpha: float = 0.05
    repeats: int = 3
    critical: str = "rerun"

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
            "minibatch": MINIBATCH,
            "rerun_repeats": RERUN_REPEATS,
            "replay": {"seeds": REPLAY_SEEDS, "tasks": REPLAY_TASKS},
        }
