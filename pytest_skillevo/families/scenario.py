"""One task instance with all that the agent does not see: chosen entities, fault plan, truth, the honest artifact."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..core.canonical import canonical_json
from ..core.errors import ConfigError
from ..core.records import Split
from .compare import SENTINEL
from .faults import Fault, FaultRule
from .spec import Call, FamilySpec, FieldSpec, Level, Profile, world_of
from .tools import Aspect, Toolbox
from .world import Chance, Record, World


@dataclass(frozen=True)
class Scenario:
    """The hidden side of a task, a pure function of its five fields. `faults=False` gives the fault-free twin."""

    spec: FamilySpec
    level: str
    split: Split
    draw: int
    profile: Profile
    faults: bool = True

    @property
    def slug(self) -> str:
        """Short id such as "e1-03", unique in the family."""
        return f"{self.level}-{self.spec.number(self.split, self.draw):02d}"

    @property
    def rung(self) -> Level:
        """The level's declaration."""
        return self.spec.levels[self.level]

    @cached_property
    def world(self) -> World:
        """The world of this draw, shared by the levels."""
        return world_of(self.spec, self.split, self.draw)

    @cached_property
    def chance(self) -> Chance:
        """Draws of this task, apart from those of its world."""
        return Chance((f"{self.spec.name}/{self.spec.version}", self.split, self.draw, "task", self.level))

    @cached_property
    def fields(self) -> tuple[FieldSpec, ...]:
        """The fields that this level demands."""
        return self.spec.fields(self.level)

    @cached_property
    def _cast(self) -> tuple[tuple[Record, ...], tuple[tuple[FaultRule, Record], ...]]:
        return cast(self)

    @property
    def records(self) -> tuple[Record, ...]:
        """The task's entities in the order of the prompt."""
        return self._cast[0]

    @cached_property
    def titles(self) -> Mapping[str, str]:
        """Record id -> the name that the task uses (an alias for some)."""
        aliased = {record["id"] for rule, record in self._cast[1] if rule.kind == "A"}
        alias = self.spec.alias
        return {
            record["id"]: alias(self.chance.at("alias"), record)
            if alias is not None and record["id"] in aliased
            else self.spec.title(record)
            for record in self.records
        }

    @cached_property
    def idents(self) -> Mapping[str, str | int]:
        """Title -> value of the artifact's id key."""
        ident = self.spec.contract.ident
        return {self.titles[record["id"]]: ident(record, self.titles[record["id"]]) for record in self.records}

    def owner(self, ident: str) -> Record | None:
        """The record of the task, else of the world, whose id an entry gives; compared as text without case."""
        mine = {str(self.idents[title]).casefold(): record for record, title in self.titles.items()}
        if ident.casefold() in mine:
            return self.world.by_id[mine[ident.casefold()]]
        return self._strangers.get(ident.casefold())

    @cached_property
    def _strangers(self) -> Mapping[str, Record]:
        ident, title = self.spec.contract.ident, self.spec.title
        return {str(ident(record, title(record))).casefold(): record for record in self.world.records}

    @cached_property
    def plan(self) -> tuple[Fault, ...]:
        """The planned faults, in the order of the level's rules."""
        return tuple(self._fault(number, rule, record) for number, (rule, record) in enumerate(self._cast[1]))

    def _fault(self, number: int, rule: FaultRule, record: Record) -> Fault:
        chance = self.chance.at("fault", number)
        tool = chance.at("tool").pick(rule.tools) if rule.tools else None
        arguments: Mapping[str, Any] | None = None
        parameters: dict[str, Any] = {}
        if rule.kind in ("T", "L", "R") and tool is not None:
            spec = self.spec.tools[tool]
            arguments = spec.canonical(spec.about(record))
            if rule.kind != "R":
                parameters = {"times": rule.times} if rule.kind == "T" else {"calls": chance.at("calls").whole(2, 3)}
        elif rule.field is not None:
            parameters = {"field": rule.field}
        return Fault(rule.kind, self.titles[record["id"]], record["id"], tool, arguments, parameters)

    def open(self) -> Toolbox:
        """A fresh toolbox for one rollout."""
        specs = [self.spec.tools[name] for name in self.rung.tools]
        return Toolbox(self.world, specs, self.plan, self.files, self.profile)

    @cached_property
    def prompt(self) -> str:
        """The task text."""
        return self.spec.prompt(self)

    @cached_property
    def files(self) -> Mapping[str, str]:
        """The workspace at the start: path -> text."""
        return self.spec.files(self)

    @cached_property
    def truth(self) -> Mapping[str, Mapping[str, Any]]:
        """Title -> field -> expected value; SENTINEL where the world has none."""
        return {
            self.titles[record["id"]]: {one.name: one.truth(self, record) for one in self.fields}
            for record in self.records
        }

    @cached_property
    def summary(self) -> Mapping[str, Any]:
        """Expected fields of the summary object."""
        return {one.name: one.truth(self) for one in self.spec.summary(self.level)}

    def artifact(self) -> dict[str, Any]:
        """The artifact of a perfect, honest run."""
        contract = self.spec.contract
        entries = [{contract.id_key: self.idents[title], **values} for title, values in self.truth.items()]
        return {contract.list_key: entries, "summary": dict(self.summary)}

    @cached_property
    def gaps(self) -> tuple[tuple[str, str], ...]:
        """(field, title) of the values that the world does not have."""
        return tuple(
            (name, title) for title, values in self.truth.items() for name, value in values.items() if value == SENTINEL
        )

    def needed(self) -> Iterator[tuple[str, FieldSpec, Record]]:
        """Title, field and record of every value that exists."""
        for record in self.records:
            title = self.titles[record["id"]]
            for one in self.fields:
                if self.truth[title][one.name] != SENTINEL:
                    yield title, one, record

    def titles_for(self, aspects: frozenset[Aspect]) -> list[str]:
        """The task's entities that an answer tells about, in the order of the prompt."""
        about = {subject for subject, _ in aspects}
        found = {title for record, title in self.titles.items() if record in about}
        for title, one, record in self.needed():
            found |= {title for way in one.ways(record) for subject, what in way if what == "list" and subject in about}
        return [title for title in self.titles.values() if title in found]


