"""Minibatches, as pure functions of seed, iteration and what is known of the cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import Protocol

from ..draws import draw_bits, shuffled


class History:
    """What the search knows of its feedback cases: how often each was drawn and how a parent last did on it."""

    def __init__(self) -> None:
        self.uses: Counter[str] = Counter()
        #: The latest score of a parent; a case that was never drawn is not in it.
        self.scores: dict[str, float] = {}

    def drawn(self, scores: Mapping[str, float]) -> None:
        """Note the scores of a parent on a minibatch."""
        self.uses.update(scores.keys())
        self.scores.update(scores)


class BatchSampler(Protocol):
    """Chooses the minibatch."""

    def __call__(
        self, cases: tuple[str, ...], size: int, *, seed: int, iteration: int, history: History
    ) -> tuple[str, ...]:
        """Distinct cases, at most `size`, a pure function of the arguments. Iterations are numbered from 1."""


def epoch_batch(
    cases: tuple[str, ...], size: int, *, seed: int, iteration: int, history: History | None = None
) -> tuple[str, ...]:
    """The next chunk of a shuffle: `size` distinct cases, or all when there are fewer.

    Every epoch is a new shuffle cut into chunks, so that no case waits for ever; the last chunk is filled up from the
    start of the same shuffle (spec/gepa.md 2.3). When the number of cases changes, the following iterations read the
    chunks of the new split.
    """
    size = min(size, len(cases))
    chunks = -(-len(cases) // size)
    epoch, chunk = divmod(iteration - 1, chunks)
    order = _epoch(cases, seed, epoch)
    batch = order[chunk * size : (chunk + 1) * size]
    return batch + order[: size - len(batch)]


def independent_batch(
    cases: tuple[str, ...], size: int, *, seed: int, iteration: int, history: History | None = None
) -> tuple[str, ...]:
    """The start of a shuffle that is new in every iteration."""
    return tuple(shuffled(cases, seed, iteration, "search-batch")[:size])


def hardest_batch(cases: tuple[str, ...], size: int, *, seed: int, iteration: int, history: History) -> tuple[str, ...]:
    """The cases on which parents last did worst, unseen ones before all; of equal ones the least used, then by lot."""

    def rank(case: str) -> tuple[float, int, int]:
        score = history.scores.get(case, -1.0)
        return score, history.uses[case], draw_bits(seed, iteration, "search-batch", case)

    return tuple(sorted(cases, key=rank)[:size])


@lru_cache(maxsize=16)
def _epoch(cases: tuple[str, ...], seed: int, epoch: int) -> tuple[str, ...]:
    return tuple(shuffled(cases, seed, epoch, "search-epoch"))
