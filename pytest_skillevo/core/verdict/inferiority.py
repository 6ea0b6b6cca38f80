"""Is the loss at most the margin? By rules that rare full regressions cannot fool (spec/statistics.md 5.2)."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from .. import stats
from .compare import Figures
from .records import Rules

#: Fewer cases with graded scores cannot show it.
LEAST_GRADED: Final = 20
#: A graded case that lost more than this, in score units, regressed; less is what noise does to an unchanged skill.
REGRESSED: Final = Fraction(1, 2)
#: The t limit is blind to losses that no case showed, so it counts only where the mirror test gives no hint of a loss.
HINT: Final = Fraction(1, 4)


def non_inferior(figures: Figures, rules: Rules, alpha: Fraction, more: int = 0) -> bool:
    """Whether the loss is shown to be at most the margin at level alpha; `more` adds imagined cases that stay the same.

    Pass/fail scores: Newcombe's paired limit, or the bound on the share of regressed cases. Graded scores, from 20
    cases: the limit that holds for every distribution, or the t limit together with the bound on regressed cases.
    What the rules let pass is measured in reports/no-worse.md.
    """
    n = figures.comparison.cases + more
    if n == 0:
        return False
    if figures.pass_fail:
        return _pass_fail(figures, rules, alpha, more)
    return n >= LEAST_GRADED and _graded(figures, rules, alpha, more)


def _pass_fail(figures: Figures, rules: Rules, alpha: Fraction, more: int) -> bool:
    if _bounded(figures.comparison.regressed, figures.comparison.cases + more, rules, alpha):
        return True
    readings = (False, True) if rules.passes == "both" else (rules.passes == "majority",)
    return all(_newcombe_low(figures, alpha, more, majority=majority) >= -rules.margin for majority in readings)


def _graded(figures: Figures, rules: Rules, alpha: Fraction, more: int) -> bool:
    differences = [*map(float, figures.differences), *[0.0] * more]
    regressed = sum(difference < -REGRESSED for difference in figures.differences)
    low = stats.t_lower_limit(differences, float(alpha))
    no_hint = stats.sign_flip(figures.differences).less > HINT
    if no_hint and low is not None and low >= -rules.margin and _bounded(regressed, len(differences), rules, alpha):
        return True
    return stats.chance_of_loss(differences, rules.margin) <= float(alpha)


def _bounded(regressed: int, n: int, rules: Rules, alpha: Fraction) -> bool:
    return stats.upper_bound(regressed, n, float(alpha)) <= rules.margin


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
