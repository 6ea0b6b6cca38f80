"""What a plan can show before anything is spent, and two further measures: reliability and evidence on the way."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from statistics import NormalDist
from typing import Final

from .distributions import t_power
from .search import root

POWER: Final = 0.8


def detectable_gain(n: int, sd: float, alpha: float = 0.05, power: float = POWER) -> float | None:
    """The smallest true gain that n cases show with the given chance; None where even the best result is no proof."""
    if n < 2 or 0.5**n > alpha:
        return None
    return root(lambda gain: t_power(n, gain, sd, alpha) - power, 0.0, 20 * sd)


def tasks_needed(gain: float, sd: float, alpha: float = 0.05, power: float = POWER) -> int:
    """How many cases show a true gain with the given chance.

    The closed form of spec/statistics.md 5.2 is right to within a case; the exact power settles which.
    """
    n = max(2, closed_form_tasks(gain, sd, alpha, power) - 2)
    while t_power(n, gain, sd, alpha) < power:
        n += 1
    return n


def closed_form_tasks(gain: float, sd: float, alpha: float = 0.05, power: float = POWER) -> int:
    """ceil(((z_alpha + z_power) * sd / gain)^2 + z_alpha^2 / 2)."""
    z_alpha, z_power = NormalDist().inv_cdf(1 - alpha), NormalDist().inv_cdf(power)
    return math.ceil(((z_alpha + z_power) * sd / gain) ** 2 + z_alpha**2 / 2)


def clean_cases_needed(margin: float, alpha: float = 0.05) -> int:
    """How many cases without a single regression bound the share of regressions by the margin."""
    return math.ceil(math.log(alpha) / math.log1p(-margin))


def holm(chances: Iterable[float]) -> list[float]:
    """Holm's adjusted chances, in the order given: each may be compared with alpha by itself."""
    given = list(chances)
    adjusted = list(given)
    running = 0.0
    for rank, i in enumerate(sorted(range(len(given)), key=lambda i: given[i])):
        running = max(running, min(given[i] * (len(given) - rank), 1.0))
        adjusted[i] = running
    return adjusted


def pass_hat_k(passed: int, n: int, k: int) -> float | None:
    """pass^k: the chance that k runs all pass, unbiased from `passed` of n runs; None for k > n."""
    return None if k > n else math.comb(passed, k) / math.comb(n, k)


def pass_at_k(passed: int, n: int, k: int) -> float | None:
    """pass@k: the chance that at least one of k runs passes, unbiased from `passed` of n runs; None for k > n."""
    return None if k > n else 1 - math.comb(n - passed, k) / math.comb(n, k)


def e_value(wins: int, losses: int) -> Fraction:
    """The e-process on cases that differ: evidence that wins are more likely than losses, valid at any time.

    Stop at 20 for an error of 1/20. A uniform mixture over p > 1/2:
    2 * P(Beta(w+1, l+1) > 1/2) * B(w+1, l+1) * 2^(w+l), where the chance is P(Bin(w+l+1, 1/2) <= w): the powers of two
    cancel.
    """
    n = wins + losses
    tail = sum(math.comb(n + 1, i) for i in range(wins + 1))
    return Fraction(tail, (n + 1) * math.comb(n, wins))