def cast(scenario: Scenario) -> tuple[tuple[Record, ...], tuple[tuple[FaultRule, Record], ...]]:
    """Choose the entities of a task and who has which fault.

    Rules with a trait take records that have it; everyone else is plain. No record has two faults while
    there are enough.
    """
    rules = scenario.rung.faults if scenario.faults else tuple(r for r in scenario.rung.faults if r.kind in "ABS")
    pool = scenario.chance.at("cast").order(scenario.world.records)
    chosen: list[Record] = []
    casting: list[tuple[FaultRule, Record]] = []
    for rule in rules:
        if rule.trait is not None:
            casting.append((rule, _next(scenario, pool, chosen, rule.trait)))
    while len(chosen) < scenario.rung.entities:
        _next(scenario, pool, chosen, None)
    chosen = scenario.chance.at("order").order(chosen)
    busy = {record["id"] for _, record in casting}
    for rule in rules:
        if rule.trait is None:
            alike = [record["id"] for other, record in casting if other.kind == rule.kind]
            free = [record for record in chosen if record["id"] not in busy]
            free = free or [record for record in chosen if record["id"] not in alike] or chosen
            victim = scenario.chance.at("victim", rule.kind, *alike).pick(free)
            busy.add(victim["id"])
            casting.append((rule, victim))
    order = {id(rule): place for place, rule in enumerate(rules)}
    casting.sort(key=lambda pair: order[id(pair[0])])
    return tuple(chosen), tuple(casting)


def _next(scenario: Scenario, pool: Sequence[Record], chosen: list[Record], trait: str | None) -> Record:
    """Choose one more record with exactly this trait (None: plain) that differs from the chosen ones."""
    traits = scenario.spec.traits
    for record in pool:
        if any(record[key] == other[key] for key in ("id", *scenario.spec.distinct) for other in chosen):
            continue
        if {name for name, has in traits.items() if has(scenario.world, record)} == ({trait} if trait else set()):
            chosen.append(record)
            return record
    raise ConfigError(f"family {scenario.spec.name}: no entity with trait {trait!r} is left for {scenario.slug}")


def calls_by_tool(
    task: Scenario,
    order: Sequence[str],
    *,
    skip: Mapping[str, str] | None = None,
    pages: Mapping[str, Callable[[World, Record], tuple[int, int]]] | None = None,
) -> list[Call]:
    """The usual route of an oracle: tool by tool in this order, each for every entity, as far as the level offers it.

    `skip` names for a tool the trait whose bearers need no call; `pages` gives the (total, cap) of a paged answer.
    Equal calls are made once.
    """
    calls: dict[str, Call] = {}
    for name in order:
        spec = task.spec.tools[name]
        for record in task.records if name in task.rung.tools else ():
            trait = (skip or {}).get(name)
            if trait is not None and task.spec.traits[trait](task.world, record):
                continue
            arguments = spec.about(record)
            total, cap = pages[name](task.world, record) if pages and name in pages else (1, 1)
            for offset in range(0, total, cap):
                call = {**arguments, "offset": offset} if offset else arguments
                calls.setdefault(f"{name} {canonical_json(spec.canonical(call))}", (name, call))
    return list(calls.values())


def shown(names: Sequence[str]) -> str:
    """Names for a sentence: "A", "A and B", "A, B and C"."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
