"""The event of an iteration while it is being written."""

from __future__ import annotations

from dataclasses import dataclass

from .pool import total
from .results import EventKind, SearchEvent


@dataclass(slots=True)
class Draft:
    """What is known of the running iteration so far; the fields are those of SearchEvent."""

    iteration: int
    parent: str | None = None
    component: str | None = None
    minibatch: tuple[str, ...] = ()
    parent_scores: tuple[float, ...] = ()
    child_scores: tuple[float, ...] = ()
    candidate: str | None = None
    text: str | None = None
    rationale: str = ""
    left_out: tuple[str, ...] = ()
    follows: int | None = None
    #: Rollouts of this iteration.
    spent: int = 0

    def event(self, kind: EventKind, verdict: str, rollouts: int) -> SearchEvent:
        """The finished event; `rollouts` is what the whole search has used."""
        return SearchEvent(
            self.iteration,
            kind,
            self.parent,
            self.component,
            self.minibatch,
            total(self.parent_scores) if self.parent_scores else None,
            total(self.child_scores) if self.child_scores else None,
            self.candidate,
            verdict,
            self.text or None,
            self.rationale,
            self.left_out,
            rollouts,
            self.follows,
        )
