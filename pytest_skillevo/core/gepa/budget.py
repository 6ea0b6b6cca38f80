"""The budget of a search: reserved before anything is asked, settled when it is answered (spec/gepa.md 1.5).

The cap on rollouts is never exceeded: an iteration starts only if its worst case fits beside what is in flight. Tokens
and money are metered (core/metering.py). What must follow the search is kept back from every cap: rollouts by whoever
sets max_rollouts, tokens and money here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from decimal import Decimal
from operator import attrgetter
from typing import Any, Final, NamedTuple

from ..errors import ConfigError
from ..metering import Meter, usage_of
from ..records import Outcome, Usage, merge_usage
from .results import StopReason
from .settings import SearchDataset, SearchSettings
from .steps import Stop

_TOKENS: Final = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens")


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


class Budget:
    """What a search has used, what is in flight, and what it may still use."""

    def __init__(self, dataset: SearchDataset, settings: SearchSettings) -> None:
        self._cap = settings.max_rollouts
        if self._cap is not None and self._cap < len(dataset.validation):
            raise ConfigError(
                f"the budget is too small: after the reserve for the holdout the search may use {self._cap} rollouts, "
                f"but the seed skill's validation alone needs {len(dataset.validation)}; "
                f"with one iteration it needs {least_rollouts(dataset, settings)}"
            )
        self.rollouts = 0
        self._held = 0
        self.usage: dict[str, Usage] = {}
        self._later = settings.reserve_rollouts, settings.reserve_calls
        self._reflection = Meter(settings.max_reflection_usd, "USD of reflection")
        self._tokens = Meter(settings.max_tokens, "tokens", settings.rollout_tokens, settings.call_tokens)
        self._usd = Meter(settings.max_usd, "USD", settings.rollout_usd, settings.call_usd)
        #: Whether a cap depends on what a rollout reports, so that the first one shows whether it can hold.
        self.watches_usage = settings.max_tokens is not None or settings.max_usd is not None

    def reserve(self, rollouts: int) -> None:
        """Set aside what rollouts may use before they are asked for. Raises Stop when it is not there."""
        if refusal := self.refusal(rollouts, reflections=0):
            raise Stop(refusal.reason, refusal.detail)
        self._hold(rollouts)

    def settle(self, outcomes: Iterable[Outcome]) -> None:
        """Count rollouts that were answered, whatever came of them, in the place of what was set aside for them."""
        answered = list(outcomes)
        self._hold(-len(answered))
        self.rollouts += len(answered)
        parts = defaultdict[str, list[Usage]](list)
        for outcome in answered:
            usage = {} if outcome.evaluation is None else outcome.evaluation.usage
            for role in usage:
                parts[role].append(usage[role])
            if not self.watches_usage:
                continue
            total = usage_of(outcome)
            if total is None:
                self._tokens.add_unmeasured()
                self._usd.add_unmeasured()
            else:
                self._tokens.add("rollout", total.tokens)
                self._usd.add("rollout", total.usd)
        self.usage = merge_usage(self.usage, {role: _sum(usages) for role, usages in parts.items()})

    def reserve_reflection(self) -> None:
        """Set aside what one call of the reflection model may use before it is asked.

        Raises Stop when reflection has used the money set aside for it, or one more call may pass another cap.
        """
        if refusal := self.refusal(0, reflections=1):
            raise Stop(refusal.reason, refusal.detail)
        self._hold(calls=1)

    def settle_reflection(self, usage: Usage) -> None:
        """Count one call of the reflection model in the place of what was set aside for it."""
        self._hold(calls=-1)
        self.usage = merge_usage(self.usage, {"reflection": usage})
        self._reflection.add("call", usage.usd)
        self._tokens.add("call", usage.tokens)
        self._usd.add("call", usage.usd)

    def refusal(self, rollouts: int, reflections: int = 1) -> Refusal | None:
        """Why so many rollouts and reflections may not be started; None if they may."""
        if self._cap is not None and self.rollouts + self._held + rollouts > self._cap:
            used = f"{self.rollouts} of {self._cap} rollouts are used"
            return Refusal(StopReason.METRIC_BUDGET, f"{used} and an iteration may need {rollouts}")
        found = [
            (StopReason.TOKEN_BUDGET, self._tokens.refusal(rollouts, reflections, self._later)),
            (StopReason.USD_BUDGET, self._usd.refusal(rollouts, reflections, self._later)),
        ]
        if reflections:
            # Only what is used counts against it: a call costs too little to be reserved.
            found.append((StopReason.REFLECTION_COST, self._reflection.refusal(0, 0)))
        return next((Refusal(reason, detail) for reason, detail in found if detail is not None), None)

    def _hold(self, rollouts: int = 0, calls: int = 0) -> None:
        self._held += rollouts
        for meter in (self._tokens, self._usd):
            meter.hold(rollouts, calls)


def _sum(usages: list[Usage]) -> Usage:
    """As Usage.total, field by field: a validation has hundreds of rollouts, and adding them in pairs takes longest."""

    def added(values: Iterable[Any], start: Any = 0) -> Any:
        known = list(values)
        return None if None in known else sum(known, start)

    tokens = {name: added(map(attrgetter(name), usages)) for name in _TOKENS}
    estimated = True in [usage.estimated for usage in usages]
    return Usage(**tokens, usd=added([usage.usd for usage in usages], Decimal(0)), estimated=estimated)
