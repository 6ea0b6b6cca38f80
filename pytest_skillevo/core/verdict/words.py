"""The sentences of a decision: counts first, no bare p, plain words (shared tone of all screens)."""

from __future__ import annotations

from .. import stats
from .records import Comparison, CriticalFinding, Rules


def counted(n: int, noun: str) -> str:
    """`1 case`, `2 cases`."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def points(share: float) -> str:
    """A share of the score in points: 0.1 is `10 points`."""
    amount = f"{100 * share:.4g}"
    return f"{amount} point" if amount == "1" else f"{amount} points"


def runs_each(comparison: Comparison) -> str:
    """`(3 runs each)`, and how many cases are left out."""
    left_out = f"; {counted(comparison.missing, 'case')} without a valid pair left out" if comparison.missing else ""
    return f"({counted(comparison.repeats, 'run')} each{left_out})"


def head(comparison: Comparison, *, worse_first: bool = False) -> str:
    """`Better on 15 of 30 holdout cases, same on 14, worse on 1 (3 runs each)`."""
    cases = f"{comparison.cases} holdout {'case' if comparison.cases == 1 else 'cases'}"
    if not comparison.better and not comparison.worse:
        which = "the only holdout case" if comparison.cases == 1 else f"all {cases}"
        return f"Same on {which} {runs_each(comparison)}"
    if worse_first:
        tail = f"same on {comparison.same}, better on {comparison.better} {runs_each(comparison)}"
        return f"Worse on {comparison.worse} of {cases}, {tail}"
    tail = f"same on {comparison.same}, worse on {comparison.worse} {runs_each(comparison)}"
    return f"Better on {comparison.better} of {cases}, {tail}"


def chance(p: float, limit: float, rules: Rules) -> str:
    """`Chance alone: p = 0.03, limit 0.05`, with as many digits as the comparison of the two needs."""
    where = " on these very cases" if rules.claim == "these-tasks" else ""
    return f"Chance alone{where}: {p_value(p, limit)}, limit {limit:.4g}"


def p_value(p: float, limit: float) -> str:
    """`p = 0.03`, or `p < 0.0001`; never rounded onto or across the limit."""
    if p < 0.0001:
        return "p < 0.0001"
    least = 1 if p < 0.095 else 2
    for digits in range(least, 7):
        shown = float(f"{p:.{digits}g}")
        if shown != limit and (shown < limit) == (p < limit):
            break
    return f"p = {p:.{digits}g}"


def settle(count: int | None, kind: str = "won and none lost") -> str:
    """`1 more case won and none lost would settle it.`"""
    if count is None:
        return "More cases like these would hardly settle it."
    return f"{count} more {'case' if count == 1 else 'cases'} {kind} would settle it."


def tokens(comparison: Comparison) -> str:
    """`tokens x0.86`."""
    ratio = None if comparison.tokens is None else comparison.tokens.ratio
    return "no tokens used" if ratio is None else f"tokens x{ratio:.2f}"


def critical(finding: CriticalFinding) -> str:
    """`h1-07 (0 of 5 fresh runs passed after 5 of 5)`, or the means when scores are graded."""
    fresh = finding.rerun_before is not None and finding.rerun_after is not None
    before = finding.rerun_before if finding.rerun_before is not None else finding.before
    after = finding.rerun_after if finding.rerun_after is not None else finding.after
    kind = "fresh run" if fresh else "run"
    if all(score in (0, 1) for score in (*before, *after)):
        found = f"{sum(after):.0f} of {counted(len(after), kind)} passed after {sum(before):.0f} of {len(before)}"
    else:
        means = (sum(each) / len(each) for each in (stats.rounded(after), stats.rounded(before)))
        now, then = (f"{mean / 100:.2f}" for mean in means)
        found = f"mean {now} over {counted(len(after), kind)} after {then}"
    tested = "" if finding.p is None else f", chance alone p = {finding.p:.2g}"
    return f"{finding.case_id} ({found}{tested})"
