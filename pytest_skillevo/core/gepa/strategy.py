"""The choices of a search that can be made differently, in one place."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Protocol

from ..draws import draw_int
from ..skill import Skill
from .components import round_robin
from .pool import Pool, total
from .sampling import epoch_batch


class ParentSelector(Protocol):
    """Chooses the skill to mutate."""

    def __call__(self, pool: Pool, *, seed: int, iteration: int) -> int:
        """The place in the pool, a pure function of the arguments."""


class BatchSampler(Protocol):
    """Chooses the minibatch."""

    def __call__(self, cases: tuple[str, ...], size: int, *, seed: int, iteration: int) -> tuple[str, ...]:
        """Distinct cases, at most `size`, a pure function of the arguments."""


class ComponentSelector(Protocol):
    """Chooses the component to change."""

    def __call__(self, skill: Skill, cursor: int) -> str:
        """The component's name; `cursor` counts the proposals made so far from this skill and its ancestors."""


class Acceptance(Protocol):
    """Judges a child on its minibatch; asked once per proposal."""

    def __call__(self, parent: Sequence[float], child: Sequence[float]) -> bool:
        """Whether the child goes on to validation; scores of the same cases in the same order."""


def pareto_parent(pool: Pool, *, seed: int, iteration: int) -> int:
    """A candidate drawn by its tickets: the cases on whose front it stands after pruning, with a floor for the best."""
    tickets = pool.fronts.tickets()
    bounds = list(accumulate(ticket.weight for ticket in tickets))
    return tickets[bisect_right(bounds, draw_int(bounds[-1], seed, iteration, "search-parent"))].candidate


def strictly_better(parent: Sequence[float], child: Sequence[float]) -> bool:
    """Whether the sum of the child's scores is higher."""
    return total(child) > total(parent)


@dataclass(frozen=True, slots=True)
class Strategy:
    """The policies of one search."""

    select_parent: ParentSelector = pareto_parent
    sample: BatchSampler = epoch_batch
    select_component: ComponentSelector = round_robin
    accept: Acceptance = strictly_better
