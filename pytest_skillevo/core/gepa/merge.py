"""Merging: what two candidates of a common ancestor have each improved, in one skill (spec/gepa.md 2.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from ..draws import draw, draw_int, pick, shuffled
from ..errors import SkillError
from ..skill import Skill
from .components import component_cycle
from .pool import Pool

#: Pairs tried in one attempt, and ancestors tried for each.
_TRIES: Final = 10
#: Validation cases on which a merge is compared with its parents before it runs the others.
_TRIAL: Final = 5
_EACH: Final = 2


class Merge(NamedTuple):
    """A merge worth trying: the skill and the places of its parents."""

    skill: Skill
    left: int
    right: int
    #: Components that neither parent has alone: those taken from the right.
    taken: tuple[str, ...]


class Merger:
    """Finds merges and remembers which were tried."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._due = 0
        self._accepted = 0
        self._tried: set[tuple[int, int, int]] = set()
        self._choices: set[tuple[int, int, tuple[str, ...]]] = set()

    @property
    def due(self) -> bool:
        """Whether an accepted proposal has earned a merge that is still to be tried."""
        return self._due > 0

    def earn(self) -> None:
        """Note an accepted proposal."""
        if self._accepted < self._limit:
            self._due += 1

    def accept(self) -> None:
        """Note an accepted merge; only these use up what was earned."""
        self._due -= 1
        self._accepted += 1
        if self._accepted >= self._limit:
            self._due = 0

    def find(self, pool: Pool, *, seed: int, iteration: int, known: Callable[[str], bool]) -> Merge | None:
        """A merge of two candidates that survive the pruning, None when no new one is found.

        `known(digest)` says that a skill need not be tried.
        """
        places = [ticket.candidate for ticket in pool.fronts.tickets(floor=False)]
        if len(places) < 2:
            return None
        for attempt in range(_TRIES):
            key = (seed, iteration, "search-merge", attempt)
            left, right = sorted(shuffled(places, *key)[:2])
            if found := self._merge(pool, left, right, key, known):
                return found
        return None

    def _merge(
        self, pool: Pool, left: int, right: int, key: tuple[int | str, ...], known: Callable[[str], bool]
    ) -> Merge | None:
        above = pool.ancestors(left), pool.ancestors(right)
        if left in above[1] or right in above[0]:
            return None
        common = [place for place in sorted(above[0] & above[1]) if self._serves(pool, place, left, right)]
        if not common:
            return None
        ancestor = _weighted(pool, common, key)
        self._tried.add((ancestor, left, right))
        texts = merged_texts(pool, ancestor, left, right, key)
        skill = pool.skill(left)
        taken = tuple(name for name, text in texts.items() if text != skill.components.get(name, ""))
        if (left, right, taken) in self._choices:
            return None
        self._choices.add((left, right, taken))
        try:
            for name in taken:
                skill = skill.with_component(name, texts[name])
        except SkillError:  # sections of free-form skills do not always fit into each other
            return None
        return None if known(skill.digest) else Merge(skill, left, right, taken)

    def _serves(self, pool: Pool, ancestor: int, left: int, right: int) -> bool:
        if (ancestor, left, right) in self._tried:
            return False
        means = [pool.entry(place).mean for place in (ancestor, left, right)]
        if means[0] > min(means[1:]):
            return False
        old, a, b = (pool.skill(place).components for place in (ancestor, left, right))
        return any((a.get(name) == old.get(name)) != (b.get(name) == old.get(name)) for name in {*old, *a, *b})


def merged_texts(pool: Pool, ancestor: int, left: int, right: int, key: Sequence[int | str]) -> dict[str, str]:
    """The text of every component: the one that was changed; where both were, that of the higher mean, else by lot."""
    old, a, b = (pool.skill(place).components for place in (ancestor, left, right))
    means = pool.entry(left).mean, pool.entry(right).mean
    texts = {}
    for name in component_cycle(pool.skill(ancestor)):
        ours, theirs = a.get(name, ""), b.get(name, "")
        if ours == theirs or theirs == old.get(name, ""):
            texts[name] = ours
        elif ours == old.get(name, "") or means[0] < means[1]:
            texts[name] = theirs
        elif means[0] > means[1]:
            texts[name] = ours
        else:
            texts[name] = pick((ours, theirs), *key, name)
    return texts


def trial_cases(pool: Pool, left: int, right: int, *key: int | str) -> tuple[str, ...]:
    """The validation cases of the first comparison: some where each side is better, some equal, the rest by lot."""
    a, b = pool.entry(left).scores, pool.entry(right).scores
    order = shuffled(pool.cases, *key, "search-trial")
    groups: Iterable[list[str]] = (
        [case for case in order if a[case] > b[case]],
        [case for case in order if a[case] < b[case]],
        [case for case in order if a[case] == b[case]],
    )
    first = [case for group in groups for case in group[:_EACH]]
    chosen = list(dict.fromkeys([*first, *order]))[: min(_TRIAL, len(order))]
    return tuple(case for case in pool.cases if case in chosen)


def _weighted(pool: Pool, places: Sequence[int], key: tuple[int | str, ...]) -> int:
    """One of the places, drawn by its mean; where all means are 0, any of them."""
    weights = [pool.entry(place).mean for place in places]
    total = sum(weights)
    if total <= 0:
        return places[draw_int(len(places), *key, "ancestor")]
    at = draw(*key, "ancestor") * total
    for place, weight in zip(places, weights, strict=True):
        at -= weight
        if at < 0:
            return place
    return places[-1]
