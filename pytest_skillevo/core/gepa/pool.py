"""The pool of validated skills with their fronts, and the memory of what was proposed and not taken."""

from __future__ import annotations

import math
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


class Pool:
    """Validated skills in the order in which they were accepted; the seed is the first and never leaves."""

    def __init__(self, cases: Sequence[str]) -> None:
        #: Validation cases, in the order of the split.
        self.cases = tuple(cases)
        #: Who stands on which front; parents are drawn from it.
        self.fronts = Fronts(len(self.cases))
        self._members: list[_Member] = []
        self._places: dict[str, int] = {}

    def add(
        self,
        skill: Skill,
        scores: Mapping[str, float],
        *,
        iteration: int,
        parent: int | None = None,
        component: str | None = None,
        rationale: str = "",
    ) -> PoolEntry:
        """Enter a skill with its validation score by case; a child starts at its parent's cursor."""
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
        )
        self._places[skill.digest] = self.fronts.add(row, entry.mean, len(skill.text))
        self._members.append(_Member(skill, entry, 0 if source is None else source.cursor))
        return entry

    def __len__(self) -> int:
        return len(self._members)

    def __contains__(self, digest: object) -> bool:
        return digest in self._places

    def skill(self, index: int) -> Skill:
        """The skill at a place in the pool."""
        return self._members[index].skill

    def next_cursor(self, index: int) -> int:
        """The member's cursor, which moves on at once: also when nothing comes of the proposal."""
        member = self._members[index]
        member.cursor += 1
        return member.cursor - 1

    @property
    def best(self) -> PoolEntry:
        """The highest mean; of several the oldest."""
        return self._members[self.fronts.best].entry

    @property
    def entries(self) -> tuple[PoolEntry, ...]:
        """All entries, oldest first."""
        return tuple(member.entry for member in self._members)


class Memory:
    """Proposals that were not taken: never evaluated again, and the last `shown` of each parent shown to the model."""

    def __init__(self, shown: int) -> None:
        self._shown = shown
        self._known: set[str] = set()
        self._attempts: dict[str, list[Attempt]] = {}

    def __contains__(self, digest: object) -> bool:
        return digest in self._known

    def keep(self, parent: str, attempt: Attempt, digest: str | None = None) -> None:
        """Remember an attempt of a parent, the newest last; `digest` names the child if there was one."""
        if digest is not None:
            self._known.add(digest)
        if not attempt.text.strip():
            return
        kept = self._attempts.setdefault(parent, [])
        kept[:] = [other for other in kept if (other.component, other.text) != (attempt.component, attempt.text)]
        kept.append(attempt)
        del kept[: max(0, len(kept) - self._shown)]

    def of(self, parent: str) -> Sequence[Attempt]:
        """What was last tried with a parent, oldest first."""
        return self._attempts.get(parent, ())
