"""Two searches over monotone questions."""

from __future__ import annotations

from collections.abc import Callable


def root(rising: Callable[[float], float], low: float, high: float) -> float:
    """Where a rising function crosses zero between low and high, by bisection to the last digit."""
    while True:
        middle = (low + high) / 2
        if not low < middle < high:
            return middle
        low, high = (low, middle) if rising(middle) > 0 else (middle, high)


def least(holds: Callable[[int], bool], limit: int) -> int | None:
    """The smallest whole number up to `limit` from which something holds on; None when there is none."""
    if holds(0):
        return 0
    low, high = 0, 1
    while not holds(high):
        if high >= limit:
            return None
        low, high = high, min(2 * high, limit)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
