"""Planned faults: what will go wrong for whom, fixed before the run (spec/suites.md 3.3).

Active faults are triggered by the attempt number of (tool, canonical arguments), never by time or chance in the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

FaultKind = Literal["T", "L", "R", "G", "P", "M", "A", "B", "S"]

#: What each kind means, for people.
FAULT_NAMES: Final[Mapping[str, str]] = {
    "T": "time-out",
    "L": "rate limit",
    "R": "broken route",
    "G": "permanent gap",
    "P": "page cap",
    "M": "missing field",
    "A": "alias",
    "B": "ambiguous match",
    "S": "other shape",
}

#: Virtual seconds that a time-out costs.
TIMEOUT_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True)
class FaultRule:
    """What a level demands: one fault of this kind, on an entity and tool that are drawn for each task.

    A rule with a `trait` needs an entity that has it by nature (a gap, a long list, a namesake); the others take any
    plain entity. `tools` are the tools of which one is drawn; `field` is what a missing field hides. T times out
    `times` times, L limits the rate, R times out for good where another tool has the values, M hides a field; G, P, A,
    B and S are facts of the world or of the task.
    """

    kind: FaultKind
    tools: tuple[str, ...] = ()
    trait: str | None = None
    times: int = 1
    field: str | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """One planned fault. `entity` is the title in the task, `record` its id in the world.

    `arguments` are the canonical arguments that trigger it; None when it is a property of the world or of a row.
    """

    kind: FaultKind
    entity: str
    record: str
    tool: str | None = None
    arguments: Mapping[str, Any] | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return {
            "kind": self.kind,
            "name": FAULT_NAMES[self.kind],
            "tool": self.tool,
            "entity": self.entity,
            "arguments": None if self.arguments is None else dict(self.arguments),
            "parameters": dict(self.parameters),
        }
