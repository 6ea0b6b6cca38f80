"""The decision: validity first, then what is shown to be worse, then the declared goal (spec/statistics.md 5.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from .. import stats
from . import words
from .compare import Figures, figures
from .critical import findings
from .inferiority import LEAST_GRADED, non_inferior
from .missing import incomplete
from .records import Comparison, Confirmation, CriticalFinding, Decision, Goal, PairedCase, Rules, Verdict

#: Additional cases beyond which "would settle it" is no help.
MOST_SETTLING = 1000


def confirm(holdout: Sequence[PairedCase], reruns: Mapping[str, PairedCase], rules: Rules) -> Confirmation:
    """Decide on the paired Holdout runs. `reruns` holds the fresh repeats of `flagged_criticals`, by case id.

    Raises ValueError for a case id that comes twice and for a rerun filed under another case.
    """
    return _confirm(holdout, reruns, rules, stats.level(rules.alpha))


def confirm_together(
    skills: Mapping[str, tuple[Sequence[PairedCase], Mapping[str, PairedCase]]], rules: Rules
) -> dict[str, Confirmation]:
    """Decide on several skills at once: (holdout, reruns) by name. Holm over them, so that more skills buy no luck.

    Only ACCEPT is made harder; what is shown to be worse is refused at the full alpha.
    """
    waiting, done = list(skills), dict[str, Confirmation]()
    while waiting:
        share = stats.level(rules.alpha) / len(waiting)
        round_ = {name: _confirm(*skills[name], rules, share) for name in waiting}
        accepted = [name for name in waiting if round_[name].decision.verdict is Verdict.ACCEPT]
        done.update({name: round_[name] for name in accepted or waiting})
        waiting = [name for name in waiting if name not in done]
    return {name: done[name] for name in skills}


def cap(decision: Decision, rule: str, reason: str) -> Decision:
    """Lower an ACCEPT to INCONCLUSIVE for a reason outside the numbers; every other verdict stays as it is."""
    return Decision(Verdict.INCONCLUSIVE, rule, reason) if decision.verdict is Verdict.ACCEPT else decision


def _confirm(
    holdout: Sequence[PairedCase], reruns: Mapping[str, PairedCase], rules: Rules, share: Fraction
) -> Confirmation:
    numbers, criticals = figures(holdout, rules), findings(holdout, reruns, rules)
    decision = (
        incomplete(holdout, criticals, rules)
        or (_unknown_usage(numbers) if rules.goal is Goal.cost else None)
        or _critical_regressed(criticals)
        or _shown_worse(numbers, rules)
        or _by_goal(numbers, rules, share)
    )
    return Confirmation(decision, numbers.comparison, criticals)


def _unknown_usage(numbers: Figures) -> Decision | None:
    unknown, n = numbers.comparison.unknown_usage, numbers.comparison.cases
    if not unknown:
        return None
    reason = (
        f"Token use is unknown on {unknown} of {words.counted(n, 'holdout case')}; without it no cost can be claimed."
    )
    return Decision(Verdict.BLOCKED, "unknown-usage", reason)


def _critical_regressed(criticals: Sequence[CriticalFinding]) -> Decision | None:
    worse = [words.critical(finding) for finding in criticals if finding.verdict == "worse"]
    if not worse:
        return None
    reason = f"{words.counted(len(worse), 'critical case')} got worse: {', '.join(worse)}."
    return Decision(Verdict.REJECT, "critical-regressed", reason)


def _shown_worse(numbers: Figures, rules: Rules) -> Decision | None:
    """The mirror test, before any goal: what is shown to be worse is not accepted, not even within a margin."""
    alpha, comparison = stats.level(rules.alpha), numbers.comparison
    if numbers.test.less <= alpha:
        chance = words.chance(float(numbers.test.less), rules.alpha, rules)
        reason = f"{words.head(comparison, worse_first=True)}. {chance}."
        return Decision(Verdict.REJECT, "quality-worse", reason)
    if rules.goal is Goal.cost and numbers.ratio is not None and numbers.ratio.higher <= alpha:
        chance = words.chance(float(numbers.ratio.higher), rules.alpha, rules)
        cases = words.counted(comparison.cases, "holdout case")
        reason = f"Costlier on {cases} {words.runs_each(comparison)}: {words.tokens(comparison)}. {chance}."
        return Decision(Verdict.REJECT, "cost-worse", reason)
    return None


@dataclass(frozen=True, slots=True)
class _Path:
    """One way to reach a goal: whether it is shown, and in which words it is or is not."""

    shown: bool
    rule: str
    reason: str
    settle: int | None = None

    def accepted(self) -> Decision:
        return Decision(Verdict.ACCEPT, self.rule, self.reason)


def _by_goal(numbers: Figures, rules: Rules, share: Fraction) -> Decision:
    if rules.goal is Goal.either:
        return _either(numbers, rules, share)
    path = {Goal.quality: _quality, Goal.cost: _cost, Goal.no_worse: _no_worse}[rules.goal](numbers, rules, share)
    return path.accepted() if path.shown else _open(path, rules)


def _either(numbers: Figures, rules: Rules, share: Fraction) -> Decision:
    """Holm over two paths of which one is enough: the better one must hold at half the level."""
    quality, cost = _quality(numbers, rules, share / 2), _cost(numbers, rules, share / 2)
    for path in (quality, cost):
        if path.shown:
            return path.accepted()
    unknown = _unknown_usage(numbers)
    if unknown is not None:
        return unknown
    nearer = min((quality, cost), key=lambda path: MOST_SETTLING + 1 if path.settle is None else path.settle)
    return _open(nearer, rules)


def _open(path: _Path, rules: Rules) -> Decision:
    return Decision(Verdict.INCONCLUSIVE, f"{rules.goal.value}-not-shown", path.reason, path.settle)


def _quality(numbers: Figures, rules: Rules, share: Fraction) -> _Path:
    comparison, limit = numbers.comparison, float(share)
    head = f"{words.head(comparison)}. {words.chance(float(numbers.test.greater), limit, rules)}."
    if numbers.test.greater <= share:
        return _Path(True, "quality-superior", head)
    # Where the cases are the whole population, there are no more of them to be had.
    these = rules.claim == "these-tasks"
    more = None if these else stats.wins_to_settle(numbers.differences, share, limit=MOST_SETTLING)
    if not comparison.better and not comparison.worse:
        head = f"{words.head(comparison)}: nothing differs, so nothing is shown."
    reason = f"{head} {'More runs of each case could settle it.' if these else words.settle(more)}"
    return _Path(False, "quality-superior", reason, more)


def _no_worse(numbers: Figures, rules: Rules, share: Fraction) -> _Path:
    comparison = numbers.comparison
    counts = _margin(comparison, rules)
    if non_inferior(numbers, rules, share):
        return _Path(True, "not-worse", f"Not worse. {counts}.")
    more = stats.least(lambda extra: non_inferior(numbers, rules, share, extra), MOST_SETTLING)
    if not numbers.pass_fail and comparison.cases < LEAST_GRADED:
        why = f"Not enough to show non-inferiority with graded scores: {LEAST_GRADED} cases are the least"
    elif not numbers.pass_fail:
        chance = stats.chance_of_loss([*map(float, numbers.differences)], rules.margin)
        shown = f"{words.p_value(chance, float(share))}, limit {float(share):.4g}"
        why = f"Too few to show that it is not worse. A loss of the margin could look like this: {shown}"
    else:
        upper = stats.upper_bound(comparison.regressed, comparison.cases, float(share))
        why = f"Too few to show that it is not worse: up to {100 * upper:.0f} % of such cases could lose"
    return _Path(False, "not-worse", f"{counts}. {why}. {words.settle(more, 'without a loss')}", more)


def _margin(comparison: Comparison, rules: Rules) -> str:
    return f"{words.head(comparison)}, margin {words.points(rules.margin)}"


def _cost(numbers: Figures, rules: Rules, share: Fraction) -> _Path:
    """Not worse and cheaper, each at the level: both must hold, so that no correction is due."""
    comparison, ratio = numbers.comparison, numbers.ratio
    if ratio is None:
        return _Path(False, "cost-superior", "Token use is unknown.")
    kept = _no_worse(numbers, rules, share)
    cheaper = ratio.lower <= share
    chance = words.chance(float(ratio.lower), float(share), rules)
    cost = f"{words.tokens(comparison)} on {words.counted(comparison.cases, 'holdout case')}. {chance}."
    if kept.shown and cheaper:
        return _Path(True, "cost-superior", f"Cheaper and not worse: {cost} {_margin(comparison, rules)}.")
    if kept.shown:
        more = stats.wins_to_settle([-log for log in ratio.logs], share, limit=MOST_SETTLING)
        return _Path(
            False,
            "cost-superior",
            f"Not shown to be cheaper: {cost} {words.settle(more, 'cheaper and none costlier')}",
            more,
        )
    return _Path(False, "cost-superior", kept.reason, kept.settle if cheaper else None)
