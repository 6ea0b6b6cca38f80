"""The geometric ratio of two amounts (tokens) over cases: the interval and the test of scores, on the log scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from .lattice import Number
from .permutation import sign_flip
from .subsets import ALPHA, subset_mean_interval

#: Log ratios are rounded to this step, a tenth of a percent: finer than any claim, coarse enough to be counted exactly.
LOG_STEP: Final = Fraction(1, 1000)


@dataclass(frozen=True, slots=True)
class RatioTest:
    """Geometric ratio after / before with its interval, and the one-sided chances of one as low and as high."""

    logs: tuple[Fraction, ...]
    ratio: float
    interval: tuple[float, float] | None
    lower: Fraction
    higher: Fraction


def geometric_ratio(before: Sequence[float], after: Sequence[float], alpha: Number = ALPHA) -> RatioTest | None:
    """Compare positive amounts, one pair a case (both zero: equal). None without a case.

    Raises ValueError for a negative amount, and for one that is zero in one arm only: that is no measurement.
    """
    logs = tuple(_log_ratio(b, a) for b, a in zip(before, after, strict=True))
    if not logs:
        return None
    test = sign_flip(logs)
    interval = subset_mean_interval(logs, alpha)
    bounds = None if interval is None else (math.exp(interval.low), math.exp(interval.high))
    return RatioTest(logs, math.exp(sum(logs) / len(logs)), bounds, test.less, test.greater)


def _log_ratio(before: float, after: float) -> Fraction:
    if before == after == 0:
        return Fraction(0)
    if before <= 0 or after <= 0:
        raise ValueError(f"no ratio of {after!r} to {before!r}")
    return round(math.log(after / before) / LOG_STEP) * LOG_STEP
