"""Beta, Student t and the power of a one-sided t test, from the standard library alone."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Final

from .search import root

_NORMAL: Final = NormalDist()
_TINY: Final = 1e-300


def beta_cdf(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function I_x(a, b), by its continued fraction (Lentz)."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):
        return 1.0 - beta_cdf(1.0 - x, b, a)
    front = math.exp(a * math.log(x) + b * math.log1p(-x) + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b))
    c, d = 1.0, 1.0 / _away_from_zero(1.0 - (a + b) * x / (a + 1))
    result = d
    for m in range(1, 1000):
        for factor in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1.0 / _away_from_zero(1.0 + factor * d)
            c = _away_from_zero(1.0 + factor / c)
            result *= c * d
        if abs(c * d - 1.0) < 1e-15:
            break
    return front * result / a


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


def t_upper_tail(t: float, degrees: int) -> float:
    """The chance that a Student t variable exceeds t."""
    half = beta_cdf(degrees / (degrees + t * t), degrees / 2, 0.5) / 2
    return half if t >= 0 else 1 - half


def t_quantile(alpha: float, degrees: int) -> float:
    """The value that a Student t variable exceeds with chance alpha (below 1/2)."""
    high = 1.0
    while t_upper_tail(high, degrees) > alpha:
        high *= 2
    return root(lambda t: alpha - t_upper_tail(t, degrees), 0.0, high)


def t_power(n: int, gain: float, sd: float, alpha: float = 0.05) -> float:
    """The chance that a one-sided t test over n cases finds a true gain, differences having standard deviation sd.

    Integrates the normal chance over the distribution of the estimated deviation (Simpson); the sign flip has about
    the same power (spec/statistics.md 5.2).
    """
    degrees = n - 1
    bound, shift = t_quantile(alpha, degrees), gain * math.sqrt(n) / sd
    log_norm = math.log(2) + degrees / 2 * math.log(degrees / 2) - math.lgamma(degrees / 2)
    spread = 9 / math.sqrt(2 * degrees)
    low, high, steps = max(0.0, 1 - spread), 1 + spread, 400

    def weighted(s: float) -> float:
        if s <= 0:
            density = 0.0 if degrees > 1 else math.exp(log_norm)
        else:
            density = math.exp(log_norm + (degrees - 1) * math.log(s) - degrees * s * s / 2)
        return density * _NORMAL.cdf(shift - bound * s)

    step = (high - low) / steps
    inner = sum((4 if i % 2 else 2) * weighted(low + i * step) for i in range(1, steps))
    return min(1.0, (weighted(low) + inner + weighted(high)) * step / 3)
