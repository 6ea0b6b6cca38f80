"""Minibatches: epoch-shuffled chunks of the feedback split, as a pure function of seed and iteration."""

from __future__ import annotations

from functools import lru_cache

from ..draws import shuffled


def epoch_batch(cases: tuple[str, ...], size: int, *, seed: int, iteration: int) -> tuple[str, ...]:
    """The minibatch of an iteration (numbered from 1): `size` distinct cases, or all when there are fewer.

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


@lru_cache(maxsize=16)
def _epoch(cases: tuple[str, ...], seed: int, epoch: int) -> tuple[str, ...]:
    return tuple(shuffled(cases, seed, epoch, "search-epoch"))
