"""Random subsets for problems too big to count, from keyed draws: the same data always give the same answer."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final

from ..draws import draw_bits

_CHUNK: Final = 8  # members decided by one table look-up
_WORD: Final = 64  # bits in one draw


def subset_sums(weights: Sequence[int], draws: int, *key: str | int) -> Iterator[int]:
    """The sums of `draws` random subsets; every member is in or out with chance 1/2."""
    chunks = [weights[i : i + _CHUNK] for i in range(0, len(weights), _CHUNK)]
    tables = [[sum(w for j, w in enumerate(chunk) if byte >> j & 1) for byte in range(256)] for chunk in chunks]
    for i in range(draws):
        total = 0
        for first in range(0, len(tables), _WORD // _CHUNK):
            bits = draw_bits(*key, i, first)
            for table in tables[first : first + _WORD // _CHUNK]:
                total += table[bits & 255]
                bits >>= _CHUNK
        yield total


def outcome_sums(outcomes: Sequence[Sequence[tuple[int, int]]], draws: int, *key: str | int) -> Iterator[int]:
    """Sums of one random outcome from each list of (value, count), drawn in proportion to the counts."""
    tables = [([value for value, _ in each], list(accumulate(count for _, count in each))) for each in outcomes]
    for i in range(draws):
        total = 0
        for j, (values, ends) in enumerate(tables):
            at = draw_bits(*key, i, j) * ends[-1] >> _WORD
            total += values[bisect_right(ends, at)]
        yield total
