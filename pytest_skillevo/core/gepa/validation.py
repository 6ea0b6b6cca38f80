"""Validation policies: how much of the validation split a child that won its minibatch has to run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from ..draws import shuffled

#: Cases that are asked for at once by the policies that may stop.
CHUNK: Final = 10
#: Chance that racing drops a child that is not worse than its parent.
RACE_ALPHA: Final = 0.05
#: Stakes of the betting test, a grid: nobody knows beforehand how much worse a child is.
_STAKES: Final = (0.1, 0.2, 0.35, 0.5, 0.7, 0.9)


@dataclass(frozen=True, slots=True)
class Race:
    """A child in validation: scores so far in the order in which they were asked, its parent's row, the best mean."""

    done: Mapping[str, float]
    parent: Mapping[str, float]
    best: float
    #: Cases of the whole split.
    total: int


class ValidationPolicy(Protocol):
    """Decides in which portions a child is validated and when it is given up."""

    def chunks(self, cases: tuple[str, ...], *, seed: int, iteration: int) -> Iterator[tuple[str, ...]]:
        """The cases in portions, each case once, a pure function of the arguments."""

    def hopeless(self, race: Race) -> str | None:
        """Why the child need not go on, None if it must. A child given up never enters the pool."""


class Full:
    """Every child runs the whole split."""

    def chunks(self, cases: tuple[str, ...], *, seed: int, iteration: int) -> Iterator[tuple[str, ...]]:
        """All at once."""
        yield cases

    def hopeless(self, race: Race) -> str | None:
        """Never."""
        return None


class Racing:
    """A child is given up when it is worse than its parent beyond chance, by a test that may look at any time.

    The cases come in random order without replacement. Under "not worse" the next difference has a mean of at least
    -S / (N - t), S being the sum of the t differences so far (Waudby-Smith and Ramdas 2020), so a bet against the
    child cannot grow on average; capital above 1 / RACE_ALPHA happens with a chance of RACE_ALPHA at most.
    """

    def chunks(self, cases: tuple[str, ...], *, seed: int, iteration: int) -> Iterator[tuple[str, ...]]:
        """Portions of a shuffle."""
        order = shuffled(cases, seed, iteration, "search-race")
        for start in range(0, len(order), CHUNK):
            yield tuple(order[start : start + CHUNK])

    def hopeless(self, race: Race) -> str | None:
        """When the bet against the child has won."""
        differences = [score - race.parent[case] for case, score in race.done.items()]
        if capital(differences, race.total) < 1 / RACE_ALPHA:
            return None
        return f"worse than its parent on {len(race.done)} of {race.total} validation cases (racing, 5 %)"


class Bound:
    """A child is given up when not even perfect scores on the rest would make it the best.

    Nothing that could have become the best is lost; with parents from the fronts, specialists are.
    """

    def chunks(self, cases: tuple[str, ...], *, seed: int, iteration: int) -> Iterator[tuple[str, ...]]:
        """Portions in the order of the split."""
        for start in range(0, len(cases), CHUNK):
            yield cases[start : start + CHUNK]

    def hopeless(self, race: Race) -> str | None:
        """When the best possible mean is not above the best mean of the pool."""
        left = race.total - len(race.done)
        highest = (math.fsum(race.done.values()) + left) / race.total
        if round(highest, 9) > race.best:
            return None
        return f"its mean can be {highest:.4f} at most after {len(race.done)} of {race.total} cases"


def capital(differences: list[float], total: int) -> float:
    """The capital of a bet that the mean of all `total` differences (child minus parent, in [-1, 1]) is below 0."""
    capitals = [1.0] * len(_STAKES)
    highest, drawn = 1.0, 0.0
    for count, difference in enumerate(differences):
        fair = max(-1.0, min(1.0, -drawn / (total - count)))
        for place, stake in enumerate(_STAKES):
            # The stake never puts more at risk than there is: the loss of a round is 1 - fair at most.
            capitals[place] *= 1 + min(stake, 0.99 / (1 - fair) if fair < 1 else stake) * (fair - difference)
        drawn += difference
        highest = max(highest, sum(capitals) / len(capitals))
    return highest
