"""Runs that gave no score: how many may be lost before a comparison means nothing."""

from __future__ import annotations

from collections.abc import Sequence

from . import words
from .compare import planned_pairs
from .records import CriticalFinding, Decision, PairedCase, Rules, Verdict

#: Of cases without a valid pair, and of paired repeats: more than one in so many blocks.
MOST_MISSING_ONE_IN = 10
#: Of repeats lost in one arm more than in the other.
MOST_UNEQUAL_ONE_IN = 20


def incomplete(cases: Sequence[PairedCase], criticals: Sequence[CriticalFinding], rules: Rules) -> Decision | None:
    """The BLOCKED decision when too much is missing, else None."""
    if not cases:
        return Decision(Verdict.BLOCKED, "no-cases", "No holdout case was run; nothing can be claimed.")
    problem = _critical(criticals) or _too_many(cases, rules) or _unequal(cases, rules)
    return None if problem is None else Decision(Verdict.BLOCKED, "missing-runs", f"{problem}; nothing can be claimed.")


def _critical(criticals: Sequence[CriticalFinding]) -> str | None:
    first = [finding.case_id for finding in criticals if finding.verdict == "missing" and not finding.before]
    again = [finding.case_id for finding in criticals if finding.verdict == "missing" and finding.before]
    if first:
        return f"{words.counted(len(first), 'critical case')} did not run ({', '.join(first)})"
    if again:
        return (
            f"{words.counted(len(again), 'critical case')} looked worse and was not rerun in full ({', '.join(again)})"
        )
    return None


def _too_many(cases: Sequence[PairedCase], rules: Rules) -> str | None:
    missing = sum(case.missing for case in cases)
    if missing * MOST_MISSING_ONE_IN > len(cases):
        return f"{missing} of {words.counted(len(cases), 'holdout case')} did not run"
    planned = sum(planned_pairs(case, rules) for case in cases)
    lost = planned - sum(len(case.before) for case in cases)
    if lost * MOST_MISSING_ONE_IN > planned:
        return f"{lost} of {planned} paired runs of {words.counted(len(cases), 'holdout case')} gave no score"
    return None


def _unequal(cases: Sequence[PairedCase], rules: Rules) -> str | None:
    planned = sum(planned_pairs(case, rules) for case in cases)
    before = after = untold = 0
    for case in cases:
        if case.lost_before is None or case.lost_after is None:
            untold += planned_pairs(case, rules) - len(case.before)
        else:
            before, after = before + case.lost_before, after + case.lost_after
    if (abs(before - after) + untold) * MOST_UNEQUAL_ONE_IN <= planned:
        return None
    lost = f"{before} runs were lost before and {after} after"
    unknown = f", {untold} in an arm that nobody named" if untold else ""
    return f"{lost}{unknown}, of {planned} in each arm: the arms lose runs unequally"
