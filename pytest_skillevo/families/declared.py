"""Names and parts of a declaration that lead nowhere, found when a family is loaded and not in the middle of a draw."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..core.records import SPLITS
from ..core.suggest import did_you_mean
from .faults import FAULT_NAMES, FaultRule
from .spec import FamilySpec


def first_problem(spec: FamilySpec) -> str | None:
    """What is wrong with the names that a declaration uses, as a sentence; None when each of them leads somewhere."""
    return next(_problems(spec), None)


def _problems(spec: FamilySpec) -> Iterator[str]:
    if set(spec.draws) != set(SPLITS):
        given = ", ".join(spec.draws) or "none"
        yield f"FamilySpec.draws needs a number for each of {', '.join(SPLITS)}; it has {given}"
    for name, level in spec.levels.items():
        yield from _unknown(f"level {name} offers the tool", level.tools, spec.tools)
        for rule in level.faults:
            yield from _of_rule(f"level {name}: fault {rule.kind}", rule, spec)
    fields = [(one.name, one.tools) for one in spec.contract.fields]
    for name, tools in (*fields, *((one.name, one.tools) for one in spec.contract.summary)):
        yield from _unknown(f"the field {name} names the tool", tools, spec.tools)


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
