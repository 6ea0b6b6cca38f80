"""The search of an experiment as its journal tells it: candidates, iterations, and what stood in between."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..core.gepa import PoolEntry, SearchEvent
from ..stages.packing import unpacked
from ..stages.search import BEGIN_KIND, EVENT_KIND

if TYPE_CHECKING:
    from ..store import Store


@dataclass(frozen=True, slots=True)
class Candidate:
    """A version of the skill that was validated; its name is c0 for the seed, then c1 and so on."""

    name: str
    entry: PoolEntry
    #: All components as the version has them.
    components: Mapping[str, str]
    #: Name of the parent; None for the seed.
    parent: str | None
    #: Difference of the changed components to the parent's.
    diff: str


@dataclass(slots=True)
class Lineage:
    """What is known of one search."""

    skill: str = ""
    feedback: tuple[str, ...] = ()
    validation: tuple[str, ...] = ()
    candidates: list[Candidate] = field(default_factory=list)
    events: list[SearchEvent] = field(default_factory=list)
    #: Feedback case -> (score, what was said about it) of every rollout of a parent, in order.
    remarks: dict[str, list[tuple[float, str]]] = field(default_factory=dict)

    @property
    def names(self) -> dict[str, str]:
        """The name of every candidate, by its digest."""
        return {one.entry.digest: one.name for one in self.candidates}

    @property
    def best(self) -> Candidate | None:
        """The highest validation mean; of several the oldest."""
        return max(self.candidates, key=lambda one: (one.entry.mean, -one.entry.iteration), default=None)

    def children(self, name: str | None) -> list[Candidate]:
        """The candidates made from one, oldest first."""
        return [one for one in self.candidates if one.parent == name]


def read_lineage(store: Store, experiment: str) -> Lineage:
    """The search of an experiment, finished or not; empty when it has not begun."""
    lineage = Lineage()
    start: dict[str, str] = {}
    for entry in store.entries(experiment):
        if entry.kind == BEGIN_KIND:
            lineage.skill = entry.payload["name"]
            lineage.feedback = tuple(entry.payload["feedback"])
            lineage.validation = tuple(entry.payload["validation"])
            start = entry.payload["components"]
        elif entry.kind == EVENT_KIND:
            _read_event(lineage, entry.payload, start)
        elif entry.kind == "rollout" and entry.key.startswith("search/") and "/parent/" in entry.key:
            _read_remark(lineage, entry.key, entry.payload)
    return lineage


def _read_event(lineage: Lineage, payload: Mapping[str, Any], start: Mapping[str, str]) -> None:
    lineage.events.append(SearchEvent.from_json(payload["event"]))
    data = payload.get("entry")
    if data is None:
        return
    if isinstance(data["scores"], list):
        cases = lineage.candidates[0].entry.scores
        data = {**data, "scores": dict(zip(cases, data["scores"], strict=True))}
    entry = PoolEntry.from_json(data)
    parent = next((one for one in lineage.candidates if one.entry.digest == entry.parent), None)
    before = {} if parent is None else dict(parent.components)
    after = dict(start) if parent is None else {**before, **payload.get("changed", {})}
    diff = "" if parent is None else "".join(component_diffs(before, after))
    name = f"c{len(lineage.candidates)}"
    lineage.candidates.append(Candidate(name, entry, after, None if parent is None else parent.name, diff))


def _read_remark(lineage: Lineage, key: str, payload: Mapping[str, Any]) -> None:
    outcome = unpacked(payload["outcome"])
    place = int(key.rsplit("/", 1)[1])
    if outcome.evaluation is not None and place < len(lineage.feedback):
        remarks = lineage.remarks.setdefault(lineage.feedback[place], [])
        remarks.append((outcome.evaluation.score, outcome.evaluation.feedback))


def component_diffs(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    """A unified diff of every component that changed."""
    for name in dict.fromkeys([*before, *after]):
        old, new = before.get(name, ""), after.get(name, "")
        if old != new:
            lines = difflib.unified_diff(
                old.splitlines(), new.splitlines(), f"before/{name}", f"after/{name}", lineterm=""
            )
            yield "".join(f"{line}\n" for line in lines)
