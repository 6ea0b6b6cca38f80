"""Critical cases: which looked lower, what their fresh runs say, and how often a rule refuses an unchanged skill."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import comb

from .. import stats
from .compare import mean
from .records import CriticalFinding, CriticalRule, FindingVerdict, PairedCase, Rules


def flagged_criticals(cases: Sequence[PairedCase], rules: Rules) -> tuple[str, ...]:
    """Ids of the critical cases that scored lower and must be rerun, in the order given; none under rule `any`."""
    if rules.critical is CriticalRule.any:
        return ()
    return tuple(case.case_id for case in cases if case.critical and _lower(case))


def findings(
    cases: Sequence[PairedCase], reruns: Mapping[str, PairedCase], rules: Rules
) -> tuple[CriticalFinding, ...]:
    """What became of every critical case. Only the fresh runs count against a flagged one (spec/statistics.md 5.2).

    A flagged case with fewer than `rules.rerun_repeats` fresh pairs is missing. Raises ValueError for a rerun filed
    under another case.
    """
    if any(case_id != rerun.case_id for case_id, rerun in reruns.items()):
        raise ValueError("a rerun is filed under another case")
    flagged = flagged_criticals(cases, rules)
    fresh = {i: reruns[i] for i in flagged if i in reruns and len(reruns[i].before) >= rules.rerun_repeats}
    chances = _chances(fresh) if rules.critical is CriticalRule.tested else {}
    alpha = stats.level(rules.alpha)

    def verdict(case: PairedCase) -> FindingVerdict:
        if case.missing:
            return "missing"
        if not _lower(case):
            return "ok"
        if rules.critical is CriticalRule.any:
            return "worse"
        if case.case_id not in fresh:
            return "missing"
        chance = chances.get(case.case_id)
        confirmed = _lower(fresh[case.case_id]) if chance is None else chance <= alpha
        return "worse" if confirmed else "flagged, held on rerun"

    def finding(case: PairedCase) -> CriticalFinding:
        rerun = reruns.get(case.case_id) if case.case_id in flagged else None
        return CriticalFinding(
            case.case_id,
            rules.critical,
            case.before,
            case.after,
            None if rerun is None else rerun.before,
            None if rerun is None else rerun.after,
            verdict(case),
            chances.get(case.case_id),
        )

    return tuple(finding(case) for case in cases if case.critical)


def false_alarm_rate(
    rule: CriticalRule, repeats: int, rerun_repeats: int, rate: float = 0.9, alpha: float = 0.05
) -> float:
    """The chance that the rule refuses an unchanged skill on one critical case with the given true pass rate.

    Counted over all outcomes of pass/fail runs; 3 repeats and 5 fresh ones at 90 % give about 5.5 % for `rerun`.
    """
    flagged = _chance_of(repeats, rate, lambda b, a: a < b)
    if rule is CriticalRule.any:
        return flagged
    if rule is CriticalRule.rerun:
        return flagged * _chance_of(rerun_repeats, rate, lambda b, a: a < b)
    bound = stats.level(alpha)
    return flagged * _chance_of(rerun_repeats, rate, lambda b, a: _fisher(b, a, rerun_repeats) <= bound)


def _lower(case: PairedCase) -> bool:
    """Whether the case scored lower after than before, in tested precision."""
    return not case.missing and mean(stats.rounded(case.after)) < mean(stats.rounded(case.before))


def _chances(fresh: Mapping[str, PairedCase]) -> dict[str, float]:
    """The exact chance of each rerun that is as low, adjusted by Holm over the cases that were rerun."""
    raw = [
        float(stats.within_tasks([stats.rounded(each.before)], [stats.rounded(each.after)]).less)
        for each in fresh.values()
    ]
    return dict(zip(fresh, stats.holm(raw), strict=True))


def _fisher(before: int, after: int, n: int) -> Fraction:
    """The chance that at most `after` of the passes fall into one of two arms of n runs."""
    passed = before + after
    ways = sum(comb(n, k) * comb(n, passed - k) for k in range(after + 1) if passed - k <= n)
    return Fraction(ways, comb(2 * n, passed))


def _chance_of(n: int, rate: float, event: Callable[[int, int], bool]) -> float:
    """The chance of an event in (passes before, passes after) of n runs each, both arms with the same pass rate."""
    weights = [comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in range(n + 1)]
    return sum(weights[b] * weights[a] for b in range(n + 1) for a in range(n + 1) if event(b, a))
