"""The declaration of a task family: what FamilySpec holds is all that the engine knows about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from ..core.records import SPLITS, Split
from .compare import Comparator
from .faults import FaultRule
from .official import Rules
from .tools import Aspect, ToolSpec
from .world import Chance, Population, Record, World, build_world

if TYPE_CHECKING:
    from .scenario import Scenario

Profile = Literal["lean", "standard", "original"]
PROFILES: Final[tuple[Profile, ...]] = ("lean", "standard", "original")
"""How much the tools say: a few rows, a sensible answer, or answers as large as those of the public benchmark."""

Call: TypeAlias = tuple[str, Mapping[str, Any]]
"""A tool call: (tool, arguments)."""


@dataclass(frozen=True, slots=True)
class Level:
    """One rung of the level ladder (spec/suites.md 3.4): how many entities, which tools, which faults."""

    entities: int
    tools: tuple[str, ...]
    faults: tuple[FaultRule, ...]


Policy = Literal["by_world", "by_level"]
POLICIES: Final[tuple[Policy, ...]] = ("by_world", "by_level")
"""How cases are split (spec/suites.md 3.11): every level in each split, or each level in one split, easy ones first."""

Needs: TypeAlias = Callable[[Record], tuple[Aspect, ...]]
"""The aspects that support a claim about a record; all of them must have been revealed."""


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """One documented field of an entry in the artifact.

    `truth` gives the expected value, or SENTINEL where the world has a gap; it is also asked about records outside the
    task, of which only the gaps count. `expected` is what feedback says of a wrong value.
    """

    name: str
    part: Literal["values", "derived"]
    compare: Comparator
    truth: Callable[[Scenario, Record], Any]
    needs: Needs
    expected: str
    #: Demanded only at levels that offer one of these tools.
    tools: tuple[str, ...] = ()
    #: What tools literally say for a gap: copying that is wrong, but no invention.
    raw_gaps: tuple[Any, ...] = ()
    #: (task, record, wrong value) -> (cap, total) when the value is what the first page alone would give.
    truncated: Callable[[Scenario, Record, Any], tuple[int, int] | None] | None = None
    #: Further ways to support a claim.
    alternatives: tuple[Needs, ...] = ()
    #: The prompt says the value by intention, such as the task's own name for it.
    shown: bool = False

    def ways(self, record: Record) -> tuple[tuple[Aspect, ...], ...]:
        """Every set of aspects that supports a claim about the record."""
        return tuple(needs(record) for needs in (self.needs, *self.alternatives))

    def supported(self, record: Record, known: frozenset[Aspect]) -> bool:
        """Whether what is known supports a claim about the record."""
        return any(known.issuperset(way) for way in self.ways(record))


@dataclass(frozen=True, slots=True)
class SummaryField:
    """One documented field of the artifact's summary object; `tools` as for fields."""

    name: str
    compare: Comparator
    truth: Callable[[Scenario], Any]
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """The artifact: file, key of the list, key that identifies an entry, fields of an entry, fields of `summary`."""

    file: str
    list_key: str
    id_key: str
    fields: tuple[FieldSpec, ...]
    summary: tuple[SummaryField, ...]
    #: What an entry is called in feedback, in the plural.
    entries: str
    #: (record, its title in the task) -> value of the id key; a number stays a number.
    ident: Callable[[Record, str], str | int] = lambda _, title: title


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FamilySpec:
    """A task family: entities, tools, levels, contract, texts. Changing anything that decides a score bumps `version`.

    Compared and hashed by identity.
    """

    name: str
    version: str
    skill: str
    population: Population
    #: What an entity may be by nature; records with the trait "never" are no task entities.
    traits: Mapping[str, Callable[[World, Record], bool]]
    #: Attributes in which the entities of one task differ.
    distinct: tuple[str, ...]
    tools: Mapping[str, ToolSpec]
    levels: Mapping[str, Level]
    contract: Contract
    prompt: Callable[[Scenario], str]
    files: Callable[[Scenario], Mapping[str, str]]
    #: The fewest calls from which the artifact follows, without faults.
    route: Callable[[Scenario], Sequence[Call]]
    #: Public family whose evaluator gives the official score, or the rules for a task; None: made from the contract.
    official: str | Callable[[Scenario], Rules] | None = None
    #: What a task calls an entity, and what it calls an aliased one (fault A).
    title: Callable[[Record], str] = lambda record: str(record["name"])
    alias: Callable[[Chance, Record], str] | None = None
    profile: Profile = "standard"
    #: How many worlds each split has by default.
    draws: Mapping[Split, int] = field(default_factory=lambda: {"feedback": 2, "validation": 2, "holdout": 5})
    #: (level, number of the draw) of the critical cases in holdout.
    critical: frozenset[tuple[str, int]] = frozenset()
    #: Python file beside the declaration whose BEHAVIOUR solves the family's tasks for the simulated model.
    behaviour: str | None = None
    #: The folder of the declaration.
    folder: Path | None = None

    def number(self, split: Split, draw: int) -> int:
        """The number in a case id. Draws are counted through the splits, so that ids are unique in the family."""
        before = sum(self.draws[earlier] for earlier in SPLITS[: SPLITS.index(split)])
        return before + draw + 1

    def plan(self, split: Split, policy: Policy = "by_world") -> tuple[tuple[str, ...], int]:
        """The levels of a split and how many draws each has; by level, a split has as many cases as by world."""
        levels = tuple(self.levels)
        if policy == "by_world":
            return levels, self.draws[split]
        place = SPLITS.index(split)
        own = levels[place * len(levels) // len(SPLITS) : (place + 1) * len(levels) // len(SPLITS)]
        return own, -(-self.draws[split] * len(levels) // max(1, len(own)))

    def fields(self, level: str) -> tuple[FieldSpec, ...]:
        """The fields that a level demands."""
        return tuple(one for one in self.contract.fields if self._offers(level, one.tools))

    def summary(self, level: str) -> tuple[SummaryField, ...]:
        """The fields of the summary that a level demands."""
        return tuple(one for one in self.contract.summary if self._offers(level, one.tools))

    def _offers(self, level: str, tools: tuple[str, ...]) -> bool:
        return not tools or bool(set(self.levels[level].tools) & set(tools))


@lru_cache(maxsize=128)
def world_of(spec: FamilySpec, split: Split, draw: int) -> World:
    """The world of one draw; built once."""
    return build_world(f"{spec.name}/{spec.version}", spec.population, split, draw)
