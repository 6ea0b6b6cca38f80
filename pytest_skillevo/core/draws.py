"""Keyed draws: chance as a pure function of a key, so that no result depends on call order, worker or hash seed.

A key is any sequence of strings and integers. Adding a draw elsewhere never moves the others, which a shared
generator could not promise (spec/suites.md 3.2).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def draw_bits(*key: str | int) -> int:
    """64 bits drawn by BLAKE2b over the key."""
    text = "\x1f".join(map(str, key))
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def draw(*key: str | int) -> float:
    """A number in [0, 1)."""
    return (draw_bits(*key) >> 11) / (1 << 53)


def draw_int(bound: int, *key: str | int) -> int:
    """A whole number in [0, bound)."""
    return draw_bits(*key) % bound


def seed_of(*key: str | int) -> int:
    """A seed of 31 bits, which every provider and library takes."""
    return draw_bits(*key) >> 33


def pick(options: Sequence[T], *key: str | int) -> T:
    """One of the options."""
    return options[draw_int(len(options), *key)]


def shuffled(items: Sequence[T], *key: str | int) -> list[T]:
    """The items in an order drawn by the key; item i's place depends on the key and i only."""
    return [items[i] for i in sorted(range(len(items)), key=lambda i: (draw_bits(*key, i), i))]
