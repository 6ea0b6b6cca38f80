"""The interval that inverts the sign-flip test: means of all non-empty subsets of cases (Hartigan's typical values).

With k = floor(alpha * 2^n), the k-th smallest and k-th largest subset means are one-sided bounds at alpha. The lower
one lies above zero exactly when the sign flip gives p <= alpha, so that interval and verdict never disagree.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Final

from .lattice import Number, level, on_lattice
from .permutation import sign_flip
from .resample import subset_sums

ALPHA: Final = Fraction(1, 20)
#: Cases up to which subsets are counted; above, 10,000 keyed random subsets stand for all.
MOST_COUNTED: Final = 100
SUBSET_DRAWS: Final = 10_000
#: Machine words of the count table; about half a second.
_WORDS: Final = 12_000_000
#: Cases whose subsets may be listed one by one when their sums are too many to be counted by value.
_LISTED: Final = 14


@dataclass(frozen=True, slots=True)
class Interval:
    """Lower and upper bound; `exact` is False when subsets were drawn."""

    low: Fraction
    high: Fraction
    exact: bool


def subset_mean_interval(differences: Sequence[Number], alpha: Number = ALPHA) -> Interval | None:
    """The interval with `alpha` on each side (0.05: a 90 % interval); None with too few cases (at 0.05: below 5)."""
    side = level(alpha)
    n = len(differences)
    rank = math.floor(side * (1 << n))
    if rank == 0:
        return None
    lattice = on_lattice(differences)
    points, unit = sorted(lattice.points), lattice.unit
    last = (1 << n) - 1
    table = _SubsetTable.of(points)
    if table is not None:
        return Interval(table.mean(rank) * unit, table.mean(last + 1 - rank) * unit, True)
    if n <= _LISTED:
        means = _listed(points)
        return Interval(means[rank - 1] * unit, means[last - rank] * unit, True)
    low, high = _drawn(points, side)
    return Interval(low * unit, high * unit, False)


@dataclass(frozen=True, slots=True)
class _SubsetTable:
    """For each size m, how many subsets of size m weigh at most s, packed in fields of `width` bytes for s = 0, 1, ...

    Weights are measured from the smallest one, `lowest`, so that none is negative.
    """

    lowest: int
    n: int
    width: int
    tops: list[int]
    cumulated: list[bytes]

    @classmethod
    def of(cls, points: Sequence[int]) -> _SubsetTable | None:
        """Count the subsets of sorted points, or None when that is too much."""
        n, lowest = len(points), points[0]
        weights = [point - lowest for point in points]
        width = (n + 8) // 8
        tops = [sum(weights[n - size :]) for size in range(n + 1)]
        if n > MOST_COUNTED or sum(top + 1 for top in tops) * width * 8 // 30 > _WORDS:
            return None
        packed = [1] + [0] * n
        for i, weight in enumerate(weights):
            for size in range(i + 1, 0, -1):
                packed[size] += packed[size - 1] << (8 * width * weight)
        cumulated = [_running_sums(fields, top + 1, width) for fields, top in zip(packed, tops, strict=True)]
        return cls(lowest, n, width, tops, cumulated)

    def mean(self, rank: int) -> Fraction:
        """The rank-th smallest mean of a non-empty subset (rank from 1)."""
        # Two different means s/m with m <= n are more than 1/n^2 apart: find the cell of that grid, then the one in it.
        cells = self.n * self.n
        low, high = -1, (self.tops[1]) * cells
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._at_most(middle, cells) >= rank else (middle, high)
        for size in range(1, self.n + 1):
            total = high * size // cells
            if total * cells > low * size and total <= self.tops[size]:
                return self.lowest + Fraction(total, size)
        raise AssertionError("a cell that holds the rank holds a mean")

    def _at_most(self, cell: int, cells: int) -> int:
        """How many non-empty subsets have a mean of at most cell / cells (above the lowest weight)."""
        count = 0
        for size in range(1, self.n + 1):
            at = min(cell * size // cells, self.tops[size]) * self.width
            count += int.from_bytes(self.cumulated[size][at : at + self.width], "little")
        return count


def _running_sums(packed: int, fields: int, width: int) -> bytes:
    """Replace every field by the sum of the fields up to it, by doubling strides."""
    stride = 1
    mask = (1 << (8 * width * fields)) - 1
    while stride < fields:
        packed = (packed + (packed << (8 * width * stride))) & mask
        stride *= 2
    return packed.to_bytes(fields * width, "little")


def _listed(points: Sequence[int]) -> list[Fraction]:
    """All subset means in order, compared as whole numbers over a common denominator."""
    n = len(points)
    common = math.lcm(*range(1, n + 1))
    sums = [(0, 0)]
    for point in points:
        sums += [(total + point, size + 1) for total, size in sums]
    return [
        Fraction(mean, common) for mean in sorted(total * (common // size) for total, size in islice(sums, 1, None))
    ]


def _drawn(points: Sequence[int], side: Fraction) -> tuple[Fraction, Fraction]:
    """Bounds from random subsets, moved to the side of zero that the sign flip decides."""
    # One whole number carries sum and size of a subset: sizes stay below `base`.
    base = len(points) + 1
    pairs = (divmod(both, base) for both in subset_sums([p * base + 1 for p in points], SUBSET_DRAWS, "subset-means"))
    means = sorted(Fraction(total, size) for total, size in pairs if size)
    rank = max(1, math.floor(side * len(means)))
    test = sign_flip(points)
    low, high = means[rank - 1], means[-rank]
    if (low > 0) != (test.greater <= side):
        low = next((mean for mean in means if mean > 0), means[-1]) if low <= 0 else Fraction(0)
    if (high < 0) != (test.less <= side):
        high = next((mean for mean in reversed(means) if mean < 0), means[0]) if high >= 0 else Fraction(0)
    return low, high
