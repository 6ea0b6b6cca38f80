"""What an evaluator of the public benchmark is made of: a common head, then its own parts (spec/suites.md 1.2).

The operations on an entry (`get`, `lower`, slicing) are deliberately the plain ones, so that an artifact that broke the
original breaks here too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

Part = tuple[float, int]
"""One part of a score: share in [0, 1], weight."""


class Head(NamedTuple):
    """The weights of the parts that all evaluators begin with."""

    file: int
    readable: int
    honest: int
    counted: int
    ids: int


class Rules(Protocol):
    """One family's evaluator at one level. What its methods raise, the original raised: a crash, no score."""

    @property
    def head(self) -> Head:
        """The weights of the first parts."""

    def entries(self, result: Any) -> Any:
        """The list of entries in a decoded artifact."""

    def found(self, entries: Any, expected: Sequence[Any]) -> int:
        """How many of the expected ids were delivered."""

    def parts(self, result: Any, entries: Any, expected: Sequence[Any]) -> list[Part]:
        """The shares and weights of the evaluator's own parts, in its order."""
