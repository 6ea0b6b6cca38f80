"""The acceptance rule of the reference, beside which ours is shown: the mean may not fall, nor any critical case.

It decides nothing here. On ten pass/fail cases it lets an equal candidate through in 59 % of all cases, and one that is
ten points worse in 41 % (spec/gepa.md 1.12 and 4.4).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import ConfigError
from .records import PairedCase, Record

#: Means of decimal scores are off by this at most.
_NOISE = 1e-9


@dataclass(frozen=True, slots=True)
class ReferenceDecision(Record):
    """Whether the reference would promote, the mean difference (None without a case), and why in a sentence."""

    eligible: bool
    delta: float | None
    reason: str


def reference_rule(holdout: Sequence[PairedCase], min_improvement: float = 0.0) -> ReferenceDecision:
    """The reference's decision on paired holdout runs, repeats averaged.

    Raises ConfigError for a minimum improvement that is not in [0, 1], and ValueError for a case without a run.
    """
    if not 0 <= min_improvement <= 1:
        raise ConfigError(f"the minimum improvement must lie in [0, 1], not {min_improvement!r}")
    if not holdout:
        return ReferenceDecision(False, None, "no holdout case was run")
    gains = {pair.case_id: _mean(pair.after) - _mean(pair.before) for pair in holdout}
    delta = math.fsum(gains.values()) / len(gains)
    if delta < min_improvement - _NOISE:
        return ReferenceDecision(False, delta, f"the holdout delta {delta:.4f} is below required {min_improvement:.4f}")
    worse = next((pair.case_id for pair in holdout if pair.critical and gains[pair.case_id] < -_NOISE), None)
    if worse is not None:
        return ReferenceDecision(False, delta, f"the critical {worse} scored lower")
    return ReferenceDecision(True, delta, f"the holdout delta {delta:.4f} satisfied the required {min_improvement:.4f}")


def _mean(scores: Sequence[float]) -> float:
    if not scores:
        raise ValueError("a case without a run has no mean")
    return math.fsum(scores) / len(scores)
