"""Fictional worlds: records whose every datum is a keyed draw (spec/suites.md 3.2).

The key of a datum is (version, family, split, draw, entity, field, ...), so a new field never moves an old value. Names
come from one pool per family that is split by index modulo three: no entity ever occurs in two splits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Final, TypeAlias, TypeVar

from ..core.canonical import digest_json
from ..core.draws import draw_bits, draw_int, pick, shuffled
from ..core.errors import ConfigError
from ..core.records import SPLITS, Split

T = TypeVar("T")

Record: TypeAlias = dict[str, Any]
"""One entity of a world; `id` and `name` are always there."""


def words(text: str) -> tuple[str, ...]:
    """The entries of a list that is written with commas."""
    return tuple(word.strip() for word in text.split(","))


@dataclass(frozen=True, slots=True)
class Chance:
    """A point in the tree of keyed draws."""

    key: tuple[str | int, ...]

    def at(self, *more: str | int) -> Chance:
        """The point below this one."""
        return Chance((*self.key, *more))

    def whole(self, low: int, high: int) -> int:
        """A whole number from low to high, both included."""
        return low + draw_int(high - low + 1, *self.key)

    def pick(self, options: Sequence[T]) -> T:
        """One of the options."""
        return pick(options, *self.key)

    def order(self, items: Sequence[T]) -> list[T]:
        """The items in a drawn order."""
        return shuffled(items, *self.key)

    def several(self, options: Sequence[T], count: int) -> list[T]:
        """`count` different options, cheaply: a start and a stride are drawn. The number of options must be prime."""
        bits = draw_bits(*self.key)
        start, stride = bits % len(options), 1 + (bits >> 32) % (len(options) - 1)
        return [options[(start + k * stride) % len(options)] for k in range(count)]


@dataclass(frozen=True, slots=True)
class Syllables:
    """How a family's invented words sound: a word is two or three syllables, each one onset and one rhyme."""

    onsets: tuple[str, ...]
    rhymes: tuple[str, ...]

    def word(self, chance: Chance) -> str:
        """One capitalised word."""
        parts = [
            chance.at(place, "onset").pick(self.onsets) + chance.at(place, "rhyme").pick(self.rhymes)
            for place in range(chance.at("length").whole(2, 3))
        ]
        return "".join(parts).capitalize()


@dataclass(frozen=True, slots=True, kw_only=True)
class Population:
    """The entities of a family: how many a world has, how they are named, what is drawn for each of them.

    `attributes` are drawn in order, each from (chance, record so far). `shape` may then change the whole population:
    what is true of it only as a whole, such as group sizes. `groups` are the attributes by which tools list records.
    """

    size: int
    syllables: Syllables
    #: Second words of names, such as "Pot"; they say nothing about the entity.
    kinds: tuple[str, ...]
    attributes: Mapping[str, Callable[[Chance, Record], Any]]
    shape: Callable[[Chance, list[Record]], None]
    groups: tuple[str, ...]
    #: Real names, lower case, that must not come out of the generator.
    denied: tuple[str, ...] = ()


@dataclass(frozen=True)
class World:
    """One finished world; `records` are in the order of their ids."""

    version: str
    split: Split
    draw: int
    records: tuple[Record, ...]
    grouped: Mapping[str, Mapping[str, tuple[Record, ...]]]

    @cached_property
    def by_id(self) -> Mapping[str, Record]:
        """Records by id."""
        return {record["id"]: record for record in self.records}

    @cached_property
    def by_name(self) -> Mapping[str, Record]:
        """Records by case-folded name."""
        return {record["name"].casefold(): record for record in self.records}

    @cached_property
    def digest(self) -> str:
        """Digest of all records."""
        return digest_json(self.records)

    def group(self, attribute: str, value: str) -> tuple[Record, ...]:
        """Records whose attribute has (or, for lists, holds) the value, case-folded; in the order of ids."""
        return self.grouped[attribute].get(value.casefold(), ())


#: Words that are tried for every name that is needed.
ATTEMPTS: Final = 200


@cache
def names(
    version: str, size: int, syllables: Syllables, kinds: tuple[str, ...], denied: tuple[str, ...]
) -> tuple[str, ...]:
    """A pool of names in which no name is contained in another, so that a search for one finds only that one."""
    chance = Chance((version, "name"))
    words: set[str] = set()
    endings: set[str] = set()
    found: list[str] = []
    attempt = 0
    while len(found) < size:
        attempt += 1
        if attempt > ATTEMPTS * size:
            raise ConfigError(
                f"{version}: the syllables make only {len(found)} different names, {size} are needed (three times"
                " Population.size): give Syllables more onsets or rhymes, or deny fewer names"
            )
        word = syllables.word(chance.at(attempt))
        low = word.casefold()
        tails = {low[start:] for start in range(len(low))}
        if low in endings or tails & words or any(low in real or real in low for real in denied):
            continue
        words.add(low)
        endings |= tails
        found.append(f"{word} {chance.at(attempt, 'kind').pick(kinds)}")
    return tuple(found)


def split_names(version: str, population: Population, split: Split) -> tuple[str, ...]:
    """The part of the name pool that belongs to one split: every third name."""
    pool = names(version, population.size * len(SPLITS), population.syllables, population.kinds, population.denied)
    return pool[SPLITS.index(split) :: len(SPLITS)]


def build_world(version: str, population: Population, split: Split, draw: int) -> World:
    """Draw one world. Pure; callers memoise it by (version, split, draw)."""
    chance = Chance((version, split, draw))
    records: list[Record] = []
    for name, number in zip(split_names(version, population, split), _ids(chance, population.size, split), strict=True):
        record: Record = {"id": number, "name": name}
        entity = chance.at(name)
        for attribute, generate in population.attributes.items():
            record[attribute] = generate(entity.at(attribute), record)
        records.append(record)
    population.shape(chance.at("shape"), records)
    records.sort(key=lambda record: str(record["id"]))
    grouped = {attribute: _group(records, attribute) for attribute in population.groups}
    return World(version, split, draw, tuple(records), grouped)


def _ids(chance: Chance, size: int, split: Split) -> Iterator[str]:
    """Five-digit ids in drawn order; modulo three they tell the split, so ids are not shared between splits either."""
    step = 30_000 // size
    for place in chance.at("ids").order(range(size)):
        number = 3_334 + place * (step - 1) + chance.at("id", place).whole(0, step - 2)
        yield str(3 * number + SPLITS.index(split))


def _group(records: Sequence[Record], attribute: str) -> dict[str, tuple[Record, ...]]:
    found: dict[str, list[Record]] = {}
    for record in records:
        value = record[attribute]
        for one in value if isinstance(value, list) else [value]:
            found.setdefault(str(one).casefold(), []).append(record)
    return {value: tuple(members) for value, members in found.items()}
