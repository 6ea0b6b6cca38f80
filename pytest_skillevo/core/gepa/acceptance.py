"""Whether a child that ran on its parent's minibatch goes on to validation, and when that is certain already."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from .pool import total


class Acceptance(Protocol):
    """Judges a child on its minibatch; asked once per proposal.

    A criterion with a true attribute `monotone` never refuses a child for a higher score; its verdict may then be
    taken as soon as the cases still open cannot change it.
    """

    def __call__(self, parent: Sequence[float], child: Sequence[float]) -> bool:
        """Whether the child goes on to validation; scores of the same cases in the same order."""


def strictly_better(parent: Sequence[float], child: Sequence[float]) -> bool:
    """Whether the sum of the child's scores is higher."""
    return total(child) > total(parent)


def at_least_as_good(parent: Sequence[float], child: Sequence[float]) -> bool:
    """Whether the sum of the child's scores is not lower."""
    return total(child) >= total(parent)


_MONOTONE: Final = (strictly_better, at_least_as_good)


def certain(accept: Acceptance, parent: Sequence[float], child: Sequence[float | None]) -> bool | None:
    """The verdict if no score in [0, 1] of the open cases (None) can change it, else None."""
    if accept not in _MONOTONE and not getattr(accept, "monotone", False):
        return None
    if accept(parent, [0.0 if score is None else score for score in child]):
        return True
    return None if accept(parent, [1.0 if score is None else score for score in child]) else False
