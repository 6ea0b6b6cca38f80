"""Per-case Pareto fronts and the tickets drawn from them, in one pass over bit masks (spec/gepa.md 1.7 and 4.2).

The reference removes dominated candidates in a loop that starts anew after each removal. A removal can only make others
harder to remove, so one ascending pass keeps the same candidates: each is removed unless it stands on a front on which
nobody kept before it and nobody after it does.
"""

from __future__ import annotations

import heapq
from bisect import insort
from collections.abc import Sequence
from typing import NamedTuple


class Ticket(NamedTuple):
    """A candidate, by its place in the pool, and the number of lots that it holds in the draw of a parent."""

    candidate: int
    weight: int


class Fronts:
    """For every validation case the candidates with the exact maximum score on it.

    Adding a candidate costs O(cases) amortised: each front membership is entered once and struck out once.
    """

    def __init__(self, cases: int) -> None:
        self._highest = [float("-inf")] * cases
        #: The cases that have a front, one bit each.
        self._open = 0
        self._members: list[list[int]] = [[] for _ in range(cases)]
        #: Per candidate the cases on whose front it stands, one bit each.
        self._won: list[int] = []
        #: (mean, index) ascending: the order in which candidates are tried for removal. Of equal ones the older goes
        #: first: a child that gained on feedback and changed nothing on validation is a step, its parent is none. With
        #: pass/fail scores, where such ties are common, keeping the older one stops the search (docs/search.md).
        self._order: list[tuple[float, int]] = []
        self._best = 0
        self._means: list[float] = []
        self._tickets: dict[bool, tuple[Ticket, ...]] = {}

    def add(self, scores: Sequence[float], mean: float) -> int:
        """Enter the next candidate with its score on each case; returns its index."""
        index = len(self._won)
        won = 0
        for case, score in enumerate(scores):
            if score < self._highest[case] or score == float("-inf"):
                continue
            bit = 1 << case
            if score > self._highest[case]:
                self._highest[case] = score
                for beaten in self._members[case]:
                    self._won[beaten] &= ~bit
                self._members[case] = []
            self._members[case].append(index)
            won |= bit
        self._won.append(won)
        self._open |= won
        self._means.append(mean)
        if mean > self._means[self._best]:
            self._best = index
        insort(self._order, (mean, index))
        self._tickets.clear()
        return index

    @property
    def best(self) -> int:
        """The candidate with the highest mean; of several the oldest."""
        return self._best

    def won(self, index: int) -> int:
        """On how many fronts a candidate stands."""
        return self._won[index].bit_count()

    def leaders(self, count: int) -> list[int]:
        """The candidates with the highest means, the best first; of several the newest, as in the pruning."""
        return heapq.nsmallest(count, range(len(self._means)), key=lambda index: (-self._means[index], -index))

    def tickets(self, *, floor: bool = True) -> tuple[Ticket, ...]:
        """The candidates that may be drawn, in pool order, weighted by the cases on whose front they stand.

        With `floor` the best mean always holds a ticket, although pruning may remove it when specialists cover all its
        cases (spec/gepa.md 4.3). Without, the reference's exact rule. Computed once after each addition.
        """
        if floor not in self._tickets:
            kept = self._survivors()
            if floor and not any(self._means[index] == self._means[self._best] for index in kept):
                kept.append(self._best)
            self._tickets[floor] = tuple(Ticket(index, max(1, self._won[index].bit_count())) for index in sorted(kept))
        return self._tickets[floor]

    def _survivors(self) -> list[int]:
        """A candidate stays when it alone, among those kept before it and all after it, stands on some front.

        From the best mean down, the fronts taken are complete after a few candidates where ties are many: all below
        those are removed, and nobody looks at them.
        """
        taken = 0
        #: (candidate, fronts of all after it), the best mean first.
        after: list[tuple[int, int]] = []
        for _, index in reversed(self._order):
            if taken == self._open:
                break
            if self._won[index]:
                after.append((index, taken))
                taken |= self._won[index]
        kept, held = [], 0
        for index, higher in reversed(after):
            if self._won[index] & ~(held | higher):
                kept.append(index)
                held |= self._won[index]
        return kept
