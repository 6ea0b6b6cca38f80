"""Operational replay: two groups with shared skill state side by side. It can lower a decision, never raise it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from .. import stats
from . import words
from .records import (
    Decision,
    Goal,
    ReplayComparison,
    ReplayEvidence,
    ReplayPair,
    ReplayStatus,
    Rules,
    Verdict,
)

#: Tokens of `optimized` in percent of `evolution` from which a cost goal is lost.
COSTLIER_PERCENT = 102

_RANK = {Verdict.ACCEPT: 2, Verdict.INCONCLUSIVE: 1}


def compare_replay(pairs: Sequence[ReplayPair]) -> ReplayComparison:
    """The numbers of the pairs that ran in both groups, over (root seed, task); nulls when none did."""
    changes = _changes(pairs)
    scored = [change for each in changes.values() for change in each]
    both = [(p.evolution, p.optimized) for p in pairs if p.evolution is not None and p.optimized is not None]
    return ReplayComparison(
        pairs=len(scored),
        better=sum(change > 0 for change in scored),
        same=sum(change == 0 for change in scored),
        worse=sum(change < 0 for change in scored),
        missing=len(pairs) - len(scored),
        mean_evolution=_mean([evolution for evolution, _ in both]),
        mean_optimized=_mean([optimized for _, optimized in both]),
        change=float(sum(scored) / len(scored)) if scored else None,
        p_worse=float(stats.sign_flip(scored).less) if scored else None,
        seeds=tuple((seed, float(sum(each) / len(each))) for seed, each in changes.items()),
        tokens_evolution=_total([pair.tokens_evolution for pair in pairs]),
        tokens_optimized=_total([pair.tokens_optimized for pair in pairs]),
    )


def replay_by_family(replay: ReplayEvidence, rules: Rules) -> dict[str, tuple[ReplayComparison, ReplayStatus]]:
    """The numbers of every family whose skill changed, and what they say alone; all of them decide together."""
    found: dict[str, list[ReplayPair]] = {}
    for pair in replay.judged:
        found.setdefault(pair.family, []).append(pair)
    asked = Decision(Verdict.ACCEPT, f"{rules.goal.value}-superior", "")
    return {
        family: (compare_replay(pairs), lower_by_replay(asked, ReplayEvidence(tuple(pairs)), rules)[1])
        for family, pairs in sorted(found.items())
    }


def lower_by_replay(decision: Decision, replay: ReplayEvidence, rules: Rules) -> tuple[Decision, ReplayStatus]:
    """The decision after replay, and what the replay says: it never comes out better than it went in.

    Incomplete evidence blocks. A mirror test at alpha over (root seed, task), a loss beyond the margin in every root
    seed, or 2 % more end-to-end tokens where a cost is claimed, rejects.
    """
    problem = _incomplete(replay) or _unmeasured(decision, replay, rules)
    if problem is not None:
        return _lowered(decision, problem), "incomplete"
    worse = _worse(decision, replay, rules)
    if worse is not None:
        return _lowered(decision, worse), "worse"
    total = sum(change for each in _changes(replay.judged).values() for change in each)
    return decision, "held" if total >= 0 else "cannot tell"


def _lowered(decision: Decision, to: Decision) -> Decision:
    return to if _RANK.get(decision.verdict, 0) > _RANK.get(to.verdict, 0) else decision


def _changes(pairs: Sequence[ReplayPair]) -> dict[int, list[Fraction]]:
    """Root seed -> changes in score of the tasks that ran in both groups, in tested precision."""
    changes: dict[int, list[Fraction]] = {}
    for pair in sorted(pairs, key=lambda pair: pair.root_seed):
        if pair.evolution is not None and pair.optimized is not None:
            evolution, optimized = stats.rounded([pair.evolution, pair.optimized])
            changes.setdefault(pair.root_seed, []).append(Fraction(optimized - evolution, 100))
    return changes


def _mean(scores: Sequence[float]) -> float | None:
    return sum(stats.rounded(scores)) / (100 * len(scores)) if scores else None


def _total(tokens: Sequence[int | None]) -> int | None:
    known = [each for each in tokens if each is not None]
    return sum(known) if known and len(known) == len(tokens) else None


def _incomplete(replay: ReplayEvidence) -> Decision | None:
    missing = sum(pair.evolution is None or pair.optimized is None for pair in replay.pairs)
    missing += max(0, (replay.planned or 0) - len(replay.pairs))
    sizes = Counter(pair.root_seed for pair in replay.judged)
    if missing:
        planned = max(replay.planned or 0, len(replay.pairs))
        problem = f"{missing} of {words.counted(planned, 'replay task')} did not run in both groups"
    elif not sizes:
        problem = "No replay task used the changed skill"
    elif len(set(sizes.values())) > 1:
        problem = (
            f"The root seeds ran from {min(sizes.values())} to {max(sizes.values())} replay tasks, not the same number"
        )
    else:
        return None
    return Decision(Verdict.BLOCKED, "replay-incomplete", f"{problem}; nothing can be claimed.")


def _cost_claimed(decision: Decision, rules: Rules) -> bool:
    return rules.goal is Goal.cost or decision.rule == "cost-superior"


def _unmeasured(decision: Decision, replay: ReplayEvidence, rules: Rules) -> Decision | None:
    unknown = sum(pair.tokens_evolution is None or pair.tokens_optimized is None for pair in replay.judged)
    if not unknown or not _cost_claimed(decision, rules):
        return None
    tasks = words.counted(len(replay.judged), "replay task")
    reason = f"Token use is unknown on {unknown} of {tasks}; without it no cost can be claimed."
    return Decision(Verdict.BLOCKED, "unknown-usage", reason)


def _worse(decision: Decision, replay: ReplayEvidence, rules: Rules) -> Decision | None:
    changes = _changes(replay.judged)
    test = stats.sign_flip([change for each in changes.values() for change in each])
    result = compare_replay(replay.judged)
    counts = (
        f"In replay worse on {result.worse} of {words.counted(result.pairs, 'task')}, same on {result.same}, "
        f"better on {result.better} ({words.counted(len(changes), 'root seed')})"
    )
    if test.less <= stats.level(rules.alpha):
        chance = f"Chance alone: {words.p_value(float(test.less), rules.alpha)}, limit {rules.alpha:.4g}"
        return Decision(Verdict.REJECT, "replay-worse", f"{counts}. {chance}.")
    margin = stats.level(rules.margin)
    if all(sum(each) < -margin * len(each) for each in changes.values()):
        reason = f"{counts}: every root seed lost more than the margin of {words.points(rules.margin)}."
        return Decision(Verdict.REJECT, "replay-worse-every-seed", reason)
    evolution, optimized = result.tokens_evolution, result.tokens_optimized
    if not _cost_claimed(decision, rules) or evolution is None or optimized is None:
        return None
    if optimized > evolution and 100 * optimized >= COSTLIER_PERCENT * evolution:
        reason = f"In replay {optimized:,} tokens end-to-end after {evolution:,}, where a lower cost is claimed."
        return Decision(Verdict.REJECT, "replay-costlier", reason)
    return None
