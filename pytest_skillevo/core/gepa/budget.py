"""The budget of a search: reserved before anything is asked, settled when it is answered (spec/gepa.md 1.5).

The cap on rollouts is never exceeded: an iteration starts only if its worst case fits beside what is in flight. Tokens
and money are known only afterwards, so the dearest rollout seen so far stands for one that is not answered yet, or the
most that one rollout can use, where the settings say it; then these caps are never exceeded by rollouts either. What
must follow the search is kept back from every cap: rollouts by whoever sets max_rollouts, tokens and money here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from decimal import Decimal
from operator import attrgetter
from typing import Any, Final, NamedTuple

from ..errors import ConfigError
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


class _Meter:
    """One capped amount that is known only afterwards."""

    def __init__(
        self,
        cap: Decimal | int | None,
        reason: StopReason,
        unit: str,
        declared: Decimal | int | None = None,
        later: tuple[int, int] = (0, 0),
    ) -> None:
        self._cap = None if cap is None else Decimal(cap)
        self._reason = reason
        self._unit = unit
        self.spent = Decimal(0)
        self._held = 0
        #: Rollouts and model calls after the search, for which something must be left.
        self._later = later
        self._most = {"rollout": Decimal(declared or 0), "reflection": Decimal(0)}
        self._blind = False

    def hold(self, rollouts: int) -> None:
        """Reserve what so many rollouts may use, or, negative, give the reservation back."""
        self._held += rollouts

    def add(self, kind: str, amount: Decimal | int | None) -> None:
        """Count what one rollout or reflection cost; None is unknown."""
        if amount is None:
            self._blind = True
            return
        self.spent += amount
        self._most[kind] = max(self._most[kind], Decimal(amount))

    def add_unscored(self) -> None:
        """Count a rollout that ended without a record of its cost as the dearest so far."""
        self.spent += self._most["rollout"]

    def refusal(self, rollouts: int, reflections: int) -> Refusal | None:
        """Why so many rollouts and reflections may not be started beside those in flight."""
        if self._cap is None:
            return None
        if self._blind:
            # A cap that cannot be watched would never fire.
            return Refusal(self._reason, f"the {self._unit} of a call are unknown, so the cap cannot be kept")
        need = self._worst(rollouts + self._held, reflections)
        later = self._worst(*self._later)
        if self.spent < self._cap and self.spent + need + later <= self._cap:
            return None
        follows = f", what follows the search {later}" if later else ""
        return Refusal(
            self._reason,
            f"{self.spent} of {self._cap} {self._unit} are used and an iteration may need {need}{follows}",
        )

    def _worst(self, rollouts: int, calls: int) -> Decimal:
        return rollouts * self._most["rollout"] + calls * self._most["reflection"]


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
        later = settings.reserve_rollouts, settings.reserve_calls
        self._reflection = _Meter(settings.max_reflection_usd, StopReason.REFLECTION_COST, "USD of reflection")
        self._meters = (
            _Meter(settings.max_tokens, StopReason.TOKEN_BUDGET, "tokens", settings.rollout_tokens, later),
            _Meter(settings.max_usd, StopReason.USD_BUDGET, "USD", settings.rollout_usd, later),
        )
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
            # No record at all is unknown, not zero.
            total = Usage.total(usage.values()) if usage else Usage()
            for meter, amount in zip(self._meters, (total.tokens, total.usd), strict=True):
                if outcome.evaluation is None:
                    meter.add_unscored()
                else:
                    meter.add("rollout", amount)
        self.usage = merge_usage(self.usage, {role: _sum(usages) for role, usages in parts.items()})

    def allow_reflection(self) -> None:
        """Raise Stop when reflection has used the money set aside for it, or one more call may pass another cap."""
        if refusal := self.refusal(0, reflections=1):
            raise Stop(refusal.reason, refusal.detail)

    def charge_reflection(self, usage: Usage) -> None:
        """Count one call of the reflection model."""
        self.usage = merge_usage(self.usage, {"reflection": usage})
        self._reflection.add("reflection", usage.usd)
        for meter, amount in zip(self._meters, (usage.tokens, usage.usd), strict=True):
            meter.add("reflection", amount)

    def refusal(self, rollouts: int, reflections: int = 1) -> Refusal | None:
        """Why so many rollouts and reflections may not be started; None if they may."""
        if self._cap is not None and self.rollouts + self._held + rollouts > self._cap:
            used = f"{self.rollouts} of {self._cap} rollouts are used"
            return Refusal(StopReason.METRIC_BUDGET, f"{used} and an iteration may need {rollouts}")
        found = [meter.refusal(rollouts, reflections) for meter in self._meters]
        if reflections:
            # Only what is used counts against it: a call costs too little to be reserved.
            found.append(self._reflection.refusal(0, 0))
        return next((refusal for refusal in found if refusal is not None), None)

    def _hold(self, rollouts: int) -> None:
        self._held += rollouts
        for meter in self._meters:
            meter.hold(rollouts)


def _sum(usages: list[Usage]) -> Usage:
    """As Usage.total, field by field: a validation has hundreds of rollouts, and adding them in pairs takes longest."""

    def added(values: Iterable[Any], start: Any = 0) -> Any:
        known = list(values)
        return None if None in known else sum(known, start)

    tokens = {name: added(map(attrgetter(name), usages)) for name in _TOKENS}
    estimated = True in [usage.estimated for usage in usages]
    return Usage(**tokens, usd=added([usage.usd for usage in usages], Decimal(0)), estimated=estimated)
