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
from .official import UniformRules
from .tools import Aspect, ToolSpec
from .world import Chance, Population, Record, World, build_world

if TYPE_CHECKING:
    from .scenario import Scenario

Profile = Literal["lean", "standard"]
PROFILES: Final[tuple[Profile, ...]] = ("lean", "standard")

Call: TypeAlias = tuple[str, Mapping[str, Any]]
"""A tool call: (tool, arguments)."""


@dataclass(frozen=True, slots=True)
class Level:
    """One rung of the level ladder (spec/suites.md 3.4): how many entities, which tools, which faults."""

    entities: int
    tools: tuple[str, ...]
    faults: tuple[FaultRule, ...]


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """One documented field of an entry in the artifact.

    `truth` gives the expected value, or SENTINEL where the world has a gap. `needs` gives the aspects of which all must
    have been revealed for a claim to be supported. `expected` is what feedback says of a wrong value.
    """

    name: str
    part: Literal["values", "derived"]
    compare: Comparator
    truth: Callable[[World, Record], Any]
    needs: Callable[[Record], tuple[Aspect, ...]]
    expected: str
    #: Demanded only at levels that offer one of these tools.
    tools: tuple[str, ...] = ()
    #: What tools literally say for a gap: copying that is wrong, but no invention.
    raw_gaps: tuple[Any, ...] = ()
    #: For lists under a page cap: the record's group as (attribute, cap), so that a truncated count can be told.
    paged: tuple[str, int] | None = None


@dataclass(frozen=True, slots=True)
class SummaryField:
    """One documented field of the artifact's summary object."""

    name: str
    compare: Comparator
    truth: Callable[[Scenario], Any]


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
    #: The title of an aliased entity in the task.
    alias: Callable[[Chance, Record], str]
    tools: Mapping[str, ToolSpec]
    levels: Mapping[str, Level]
    contract: Contract
    official: Callable[[Level], UniformRules]
    prompt: Callable[[Scenario], str]
    files: Callable[[Scenario], Mapping[str, str]]
    #: The fewest calls from which the artifact follows, without faults.
    route: Callable[[Scenario], Sequence[Call]]
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

    def fields(self, level: str) -> tuple[FieldSpec, ...]:
        """The fields that a level demands."""
        offered = set(self.levels[level].tools)
        return tuple(one for one in self.contract.fields if not one.tools or offered & set(one.tools))


@lru_cache(maxsize=128)
def world_of(spec: FamilySpec, split: Split, draw: int) -> World:
    """The world of one draw; built once."""
    return build_world(f"{spec.name}/{spec.version}", spec.population, split, draw)
