"""Per-case Pareto fronts and the tickets drawn from them, in one pass over bit masks (spec/gepa.md 1.7 and 4.2).

The reference removes dominated candidates in a loop that starts anew after each removal. A removal can only make others
harder to remove, so one ascending pass with a count of survivors for each case keeps the same candidates.
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
        # Who stands on no front now never will again: nobody looks at it any more.
        self._order = [entry for entry in self._order if self._won[entry[1]]]
        counts = _Counts()
        for _, index in self._order:
            counts.add(self._won[index])
        kept = []
        for _, index in self._order:
            won = self._won[index]
            if won & ~counts.shared:
                kept.append(index)
            else:
                counts.remove(won)
        return kept


class _Counts:
    """A small number per case, bit-sliced: plane k holds bit k of every case's number, so all cases count at once."""

    def __init__(self) -> None:
        self._planes: list[int] = []

    @property
    def shared(self) -> int:
        """The cases whose number is at least 2."""
        shared = 0
        for plane in self._planes[1:]:
            shared |= plane
        return shared

    def add(self, mask: int) -> None:
        """Add 1 for the cases in the mask."""
        place = 0
        while mask:
            if place == len(self._planes):
                self._planes.append(0)
            plane = self._planes[place]
            self._planes[place] = plane ^ mask
            mask &= plane
            place += 1

    def remove(self, mask: int) -> None:
        """Take off 1 for the cases in the mask, whose numbers are at least 1."""
        place = 0
        while mask:
            plane = self._planes[place]
            self._planes[place] = plane ^ mask
            mask &= ~plane
            place += 1
