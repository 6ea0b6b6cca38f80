"""What two versions of one skill would take on the holdout, and what that could show, before they are run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ..core.verdict import Goal, Rules, power_note, words


@dataclass(frozen=True, slots=True)
class PlannedTrial:
    """Two versions of one skill on the holdout, before they are run. Unknown costs are None, in US dollars."""

    name: str
    #: What happened to the skill: edited, added, deleted, renamed; empty for an A/A.
    kind: str
    model: str
    simulated: bool
    cases: int
    critical: int
    repeats: int
    #: Rollouts that are sure, and those of critical reruns at the most.
    rollouts: int
    reruns: int
    usd: str | None
    goal: str
    margin: float
    alpha: float

    def to_json(self) -> dict[str, Any]:
        """The fields by name; `planned_from` is the inverse."""
        return asdict(self)

    def power(self, together: int = 1) -> str:
        """What the holdout can show when so many skills are decided together."""
        alpha = self.alpha / together
        note = power_note(self.cases, self.repeats, Rules(margin=self.margin, alpha=alpha))
        if self.goal != Goal.no_worse.value:
            return note.sentence
        least, margin = words.counted(note.clean_cases, "case"), words.points(self.margin)
        shown = f"not worse by {margin} is shown by {least} or more without a loss"
        few = "" if self.cases >= note.clean_cases else f"; {self.cases} cannot show it if scores are passes and fails"
        return shown + few


def planned_from(data: Mapping[str, Any]) -> PlannedTrial:
    """The inverse of `PlannedTrial.to_json`."""
    return PlannedTrial(**data)
