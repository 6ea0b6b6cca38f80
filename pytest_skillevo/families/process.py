"""How a rollout was worked: redundant calls, what happened after each fault, calls before their prerequisite."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from .scenario import Scenario
from .tools import NEEDS_PREREQUISITE, NO_DATA, RATE_LIMITED, TIMEOUT, Aspect, CallRecord, Toolbox

TRANSIENT = (TIMEOUT, RATE_LIMITED)


@dataclass(frozen=True, slots=True)
class Incident:
    """What came after one fault: the call was abandoned, blocked (broken for good, and no other route taken), hurried
    (repeated at once), pestered (a final answer asked again `times` times), or others that had succeeded were requested
    again."""

    kind: Literal["abandoned", "blocked", "hurried", "pestered", "batch"]
    tool: str
    code: str
    entity: str
    times: int = 0
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Process:
    """Counts over the family's tools. `errors` is what the process part of the strict score counts."""

    calls: int
    failures: int
    redundant: int
    early: int
    early_tools: tuple[str, ...]
    incidents: tuple[Incident, ...]
    errors: int


def review_process(scenario: Scenario, box: Toolbox) -> Process:
    """Review the call log of one rollout."""
    log = [entry for entry in box.log if entry.lookup]
    repeats = redundant_calls(log)
    early = [entry for entry in log if entry.code == NEEDS_PREREQUISITE]
    incidents = tuple(_incidents(scenario, box, log, repeats))
    errors = len(repeats) + len(early)
    errors += sum(max(1, incident.times) for incident in incidents if incident.kind != "batch")
    return Process(
        len(log),
        sum(1 for entry in log if not entry.success),
        len(repeats),
        len(early),
        tuple(dict.fromkeys(entry.tool for entry in early)),
        incidents,
        errors,
    )


def redundant_calls(log: Sequence[CallRecord]) -> list[CallRecord]:
    """Calls that repeat a call which had already succeeded."""
    done: set[str] = set()
    repeats = []
    for entry in log:
        if entry.key in done:
            repeats.append(entry)
        elif entry.success:
            done.add(entry.key)
    return repeats


def _incidents(
    scenario: Scenario, box: Toolbox, log: Sequence[CallRecord], repeats: Sequence[CallRecord]
) -> Iterator[Incident]:
    known = frozenset().union(*(entry.reveals for entry in log))
    unmet = frozenset(
        aspect
        for _, one, record in scenario.needed()
        if not one.supported(record, known)
        for way in one.ways(record)
        for aspect in way
    )
    met: dict[str, list[CallRecord]] = {}
    for entry in log:
        if entry.code in (*TRANSIENT, NO_DATA):
            met.setdefault(entry.key, []).append(entry)
    for key, entries in met.items():
        first = entries[0]
        entity = _entity(scenario, first)
        if first.code == NO_DATA:
            if len(entries) > 1:
                yield Incident("pestered", first.tool, NO_DATA, entity, len(entries) - 1)
            continue
        code = str(first.code)
        recovered = any(entry.success and entry.key == key for entry in log)
        if not recovered and first.withheld & unmet - known:
            yield Incident("blocked" if first.fault == "R" else "abandoned", first.tool, code, entity)
        hurried = sum(1 for entry in entries[1:] if code == RATE_LIMITED and box.log[entry.index - 1].key == key)
        if hurried:
            yield Incident("hurried", first.tool, code, entity, hurried)
        again = [entry for entry in repeats if entry.key != key and _blamed(log, entry) == key]
        others = [title for title in _titles(scenario, again) if title != entity]
        if others:
            yield Incident("batch", first.tool, code, entity, len(again), tuple(others))


def _blamed(log: Sequence[CallRecord], repeat: CallRecord) -> str | None:
    """The key of the last transient fault before a repeated call."""
    before = [entry.key for entry in log if entry.index < repeat.index and entry.code in TRANSIENT]
    return before[-1] if before else None


def _entity(scenario: Scenario, entry: CallRecord) -> str:
    """The task entity that a failed call was about, else the call's own words."""
    for fault in scenario.plan:
        if fault.tool == entry.tool and fault.arguments == entry.arguments:
            return fault.entity
    titles = scenario.titles_for(entry.withheld)
    gaps = [fault.entity for fault in scenario.plan if fault.kind == "G"]
    if entry.code == NO_DATA and gaps:
        return gaps[0]
    return titles[0] if titles else ", ".join(str(value) for value in entry.arguments.values() if value)


def _titles(scenario: Scenario, entries: Sequence[CallRecord]) -> list[str]:
    aspects: frozenset[Aspect] = frozenset().union(*(entry.reveals for entry in entries))
    return scenario.titles_for(aspects)
