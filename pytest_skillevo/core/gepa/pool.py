"""The pool of validated skills with their fronts, and the memory of what was proposed and not taken."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..skill import Skill
from .pareto import Fronts
from .prompt import Attempt
from .results import PoolEntry

# Sums of floats carry noise in the last digits (0.1 + 0.2 > 0.3), which must decide nothing.
_DIGITS = 9


def total(scores: Sequence[float]) -> float:
    """The sum of scores to nine digits, whatever their order."""
    return round(math.fsum(scores), _DIGITS)


def mean(scores: Sequence[float]) -> float:
    """The mean of scores to nine digits, whatever their order."""
    return round(math.fsum(scores) / len(scores), _DIGITS)


@dataclass(slots=True)
class _Member:
    skill: Skill
    entry: PoolEntry
    #: Proposals made from it and its ancestors: the place in the cycle of components.
    cursor: int
    #: Places of the skills that it was made from.
    parents: tuple[int, ...]


class Pool:
    """Validated skills in the order in which they were accepted; the seed is the first and never leaves."""

    def __init__(self, cases: Sequence[str], *, cost_front: bool = False) -> None:
        #: Validation cases, in the order of the split.
        self.cases = tuple(cases)
        #: Who stands on which front; parents are drawn from it.
        self.fronts = Fronts(len(self.cases) + cost_front)
        self._cost_front = cost_front
        self._members: list[_Member] = []
        self._places: dict[str, int] = {}

    def add(
        self,
        skill: Skill,
        scores: Mapping[str, float],
        *,
        iteration: int,
        parent: int | None = None,
        merged: int | None = None,
        component: str | None = None,
        rationale: str = "",
        cost: float | None = None,
    ) -> PoolEntry:
        """Enter a skill with its validation score by case; a child starts at its parent's cursor.

        `merged` is the second parent of a merge.
        """
        row = [scores[case] for case in self.cases]
        source = None if parent is None else self._members[parent]
        entry = PoolEntry(
            skill.digest,
            None if source is None else source.entry.digest,
            component,
            rationale,
            dict(zip(self.cases, row, strict=True)),
            mean(row),
            iteration,
            cost,
            None if merged is None else self._members[merged].entry.digest,
        )
        if self._cost_front:
            # Who costs least stands on this front; an unknown cost stands on none.
            row.append(-math.inf if cost is None else -cost)
        self._places[skill.digest] = self.fronts.add(row, entry.mean)
        parents = tuple(place for place in (parent, merged) if place is not None)
        self._members.append(_Member(skill, entry, 0 if source is None else source.cursor, parents))
        return entry

    def __len__(self) -> int:
        return len(self._members)

    def __contains__(self, digest: object) -> bool:
        return digest in self._places

    def skill(self, index: int) -> Skill:
        """The skill at a place in the pool."""
        return self._members[index].skill

    def entry(self, index: int) -> PoolEntry:
        """The entry at a place in the pool."""
        return self._members[index].entry

    def ancestors(self, index: int) -> set[int]:
        """The places of all skills that the member descends from, itself not among them."""
        found: set[int] = set()
        waiting = list(self._members[index].parents)
        while waiting:
            place = waiting.pop()
            if place not in found:
                found.add(place)
                waiting += self._members[place].parents
        return found

    def next_cursor(self, index: int) -> int:
        """The member's cursor, which moves on at once: also when nothing comes of the proposal."""
        member = self._members[index]
        member.cursor += 1
        return member.cursor - 1

    @property
    def best(self) -> PoolEntry:
        """The highest mean; of several the oldest."""
        return self._members[self.fronts.best].entry

    def pick(self, epsilon: float = 0.0) -> PoolEntry:
        """The skill to hand over: the highest mean; of several the seed, else the shortest, then the oldest.

        With an epsilon the cheapest of those whose mean is at most that much lower; who has no known cost is not cheap.
        """
        best = self.best.mean
        if epsilon > 0:
            near = [
                place for place, member in enumerate(self._members) if member.entry.mean >= round(best - epsilon, 9)
            ]
            priced = [(self.entry(place).cost, len(self.skill(place).text), place) for place in near]
            known = [(cost, size, place) for cost, size, place in priced if cost is not None]
            if known:
                return self.entry(min(known)[2])
        level = [place for place, member in enumerate(self._members) if member.entry.mean == best]
        return self.entry(min(level, key=lambda place: (place > 0, len(self.skill(place).text), place)))

    def pick_plain(self) -> PoolEntry:
        """The shortest skill that is at most one standard error worse than the best mean; of several the oldest.

        The error is that of the mean difference over the validation cases, on which both were run with one seed.
        """
        best = self.pick()
        near = [
            place for place, member in enumerate(self._members) if _within_one_error(best.scores, member.entry.scores)
        ]
        return self.entry(min(near, key=lambda place: (len(self.skill(place).text), place)))

    @property
    def entries(self) -> tuple[PoolEntry, ...]:
        """All entries, oldest first."""
        return tuple(member.entry for member in self._members)


def _within_one_error(best: Mapping[str, float], other: Mapping[str, float]) -> bool:
    lost = [score - other[case] for case, score in best.items()]
    error = statistics.stdev(lost) / math.sqrt(len(lost)) if len(lost) > 1 else 0.0
    return mean(lost) <= round(error, _DIGITS)


class Memory:
    """Proposals that were not taken: not evaluated again where the verdict would be the same, and the last `shown` of
    each parent shown to the model.

    A child that lost on one minibatch may win on another, because each has other cases; so it is known there only.
    """

    def __init__(self, shown: int) -> None:
        self._shown = shown
        self._known: set[str] = set()
        self._lost: set[tuple[str, str, frozenset[str]]] = set()
        self._attempts: dict[str, list[Attempt]] = {}

    def knows(self, digest: str, parent: str, minibatch: Sequence[str]) -> bool:
        """Whether this child of this parent need not run on this minibatch."""
        return digest in self._known or (digest, parent, frozenset(minibatch)) in self._lost

    def lose(self, digest: str, parent: str, minibatch: Sequence[str]) -> None:
        """Remember that a child lost against its parent on a minibatch."""
        self._lost.add((digest, parent, frozenset(minibatch)))

    def drop(self, digest: str) -> None:
        """Remember a child that is not to be tried again at all."""
        self._known.add(digest)

    def keep(self, parent: str, attempt: Attempt) -> None:
        """Remember an attempt of a parent, the newest last."""
        if not attempt.text.strip():
            return
        kept = self._attempts.setdefault(parent, [])
        kept[:] = [other for other in kept if (other.component, other.text) != (attempt.component, attempt.text)]
        kept.append(attempt)
        del kept[: max(0, len(kept) - self._shown)]

    def of(self, parent: str) -> Sequence[Attempt]:
        """What was last tried with a parent, oldest first."""
        return self._attempts.get(parent, ())
