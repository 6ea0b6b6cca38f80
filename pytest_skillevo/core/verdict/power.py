"""What a plan can show, for the plan screen."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .. import stats
from . import words
from .records import Record, Rules

#: Variance of a case's difference: a part between cases and a part that repeats average out. Fitted to the simulated
#: deviations of spec/statistics.md 5.2 (0.5, 0.3, 0.24, 0.19 for 1, 3, 5, 10 repeats).
_BETWEEN, _WITHIN = 0.0125, 0.2325
FIVE_POINTS = 0.05


@dataclass(frozen=True, slots=True)
class PowerNote(Record):
    """What `cases` x `repeats` can show at 80 % with an assumed deviation `sd` of the differences.

    `smallest_gain` in score units, None when no result could be proof; `smallest_p` is that of a clean sweep.
    `cases_for_five_points` is how many cases a gain of 0.05 needs; `clean_cases` how many cases without a single loss
    show that a change is not worse than the margin.
    """

    cases: int
    repeats: int
    sd: float
    smallest_gain: float | None
    smallest_p: float
    cases_for_five_points: int
    clean_cases: int

    @property
    def sentence(self) -> str:
        """The line of the plan screen."""
        plan = f"{words.counted(self.cases, 'holdout case')} x {words.counted(self.repeats, 'repeat')}"
        five = f"a 5-point gain needs about {self.cases_for_five_points} cases"
        if self.smallest_gain is None:
            return f"{plan} can show no gain, whatever the results (at best p = {self.smallest_p:.2g}); {five}"
        return f"{plan} can show a gain of {words.points(round(self.smallest_gain, 2))} or more; {five}"


def power_note(n: int, repeats: int, rules: Rules | None = None) -> PowerNote:
    """What n cases with so many repeats can show under the rules' alpha and margin (default rules if None)."""
    rules = rules or Rules()
    sd = round(math.sqrt(_BETWEEN + _WITHIN / repeats), 2)
    gain = stats.detectable_gain(n, sd, rules.alpha)
    return PowerNote(
        n,
        repeats,
        sd,
        gain if gain is not None and gain <= 1 else None,
        0.5**n,
        stats.tasks_needed(FIVE_POINTS, sd, rules.alpha),
        stats.clean_cases_needed(rules.margin, rules.alpha),
    )
