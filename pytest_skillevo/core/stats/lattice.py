"""Putting numbers on a common integer grid, so that equal sums are equal and nothing is lost to rounding.

Ties decide exact tests, and floats miss them: thirds as floats give 0.586 where counting gives 0.594 (5.3 of
spec/statistics.md).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias

Number: TypeAlias = int | float | Fraction

#: A float this close to a fraction with a small denominator is that fraction (1/3, 0.1 + 0.2).
SNAP_TOLERANCE: Final = 1e-12
SNAP_DENOMINATOR: Final = 10_000


@dataclass(frozen=True, slots=True)
class Lattice:
    """Whole numbers `points` with the true values `points[i] * unit`."""

    points: tuple[int, ...]
    unit: Fraction


def exact(value: Number) -> Fraction:
    """The value as a fraction; floats next to a simple fraction become it. Raises ValueError for NaN and infinity."""
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"a finite number is needed, not {value!r}")
        simple = Fraction(value).limit_denominator(SNAP_DENOMINATOR)
        return simple if abs(simple - Fraction(value)) <= SNAP_TOLERANCE else Fraction(value)
    return Fraction(value)


def level(value: Number) -> Fraction:
    """A level such as alpha as it was written: the float 0.05 is 1/20, not its binary neighbour."""
    return Fraction(repr(value)) if isinstance(value, float) else Fraction(value)


def on_lattice(values: Iterable[Number]) -> Lattice:
    """The values on the coarsest grid that holds them all. Arbitrary floats give an enormous, still exact, grid."""
    fractions = [exact(value) for value in values]
    denominator = math.lcm(*(fraction.denominator for fraction in fractions))
    points = [fraction.numerator * (denominator // fraction.denominator) for fraction in fractions]
    step = math.gcd(*points) or 1
    return Lattice(tuple(point // step for point in points), Fraction(step, denominator))


def rounded(scores: Sequence[float]) -> tuple[int, ...]:
    """Scores in whole hundredths, the precision that is tested."""
    return tuple(round(score * 100) for score in scores)
