"""The budget of a search: an iteration starts only if its worst case fits (spec/gepa.md 1.5)."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import NamedTuple

from ..errors import ConfigError
from ..records import Outcome, Usage, merge_usage
from .results import StopReason
from .settings import SearchDataset, SearchSettings


def iteration_rollouts(feedback: int, validation: int, minibatch: int) -> int:
    """Rollouts of one iteration at worst: parent and child on the minibatch, then the child's validation."""
    return 2 * min(minibatch, feedback) + validation


def least_rollouts(dataset: SearchDataset, settings: SearchSettings) -> int:
    """The smallest max_rollouts with which a search can try anything: the seed's validation and one iteration."""
    validation = len(dataset.validation)
    return validation + iteration_rollouts(len(dataset.feedback), validation, settings.minibatch)


class Refusal(NamedTuple):
    """Why no further iteration may start."""

    reason: StopReason
    detail: str


class _Meter:
    """One capped amount that is known only afterwards: the next iteration is expected to cost the most seen so far."""

    def __init__(self, cap: Decimal | int | None, reason: StopReason, unit: str) -> None:
        self._cap = None if cap is None else Decimal(cap)
        self._reason = reason
        self._unit = unit
        self._spent = Decimal(0)
        self._most = {"rollout": Decimal(0), "reflection": Decimal(0)}
        self._blind = False

    def add(self, kind: str, amount: Decimal | int | None) -> None:
        """Count what one rollout or reflection cost; None is unknown."""
        if amount is None:
            self._blind = True
            return
        self._spent += amount
        self._most[kind] = max(self._most[kind], Decimal(amount))

    def add_unscored(self) -> None:
        """Count a rollout that ended without a record of its cost as the dearest so far."""
        self._spent += self._most["rollout"]

    def refusal(self, rollouts: int) -> Refusal | None:
        """Why `rollouts` rollouts and one reflection may not be started."""
        if self._cap is None:
            return None
        if self._blind:
            # A cap that cannot be watched would never fire.
            return Refusal(self._reason, f"the {self._unit} of a call are unknown, so the cap cannot be kept")
        expected = self._spent + rollouts * self._most["rollout"] + self._most["reflection"]
        if self._spent < self._cap and expected <= self._cap:
            return None
        return Refusal(
            self._reason,
            f"{self._spent} of {self._cap} {self._unit} are used and an iteration may need {expected - self._spent}",
        )


class Budget:
    """What a search has used and may still use. The cap on rollouts is never exceeded."""

    def __init__(self, dataset: SearchDataset, settings: SearchSettings) -> None:
        self._cap = settings.max_rollouts
        if self._cap is not None and self._cap < len(dataset.validation):
            raise ConfigError(
                f"the budget is too small: after the reserve for the holdout the search may use {self._cap} rollouts, "
                f"but the seed skill's validation alone needs {len(dataset.validation)}; "
                f"with one iteration it needs {least_rollouts(dataset, settings)}"
            )
        self.rollouts = 0
        self.usage: dict[str, Usage] = {}
        self._tokens = _Meter(settings.max_tokens, StopReason.TOKEN_BUDGET, "tokens")
        self._usd = _Meter(settings.max_usd, StopReason.USD_BUDGET, "USD")

    def charge_rollouts(self, outcomes: Iterable[Outcome]) -> None:
        """Count rollouts that were answered, whatever came of them."""
        for outcome in outcomes:
            self.rollouts += 1
            if outcome.evaluation is None:
                self._tokens.add_unscored()
                self._usd.add_unscored()
                continue
            usage = outcome.evaluation.usage
            self.usage = merge_usage(self.usage, usage)
            # No record at all is unknown, not zero.
            total = Usage.total(usage.values()) if usage else Usage()
            self._tokens.add("rollout", total.tokens)
            self._usd.add("rollout", total.usd)

    def charge_reflection(self, usage: Usage) -> None:
        """Count one call of the reflection model."""
        self.usage = merge_usage(self.usage, {"reflection": usage})
        self._tokens.add("reflection", usage.tokens)
        self._usd.add("reflection", usage.usd)

    def refusal(self, rollouts: int) -> Refusal | None:
        """Why an iteration that needs `rollouts` at worst may not start; None if it may."""
        if self._cap is not None and self.rollouts + rollouts > self._cap:
            used = f"{self.rollouts} of {self._cap} rollouts are used"
            return Refusal(StopReason.METRIC_BUDGET, f"{used} and an iteration may need {rollouts}")
        return self._tokens.refusal(rollouts) or self._usd.refusal(rollouts)
