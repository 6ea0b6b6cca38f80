"""Names and parts of a declaration that lead nowhere, found when a family is loaded and not in the middle of a draw."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from ..core.records import SPLITS
from ..core.suggest import did_you_mean
from .faults import FAULT_NAMES, FaultRule
from .official import public_families
from .spec import PROFILES, FamilySpec
from .tools import ARGUMENT_TYPES, ToolSpec


def first_problem(spec: FamilySpec) -> str | None:
    """What is wrong with the names that a declaration uses, as a sentence; None when each of them leads somewhere."""
    return next(_problems(spec), None)


def _problems(spec: FamilySpec) -> Iterator[str]:
    yield from _of_names(spec)
    population = spec.population
    if population.size < 1 or not (population.syllables.onsets and population.syllables.rhymes and population.kinds):
        yield "Population needs a size of 1 or more, syllables with onsets and rhymes, and kinds"
    for taken in {"id", "name"} & set(population.attributes):
        yield f"Population.attributes draws {taken!r}, which every record has already: choose another name"
    if set(spec.draws) != set(SPLITS):
        given = ", ".join(spec.draws) or "none"
        yield f"FamilySpec.draws needs a number for each of {', '.join(SPLITS)}; it has {given}"
    for name, level in spec.levels.items():
        if not 1 <= level.entities <= population.size:
            yield f"level {name} has {level.entities} entities; it needs from 1 to Population.size, {population.size}"
        yield from _unknown(f"level {name} offers the tool", level.tools, spec.tools)
        for rule in level.faults:
            yield from _of_rule(f"level {name}: fault {rule.kind}", rule, spec)
    for name, tool in spec.tools.items():
        yield from _of_tool(name, tool)
    for one in spec.contract.fields:
        if one.part not in ("values", "derived"):
            yield f"the field {one.name} has part={one.part!r}; it is either 'values' or 'derived'"
    fields = [(one.name, one.tools) for one in spec.contract.fields]
    for name, tools in (*fields, *((one.name, one.tools) for one in spec.contract.summary)):
        yield from _unknown(f"the field {name} names the tool", tools, spec.tools)


#: How a family and its levels may be called: they become parts of case ids.
_SLUG: Final = re.compile(r"[a-z0-9]+(?:[-_][a-z0-9]+)*")


def _of_names(spec: FamilySpec) -> Iterator[str]:
    for what, name in (("FamilySpec.name", spec.name), *(("the level", level) for level in spec.levels)):
        if not isinstance(name, str) or not _SLUG.fullmatch(name):
            yield f"{what} is {name!r}; it is a part of case ids: lower-case letters and digits, joined by - or _"
    if not isinstance(spec.version, str) or not spec.version:
        yield f'FamilySpec.version is {spec.version!r}; it must be a text, such as "1"'
    if not spec.levels or not spec.tools or not spec.contract.fields:
        yield "FamilySpec needs levels, tools and Contract.fields; one of them is empty"
    if spec.profile not in PROFILES:
        yield f"FamilySpec.profile is {spec.profile!r}, none of {', '.join(PROFILES)}"
    if isinstance(spec.official, str) and spec.official not in public_families():
        hint = did_you_mean(spec.official, public_families()) or f"Known: {', '.join(public_families())}."
        yield f"FamilySpec.official is {spec.official!r}, which is no family of the public benchmark. {hint}"
    if spec.behaviour is not None and spec.folder is None:
        yield "FamilySpec.behaviour needs FamilySpec.folder: give it Path(__file__).parent"


def _of_tool(name: str, tool: ToolSpec) -> Iterator[str]:
    if tool.name != name:
        yield f"FamilySpec.tools has the tool {tool.name!r} under the name {name!r}; both must be the same"
    for argument, schema in tool.parameters.items():
        kinds = schema.get("type")
        for kind in kinds if isinstance(kinds, list | tuple) else [kinds]:
            if kind not in ARGUMENT_TYPES:
                known = ", ".join(ARGUMENT_TYPES)
                yield f"the tool {name}: the argument {argument!r} has the type {kind!r}, none of {known}"


def _of_rule(where: str, rule: FaultRule, spec: FamilySpec) -> Iterator[str]:
    if rule.kind not in FAULT_NAMES:
        yield f"{where} is no kind of fault. Known: {', '.join(FAULT_NAMES)}."
    yield from _unknown(f"{where} names the tool", rule.tools, spec.tools)
    if rule.trait is not None:
        yield from _unknown(f"{where} names the trait", (rule.trait,), spec.traits)
    if rule.kind in "TLRM" and not rule.tools:
        yield f"{where} needs tools=(...), the tools of which one is drawn"
    if rule.kind == "M" and rule.field is None:
        yield f"{where} needs field=..., the field that is hidden"
    if rule.kind == "A" and spec.alias is None:
        yield f"{where} needs FamilySpec.alias, what a task calls the entity instead"


def _unknown(what: str, names: Iterable[str], known: Iterable[str]) -> Iterator[str]:
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known) or f"Known: {', '.join(known) or 'none'}."
            yield f"{what} {name!r}, which the family does not have. {hint}"
