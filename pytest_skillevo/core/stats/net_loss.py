"""An exact chance for paired passes and fails: how often so small a net loss comes when the true one is the margin.

The share of cases that the change wins is not known. It is put at its most likely value under a loss of exactly the
margin (Lloyd's estimated p-value, "Exact one-sided tests for matched pairs", 2008), and the chance is then counted over
all tables. With no case won that is the binomial tail of Clopper and Pearson. The level is checked over the whole range
of that share in `tests/core/test_net_loss.py`.
"""

from __future__ import annotations

import math
from typing import Final

from .distributions import beta_cdf

#: Terms of the sum that are smaller than this change no digit that is shown.
_DUST: Final = 1e-13


def chance_of_net_loss(lost: int, won: int, cases: int, margin: float) -> float:
    """The chance (p) that lost - won comes out this low or lower where a share of `margin` is lost net; 1 for no case.

    `lost` cases passed before only, `won` after only. Raises ValueError for more of them than there are cases.
    """
    if min(lost, won) < 0 or lost + won > cases:
        raise ValueError(f"{lost} lost and {won} won of {cases} cases")
    if cases == 0:
        return 1.0
    wins = _most_likely_wins(lost, won, cases, margin)
    differing, net = 2 * wins + margin, lost - won
    return min(1.0, sum(_one(k, net, cases, differing, wins / differing) for k in range(cases + 1)))


def _one(differing: int, net: int, cases: int, rate: float, won_share: float) -> float:
    """The chance that so many cases differ and that the net loss among them is at most `net`."""
    weight = _binomial(differing, cases, rate)
    # lost - won = differing - 2 * won <= net
    least_won = max(0, -((net - differing) // 2))
    if weight < _DUST or least_won > differing:
        return 0.0
    return weight * (1.0 if least_won == 0 else beta_cdf(won_share, least_won, differing - least_won + 1))


def _binomial(k: int, n: int, rate: float) -> float:
    if rate >= 1.0:
        return float(k == n)
    ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.exp(ways + k * math.log(rate) + (n - k) * math.log1p(-rate))


def _most_likely_wins(lost: int, won: int, cases: int, margin: float) -> float:
    """The positive root of the likelihood's derivative under share lost = share won + margin."""
    linear = (lost + won) * (1 - margin) - 2 * margin * (cases - lost)
    constant = won * margin * (1 - margin)
    return min((linear + math.sqrt(linear * linear + 8 * cases * constant)) / (4 * cases), (1 - margin) / 2)
