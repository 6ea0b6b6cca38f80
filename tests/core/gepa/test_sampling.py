"""Minibatches."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from pytest_skillevo.core.gepa.sampling import epoch_batch


def split(count: int) -> tuple[str, ...]:
    return tuple(f"f-{i}" for i in range(count))


@given(st.integers(1, 20), st.integers(1, 8), st.integers(0, 5), st.integers(1, 60))
def test_a_batch_never_holds_a_case_twice_and_is_capped_by_the_split(count, size, seed, iteration):
    batch = epoch_batch(split(count), size, seed=seed, iteration=iteration)
    assert len(batch) == len(set(batch)) == min(size, count)
    assert set(batch) <= set(split(count))


@given(st.integers(1, 20), st.integers(1, 8), st.integers(0, 5), st.integers(0, 4))
def test_every_epoch_shows_each_case_once_or_twice(count, size, seed, epoch):
    chunks = -(-count // min(size, count))
    used = Counter(
        case
        for i in range(chunks)
        for case in epoch_batch(split(count), size, seed=seed, iteration=epoch * chunks + i + 1)
    )
    assert set(used) == set(split(count))
    assert max(used.values()) <= 2
    assert sum(used.values()) == chunks * min(size, count)


def test_epochs_and_seeds_differ_in_their_order():
    orders = {epoch_batch(split(30), 30, seed=seed, iteration=i) for seed in (1, 2) for i in (1, 2, 3)}
    assert len(orders) == 6
