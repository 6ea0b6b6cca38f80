"""The two exact tests: sign flips over cases, and labels permuted inside each case (spec/statistics.md 5.2)."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Final

from .lattice import Number, level, on_lattice
from .resample import outcome_sums, subset_sums
from .search import least

#: Draws of a sign flip that is too big to count; p is then (hits + 1) / (draws + 1).
SIGN_FLIP_DRAWS: Final = 20_000
#: The same for labels inside cases, where one draw costs more.
WITHIN_DRAWS: Final = 2_000
#: Members of a half whose subsets are listed one by one instead of by their sums.
_LISTED: Final = 12
#: Machine words that counting may touch before drawing takes over; about half a second.
_WORDS: Final = 500_000_000


@dataclass(frozen=True, slots=True)
class PermutationTest:
    """One-sided chances of a result at least as high (`greater`) and at least as low (`less`) if arms are alike.

    `count` is the number of cases that differ at all. `exact` is False when the chances were drawn, not counted.
    """

    greater: Fraction
    less: Fraction
    count: int
    exact: bool

    @property
    def two_sided(self) -> Fraction:
        """Twice the smaller chance, at most 1."""
        return min(Fraction(1), 2 * min(self.greater, self.less))


def sign_flip(differences: Sequence[Number]) -> PermutationTest:
    """Test paired differences (after - before, one a case) by flipping signs; exact for scores on a lattice at any n.

    Arbitrary floats are exact up to 24 cases that differ, then 20,000 keyed draws. No case or only ties: both are 1.
    """
    points = [point for point in on_lattice(differences).points if point]
    wins = sum(point for point in points if point > 0)
    losses = -sum(point for point in points if point < 0)
    # A flipped sample is a subset S of sizes that turn negative; it is at least as high when S weighs at most `losses`.
    low, below = _subsets_within(sorted(map(abs, points)), min(wins, losses))
    total = 1 << len(points)
    if low is None or below is None:
        return _drawn_sign_flip(points, wins, losses)
    rare, common = Fraction(low, total), Fraction(total - below, total)
    greater, less = (rare, common) if losses <= wins else (common, rare)
    return PermutationTest(greater, less, len(points), True)


def _drawn_sign_flip(points: Sequence[int], wins: int, losses: int) -> PermutationTest:
    sums = list(subset_sums([abs(point) for point in points], SIGN_FLIP_DRAWS, "sign-flip"))
    high = sum(total <= losses for total in sums)
    low = sum(total >= losses for total in sums)
    return PermutationTest(
        Fraction(high + 1, SIGN_FLIP_DRAWS + 1), Fraction(low + 1, SIGN_FLIP_DRAWS + 1), len(points), False
    )


def _subsets_within(weights: Sequence[int], limit: int) -> tuple[int | None, int | None]:
    """How many subsets weigh at most `limit`, and less than `limit`; Nones when that is too much to count.

    The weights are split in two and each half is counted by its sums: two polynomials of half the width cost a
    quarter of one.
    """
    halves = weights[::2], weights[1::2]
    if any(len(half) > _LISTED and _words(half) > _WORDS for half in halves):
        return None, None
    first, second = (_counted(half) for half in halves)
    sums = sorted(second)
    upto = [0, *accumulate(second[total] for total in sums)]
    low = sum(count * upto[bisect_right(sums, limit - total)] for total, count in first.items())
    below = sum(count * upto[bisect_right(sums, limit - 1 - total)] for total, count in first.items())
    return low, below


def _words(weights: Sequence[int]) -> int:
    return len(weights) * (sum(weights) + 1) * (len(weights) + 1) // 30


def _counted(weights: Sequence[int]) -> dict[int, int]:
    """Sum -> number of subsets with that sum."""
    if len(weights) <= _LISTED:
        counts = Counter({0: 1})
        for weight in weights:
            counts.update({total + weight: count for total, count in list(counts.items())})
        return counts
    # The product of (1 + x^w), packed into one big integer with a field of whole bytes for each power of x.
    width = (len(weights) + 8) // 8
    packed = 1
    for weight in weights:
        packed += packed << (8 * width * weight)
    data = packed.to_bytes((sum(weights) + 1) * width, "little")
    fields = (int.from_bytes(data[i : i + width], "little") for i in range(0, len(data), width))
    return {total: count for total, count in enumerate(fields) if count}


def wins_to_settle(differences: Sequence[Number], alpha: Number, *, limit: int = 1000) -> int | None:
    """How many more cases, won by the usual size and none lost, bring the sign flip to p <= alpha.

    The usual size is the median of the wins so far, else of all differences, else any. 0 when it is settled already,
    None when `limit` cases would not do.
    """
    bound = level(alpha)
    points = on_lattice(differences).points
    sizes = sorted(p for p in points if p > 0) or sorted(-p for p in points if p < 0) or [1]
    win = sizes[len(sizes) // 2]

    return least(lambda more: sign_flip([*points, *[win] * more]).greater <= bound, limit)


def within_tasks(before: Sequence[Sequence[int]], after: Sequence[Sequence[int]]) -> PermutationTest:
    """Test the claim about these very cases: labels before/after permuted among the runs of each case.

    `before[i]` and `after[i]` are the whole-number scores of case i (at least one run each). The statistic is the sum
    over cases of the mean after; for pass/fail runs it is the hypergeometric convolution of spec/statistics.md 5.3.
    """
    runs = math.lcm(*(len(each) for each in after)) if after else 1
    observed, outcomes = 0, []
    for b, a in zip(before, after, strict=True):
        pooled = [*b, *a]
        if len(set(pooled)) == 1:
            continue
        share = runs // len(a)
        chosen = _choices(pooled, len(a))
        lowest = min(chosen)
        outcomes.append([((total - lowest) * share, count) for total, count in sorted(chosen.items())])
        observed += (sum(a) - lowest) * share
    step = math.gcd(observed, *(value for each in outcomes for value, _ in each)) or 1
    outcomes = [[(value // step, count) for value, count in each] for each in outcomes]
    return _convolved(outcomes, observed // step)


def _choices(pooled: Sequence[int], size: int) -> dict[int, int]:
    """Sum -> number of ways to choose `size` of the pooled runs with that sum."""
    ways: list[Counter[int]] = [Counter({0: 1}), *(Counter() for _ in range(size))]
    for score in pooled:
        for taken in range(size, 0, -1):
            ways[taken].update({total + score: count for total, count in ways[taken - 1].items()})
    return ways[size]


def _convolved(outcomes: Sequence[Sequence[tuple[int, int]]], observed: int) -> PermutationTest:
    total = math.prod(sum(count for _, count in each) for each in outcomes)
    width = total.bit_length() + 1
    top = sum(each[-1][0] for each in outcomes)
    if sum(map(len, outcomes)) * (top + 1) * width // 30 > _WORDS:
        sums = list(outcome_sums(outcomes, WITHIN_DRAWS, "within-tasks"))
        high, low = sum(s >= observed for s in sums), sum(s <= observed for s in sums)
        draws = WITHIN_DRAWS + 1
        return PermutationTest(Fraction(high + 1, draws), Fraction(low + 1, draws), len(outcomes), False)
    packed = 1
    for each in outcomes:
        packed = sum((packed * count) << (width * value) for value, count in each)
    at_most = _field_sum(packed, observed + 1, width)
    below = _field_sum(packed, observed, width)
    return PermutationTest(Fraction(total - below, total), Fraction(at_most, total), len(outcomes), True)


def _field_sum(packed: int, fields: int, width: int) -> int:
    """The sum of the lowest fields: fields are digits to the base 2^width, so the digit sum is a remainder."""
    return (packed & ((1 << (fields * width)) - 1)) % ((1 << width) - 1)
