"""What observers are told while an experiment runs. They change nothing: no answer of theirs is looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True)
class ExperimentEvent:
    """One thing that happened, cleaned of secrets; `data` is plain JSON.

    Kinds and their data: "search_begun" (the seed skill with its components, case ids by split); one per iteration,
    named as core.gepa.EventKind ("event", for a new candidate also "entry" with its validation scores and "changed");
    "search_ended" (stop reason and detail, iterations, rollouts, winner); "confirmation_begun", "replay_begun",
    "transfer_begun";
    "decided" (verdict, rule, reason). Nothing of a holdout case is in them.
    """

    kind: str
    #: Id of the experiment.
    experiment: str
    data: Mapping[str, Any]
    #: Whether it happened in an earlier run, from whose journal this one goes on.
    replayed: bool = False


Observe: TypeAlias = Callable[[ExperimentEvent], None]


def nobody(event: ExperimentEvent) -> None:
    """The observer that is not there."""
