"""Comparators: how near a delivered value is to the truth, in [0, 1]. They take any JSON value and never raise."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

Comparator: TypeAlias = Callable[[Any, Any], float]
"""(given, truth) -> 1.0 for equal, 0.0 for wrong, between for partly right."""

#: What an honest artifact holds where the source has no value (spec/suites.md 3.3).
SENTINEL: Final[Mapping[str, bool]] = {"unavailable": True}


def is_sentinel(value: Any) -> bool:
    """Whether a delivered value is exactly the gap sentinel."""
    return isinstance(value, dict) and value.keys() == SENTINEL.keys() and value["unavailable"] is True


def text(given: Any, truth: Any) -> float:
    """The very text."""
    return float(isinstance(given, str) and given == truth)


def whole(given: Any, truth: Any) -> float:
    """The very whole number, as a number: no text, no decimals, no booleans."""
    return float(isinstance(given, int) and not isinstance(given, bool) and given == truth)


def near(tolerance: float) -> Comparator:
    """A number within the tolerance; text and booleans are no numbers."""

    def compare(given: Any, truth: float) -> float:
        if not isinstance(given, int | float) or isinstance(given, bool):
            return 0.0
        # Compared, not subtracted: an int may be too large for a float. A hair more than stated, so that 20.05 is
        # within 0.05 of 20.1 in binary too.
        return float(truth - tolerance - 1e-9 <= given <= truth + tolerance + 1e-9)

    return compare


def yes_no(given: Any, truth: bool) -> float:
    """The very boolean."""
    return float(given is truth)


def ordered(given: Any, truth: Sequence[str]) -> float:
    """A list in the very order: the share of places that are right, over the longer of the two lists."""
    if not isinstance(given, list):
        return 0.0
    right = sum(1 for one, other in zip(given, truth, strict=False) if isinstance(one, str) and one == other)
    return right / max(len(given), len(truth), 1)


def members(given: Any, truth: Sequence[str]) -> float:
    """A list with the same members in any order: F1, in which repeated and foreign members count as wrong."""
    if not isinstance(given, list):
        return 0.0
    wanted = set(truth)
    right = len({one for one in given if isinstance(one, str)} & wanted)
    return 2 * right / (len(given) + len(wanted)) if given or wanted else 1.0


def nullable(compare: Comparator) -> Comparator:
    """Null where the truth is null, else as `compare` says. For values inside an object."""
    return lambda given, truth: float(given is None) if truth is None else compare(given, truth)


def parts(**comparators: Comparator) -> Comparator:
    """An object with these keys: the mean over its parts; further keys do not count."""

    def compare(given: Any, truth: Mapping[str, Any]) -> float:
        if not isinstance(given, dict):
            return 0.0
        return sum(compare(given.get(key), truth[key]) for key, compare in comparators.items()) / len(comparators)

    return compare
