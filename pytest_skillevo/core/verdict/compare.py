"""From paired runs to numbers: the comparison that is shown, and the exact figures that the decision needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import fmean, geometric_mean, median

from .. import stats
from .records import Comparison, PairedCase, Rules, TokenComparison

#: A run over this many times its case's median is a runaway.
RUNAWAY = 5


@dataclass(frozen=True, slots=True)
class Figures:
    """Exact figures over the cases that have a valid pair; scores in whole hundredths, one tuple a case."""

    comparison: Comparison
    valid: tuple[PairedCase, ...]
    before: tuple[tuple[int, ...], ...]
    after: tuple[tuple[int, ...], ...]
    #: after - before of each case, in score units (1 is a hundred points).
    differences: tuple[Fraction, ...]
    #: The test of the declared claim.
    test: stats.PermutationTest
    #: Geometric token ratio; None when a run is unmeasured.
    ratio: stats.RatioTest | None

    @property
    def pass_fail(self) -> bool:
        """Whether every score is a plain pass or fail."""
        return all(score in (0, 100) for runs in (*self.before, *self.after) for score in runs)


def compare(cases: Sequence[PairedCase], rules: Rules) -> Comparison:
    """Both arms over the cases, by the declared rules. Fewer than two cases or none at all give nulls, never NaN.

    Raises ValueError when a case id comes twice.
    """
    return figures(cases, rules).comparison


def figures(cases: Sequence[PairedCase], rules: Rules) -> Figures:
    """The comparison together with the exact figures under it."""
    if len({case.case_id for case in cases}) < len(cases):
        raise ValueError("a case id comes twice")
    valid = tuple(case for case in cases if not case.missing)
    before = tuple(stats.rounded(case.before) for case in valid)
    after = tuple(stats.rounded(case.after) for case in valid)
    differences = tuple(mean(a) - mean(b) for b, a in zip(before, after, strict=True))
    flips, these = stats.sign_flip(differences), stats.within_tasks(before, after)
    claim_is_these = rules.claim == "these-tasks"
    # The interval inverts the sign flip. Beside the other claim it could say the opposite, so it is left out there.
    interval = None if claim_is_these else stats.subset_mean_interval(differences, rules.alpha)
    ratio = _ratio(valid, rules)
    worse = sum(d < 0 for d in differences)
    comparison = Comparison(
        cases=len(valid),
        repeats=rules.repeats,
        better=sum(d > 0 for d in differences),
        same=sum(d == 0 for d in differences),
        worse=worse,
        mean_before=_overall(before),
        mean_after=_overall(after),
        change=float(sum(differences) / len(differences)) if differences else None,
        interval=None if interval is None else (float(interval.low), float(interval.high)),
        interval_level=float(1 - 2 * stats.level(rules.alpha)),
        p=float(flips.greater) if valid else None,
        p_worse=float(flips.less) if valid else None,
        p_these=float(these.greater) if valid else None,
        p_these_worse=float(these.less) if valid else None,
        exact=flips.exact and these.exact and (interval is None or interval.exact),
        passes_before=_passes([case.passed_before for case in valid]),
        passes_after=_passes([case.passed_after for case in valid]),
        reliability_before=_reliability([case.passed_before for case in valid], rules.repeats),
        reliability_after=_reliability([case.passed_after for case in valid], rules.repeats),
        regressed=worse,
        regressed_upper=stats.upper_bound(worse, len(valid), rules.alpha),
        tokens=None if ratio is None else _tokens(valid, ratio),
        unknown_usage=sum(_unmeasured(case) for case in valid),
        missing=len(cases) - len(valid),
        missing_pairs=sum(planned_pairs(case, rules) - len(case.before) for case in cases),
    )
    return Figures(comparison, valid, before, after, differences, these if claim_is_these else flips, ratio)


def planned_pairs(case: PairedCase, rules: Rules) -> int:
    """How many paired repeats the case was to have."""
    return max(rules.repeats, len(case.before) + case.dropped_pairs)


def mean(hundredths: Sequence[int]) -> Fraction:
    """The mean of scores in hundredths, in score units."""
    return Fraction(sum(hundredths), 100 * len(hundredths))


def _overall(scores: Sequence[Sequence[int]]) -> float | None:
    return float(sum(mean(each) for each in scores) / len(scores)) if scores else None


def _known_passes(passed: Sequence[Sequence[bool | None]]) -> list[list[bool]] | None:
    """Pass or fail of every run, None as soon as one is unknown."""
    known = [[each for each in runs if each is not None] for runs in passed]
    complete = all(runs and len(runs) == len(all_runs) for runs, all_runs in zip(known, passed, strict=True))
    return known if known and complete else None


def _passes(passed: Sequence[Sequence[bool | None]]) -> tuple[int, int] | None:
    known = _known_passes(passed)
    return None if known is None else (sum(map(sum, known)), sum(map(len, known)))


def _reliability(passed: Sequence[Sequence[bool | None]], k: int) -> float | None:
    """pass^k averaged over the cases that have k runs."""
    shares = [stats.pass_hat_k(sum(runs), len(runs), k) for runs in _known_passes(passed) or ()]
    known = [share for share in shares if share is not None]
    return fmean(known) if known else None


def _unmeasured(case: PairedCase) -> bool:
    """Whether a run's tokens are unknown. No tokens in one arm only is a meter that did not run, not a saving."""
    runs = (*case.tokens_before, *case.tokens_after)
    if len(runs) < 2 * len(case.before) or None in runs:
        return True
    return any(case.tokens_before) != any(case.tokens_after)


def _arm(runs: Sequence[int | None]) -> list[int]:
    return [run for run in runs if run is not None]


def _ratio(valid: Sequence[PairedCase], rules: Rules) -> stats.RatioTest | None:
    if any(_unmeasured(case) for case in valid):
        return None
    before = [fmean(_arm(case.tokens_before)) for case in valid]
    after = [fmean(_arm(case.tokens_after)) for case in valid]
    return stats.geometric_ratio(before, after, rules.alpha)


def _typical(arm: Sequence[Sequence[int]]) -> float:
    """The geometric mean over cases of a case's mean, so that the two arms stand in the ratio beside them."""
    used = [fmean(runs) for runs in arm if any(runs)]
    return geometric_mean(used) if used else 0.0


def _tokens(valid: Sequence[PairedCase], ratio: stats.RatioTest) -> TokenComparison:
    before, after = [_arm(case.tokens_before) for case in valid], [_arm(case.tokens_after) for case in valid]
    limits = [RUNAWAY * median([*b, *a]) for b, a in zip(before, after, strict=True)]
    total_before, total_after = sum(map(sum, before)), sum(map(sum, after))
    used = total_before > 0
    return TokenComparison(
        cases=len(valid),
        before_mean=_typical(before),
        after_mean=_typical(after),
        ratio=ratio.ratio if used else None,
        interval=ratio.interval if used else None,
        p=float(ratio.lower) if used else None,
        p_worse=float(ratio.higher) if used else None,
        runaway_before=sum(run > limit for runs, limit in zip(before, limits, strict=True) for run in runs),
        runaway_after=sum(run > limit for runs, limit in zip(after, limits, strict=True) for run in runs),
        total_before=total_before,
        total_after=total_after,
        per_success_before=_per_success(total_before, _passes([case.passed_before for case in valid])),
        per_success_after=_per_success(total_after, _passes([case.passed_after for case in valid])),
    )


def _per_success(total: int, passes: tuple[int, int] | None) -> float | None:
    return total / passes[0] if passes is not None and passes[0] else None
