"""Is the loss at most the margin? By rules that rare full regressions cannot fool (spec/statistics.md 5.2)."""

from __future__ import annotations

from dataclasses import dataclass
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

    Pass/fail scores: Newcombe's paired limit, which alone exceeds its level by a little, together with the exact chance
    of so small a net loss; or the bound on the share of regressed cases. Graded scores, from 20
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
    return all(_table(figures, more, majority=majority).shows(rules.margin, alpha) for majority in readings)


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


@dataclass(frozen=True, slots=True)
class _Table:
    """Every case reduced to one pass or fail in each arm."""

    both: int
    before_only: int
    after_only: int
    cases: int

    def shows(self, margin: float, alpha: Fraction) -> bool:
        """Whether the pass rate is shown to fall by less than the margin."""
        neither = self.cases - self.both - self.before_only - self.after_only
        confidence = float(1 - 2 * alpha)
        low = stats.newcombe_paired(self.both, self.before_only, self.after_only, neither, confidence)[1]
        if low < -margin:
            return False
        return stats.chance_of_net_loss(self.before_only, self.after_only, self.cases, margin) <= float(alpha)


def _table(figures: Figures, more: int, *, majority: bool) -> _Table:
    pairs = [
        (_passes(b, majority), _passes(a, majority)) for b, a in zip(figures.before, figures.after, strict=True)
    ] + [(True, True)] * more
    return _Table(pairs.count((True, True)), pairs.count((True, False)), pairs.count((False, True)), len(pairs))


def _passes(hundredths: tuple[int, ...], majority: bool) -> bool:
    passed = sum(score == 100 for score in hundredths)
    return 2 * passed > len(hundredths) if majority else passed == len(hundredths)
