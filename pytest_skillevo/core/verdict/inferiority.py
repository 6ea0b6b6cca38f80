"""Is the loss at most the margin? By rules that rare full regressions cannot fool (spec/statistics.md 5.2)."""

from __future__ import annotations

from fractions import Fraction

from .. import stats
from .compare import Figures
from .records import Rules

#: Fewer cases with graded scores cannot show it.
LEAST_GRADED = 20


def non_inferior(figures: Figures, rules: Rules, alpha: Fraction, more: int = 0) -> bool:
    """Whether the loss is shown to be at most the margin at level alpha; `more` adds imagined cases that stay the same.

    Pass/fail scores: Newcombe's paired limit, or the bound on the share of regressed cases. Graded scores: the t limit
    together with that bound, from 20 cases.
    """
    n = figures.comparison.cases + more
    if n == 0:
        return False
    regressions_bounded = stats.upper_bound(figures.comparison.regressed, n, float(alpha)) <= rules.margin
    if figures.pass_fail:
        readings = (False, True) if rules.passes == "both" else (rules.passes == "majority",)
        lows = (_newcombe_low(figures, alpha, more, majority=majority) for majority in readings)
        return regressions_bounded or all(low >= -rules.margin for low in lows)
    if n < LEAST_GRADED or not regressions_bounded:
        return False
    low = stats.t_lower_limit([*map(float, figures.differences), *[0.0] * more], float(alpha))
    return low is not None and low >= -rules.margin


def _newcombe_low(figures: Figures, alpha: Fraction, more: int, *, majority: bool) -> float:
    """The lower limit of the pass rate's change, every case first reduced to one pass or fail."""
    pairs = [
        (_passes(b, majority), _passes(a, majority)) for b, a in zip(figures.before, figures.after, strict=True)
    ] + [(True, True)] * more
    table = (pairs.count((True, True)), pairs.count((True, False)), pairs.count((False, True)))
    return stats.newcombe_paired(*table, len(pairs) - sum(table), confidence=float(1 - 2 * alpha))[1]


def _passes(hundredths: tuple[int, ...], majority: bool) -> bool:
    passed = sum(score == 100 for score in hundredths)
    return 2 * passed > len(hundredths) if majority else passed == len(hundredths)
