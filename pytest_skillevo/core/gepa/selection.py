"""Parent selection: which skill of the pool is mutated next."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Final, Protocol

from ..draws import draw_int
from .pareto import Ticket
from .pool import Pool

#: Candidates among which `top_k` draws.
TOP: Final = 5


class ParentSelector(Protocol):
    """Chooses the skill to mutate."""

    def __call__(self, pool: Pool, *, seed: int, iteration: int) -> int:
        """The place in the pool, a pure function of the arguments."""


def pareto_parent(pool: Pool, *, seed: int, iteration: int) -> int:
    """A candidate drawn by its tickets: the cases on whose front it stands after pruning, with a floor for the best."""
    return _drawn(pool.fronts.tickets(), seed, iteration)


def reference_parent(pool: Pool, *, seed: int, iteration: int) -> int:
    """The exact rule of the reference (spec/gepa.md 1.7): as `pareto_parent`, but pruning may starve the best mean."""
    return _drawn(pool.fronts.tickets(floor=False), seed, iteration)


def top_parent(pool: Pool, *, seed: int, iteration: int) -> int:
    """One of the TOP best means, drawn by the cases on whose front it stands; one that stands on none has one lot."""
    tickets = [Ticket(place, max(1, pool.fronts.won(place))) for place in sorted(pool.fronts.leaders(TOP))]
    return _drawn(tickets, seed, iteration)


def best_parent(pool: Pool, *, seed: int, iteration: int) -> int:
    """The best mean, of several the newest."""
    return pool.fronts.leaders(1)[0]


def _drawn(tickets: Sequence[Ticket], seed: int, iteration: int) -> int:
    bounds = list(accumulate(ticket.weight for ticket in tickets))
    return tickets[bisect_right(bounds, draw_int(bounds[-1], seed, iteration, "search-parent"))].candidate
