"""Intervals for counts: Wilson, Clopper-Pearson, and Newcombe's interval for a paired difference. No data: [0, 1]."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist, fmean, stdev

from .distributions import beta_cdf, t_quantile
from .search import root


def wilson(k: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's two-sided interval for k of n."""
    if n == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    centre = (k + z * z / 2) / (n + z * z)
    half = z * math.sqrt(k * (n - k) / n + z * z / 4) / (n + z * z)
    # At the ends the two terms cancel exactly in theory and leave dust in floats.
    return (0.0 if k == 0 else centre - half), (1.0 if k == n else centre + half)


def upper_bound(k: int, n: int, alpha: float = 0.05) -> float:
    """Clopper-Pearson one-sided upper bound: the true rate lies above it with chance alpha at most."""
    if k >= n:
        return 1.0
    return root(lambda p: alpha - (1 - beta_cdf(p, k + 1, n - k)), 0.0, 1.0)


def clopper_pearson(k: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """The exact two-sided interval for k of n."""
    side = (1 - confidence) / 2
    return 1.0 - upper_bound(n - k, n, side), upper_bound(k, n, side)


def newcombe_paired(
    both: int, before_only: int, after_only: int, neither: int, confidence: float = 0.95
) -> tuple[float, float, float]:
    """Newcombe's paired interval (1998, method 10) of the pass rate after - before: (difference, low, high)."""
    n = both + before_only + after_only + neither
    if n == 0:
        return 0.0, -1.0, 1.0
    before, after = both + before_only, both + after_only
    low_before, high_before = wilson(before, n, confidence)
    low_after, high_after = wilson(after, n, confidence)
    down_before, up_before = before / n - low_before, high_before - before / n
    down_after, up_after = after / n - low_after, high_after - after / n
    correlation = _correlation(both, before_only, after_only, neither)
    difference = (after_only - before_only) / n

    def reach(a: float, b: float) -> float:
        return math.sqrt(max(0.0, a * a - 2 * correlation * a * b + b * b))

    return difference, difference - reach(down_after, up_before), difference + reach(up_after, down_before)


def _correlation(both: int, before_only: int, after_only: int, neither: int) -> float:
    """The phi coefficient of the paired table with Newcombe's continuity correction; 0 when an arm is constant."""
    n = both + before_only + after_only + neither
    margins = (both + before_only) * (after_only + neither) * (both + after_only) * (before_only + neither)
    if margins == 0:
        return 0.0
    excess = both * neither - before_only * after_only
    corrected = max(excess - n / 2, 0) if excess > 0 else excess
    return corrected / math.sqrt(margins)


def t_lower_limit(differences: Sequence[float], alpha: float = 0.05) -> float | None:
    """One-sided lower t limit of the mean difference; None below two cases. Equal differences: their value."""
    if len(differences) < 2:
        return None
    error = stdev(differences) / math.sqrt(len(differences))
    return fmean(differences) - t_quantile(alpha, len(differences) - 1) * error
