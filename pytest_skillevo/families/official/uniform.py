"""The uniform evaluator of 19 families: one family's tables, and its two own parts (spec/suites.md 1.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from .entries import entry_score
from .ids import ID_MODES
from .rules import Head, Part

Check = tuple[Literal["truthy", "present"], tuple[str, ...], float]
"""One part of an entry's score: kind, keys of which one must hold, weight."""


@dataclass(frozen=True, slots=True)
class UniformRules:
    """One family's tables for the uniform evaluator. `required` are the keys of the completeness part."""

    list_key: str
    id_key: str
    id_mode: str
    id_weight: float
    checks: tuple[Check, ...]
    required: tuple[str, ...]
    #: Entry score from which an entry counts as valid data.
    threshold: float = 0.4
    #: file, json, fake, count, ids, data, complete
    weights: tuple[int, int, int, int, int, int, int] = (10, 10, 10, 15, 15, 20, 20)
    #: Other keys under which the list and the id are looked for.
    list_aliases: tuple[str, ...] = ()
    id_aliases: tuple[str, ...] = ()
    #: The entry score of a family whose checks are no plain list: a name in `entries.ENTRY_SCORES`.
    special: str | None = None
    #: What the special entry score compares with, by the id of an entity.
    known: Mapping[Any, Any] = field(default_factory=dict, hash=False)

    @property
    def head(self) -> Head:
        """The weights of the first parts."""
        return Head(*self.weights[:5])

    def entries(self, result: Any) -> Any:
        """The list of entries in a decoded artifact."""
        found: Any = []
        for key in (*self.list_aliases[::-1], self.list_key):
            found = result.get(key, found)
        return found

    def id_of(self, entry: Any) -> Any:
        """The id of an entry as the mode reads it."""
        mode = ID_MODES[self.id_mode]
        return mode.read(self.raw_id(entry))

    def raw_id(self, entry: Any) -> Any:
        """The id of an entry as delivered."""
        value = ID_MODES[self.id_mode].missing
        for key in (*self.id_aliases[::-1], self.id_key):
            value = entry.get(key, value)
        return value

    def found(self, entries: Any, expected: Sequence[Any]) -> int:
        """How many of the expected ids were delivered, anywhere in the list."""
        mode = ID_MODES[self.id_mode]
        raw = (self.raw_id(entry) for entry in entries)
        given = {mode.read(value) for value in raw if mode.counts(value)}
        return sum(1 for wanted in expected if any(mode.same(one, wanted) for one in given))

    def parts(self, result: Any, entries: Any, expected: Sequence[Any]) -> list[Part]:
        """Valid data and completeness, of the first entries alone."""
        first = entries[: len(expected)]
        valid = sum(1 for entry in first if entry_score(self, entry, expected) >= self.threshold)
        filled = sum(
            sum(1 for key in self.required if entry.get(key) is not None) / len(self.required) for entry in first
        )
        seen = len(first)
        *_, data, complete = self.weights
        return [(valid / seen if seen else 0.0, data), (filled / seen if seen else 0.0, complete)]
