"""What a search leaves behind: the pool, one event per iteration, and the named reason of its end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ..records import Usage


class StopReason(StrEnum):
    """Why a search ended."""

    MAX_ITERATIONS = "max_iterations"
    #: The worst case of another iteration does not fit into the rollouts, the tokens or the money left.
    METRIC_BUDGET = "metric_budget"
    TOKEN_BUDGET = "token_budget"
    USD_BUDGET = "usd_budget"
    #: Reflection alone has used the money set aside for it.
    REFLECTION_COST = "reflection_cost"
    #: The best validation mean reached the threshold.
    SCORE_THRESHOLD = "score_threshold"
    #: The seed skill is perfect on the whole validation split: there is nothing to win.
    SATURATED = "saturated"
    NO_IMPROVEMENT = "no_improvement"
    TIME_LIMIT = "time_limit"
    STOP_REQUESTED = "stop_requested"
    INTERRUPTED = "interrupted"
    #: The reflection model could not be reached.
    PROVIDER_ERROR = "provider_error"
    #: The seed or a parent could not be evaluated.
    EVALUATOR_ERROR = "evaluator_error"

    @property
    def resumable(self) -> bool:
        """Whether the search was cut short from outside and can go on from its journal.

        A driver that resumes leaves out the failed answers (errored outcomes, ReflectionFailed) of the last batch.
        """
        return self in _RESUMABLE


_RESUMABLE = frozenset(
    {
        StopReason.TIME_LIMIT,
        StopReason.STOP_REQUESTED,
        StopReason.INTERRUPTED,
        StopReason.PROVIDER_ERROR,
        StopReason.EVALUATOR_ERROR,
    }
)


class EventKind(StrEnum):
    """How an iteration ended."""

    SEED_VALIDATED = "seed_validated"
    CANDIDATE_ACCEPTED = "candidate_accepted"
    #: The child passed its minibatch and became the parent of the next proposal before anything was validated.
    STEP_KEPT = "step_kept"
    CANDIDATE_REJECTED = "candidate_rejected"
    CANDIDATE_DUPLICATE = "candidate_duplicate"
    REFLECTION_REJECTED = "reflection_rejected"
    #: Every score of the parent was 1: no child can be better, so none was asked for.
    MINIBATCH_PERFECT = "minibatch_perfect"
    #: Every case of the minibatch was skipped.
    MINIBATCH_SKIPPED = "minibatch_skipped"
    #: The skill's absence was validated, for comparison.
    ABSENCE_VALIDATED = "absence_validated"
    #: The search was stopped within the iteration.
    ITERATION_CUT = "iteration_cut"


@dataclass(frozen=True, slots=True)
class SearchEvent:
    """One iteration; number 0 is the validation of the seed. Fields that the iteration never came to are None."""

    iteration: int
    kind: EventKind
    #: Digest of the skill that was mutated; it is in the pool unless `follows` says otherwise.
    parent: str | None
    component: str | None
    #: Case ids of the minibatch, without those left out.
    minibatch: tuple[str, ...]
    #: Sums of scores on the minibatch; the child's is None when the verdict was certain before the last case.
    parent_sum: float | None
    child_sum: float | None
    #: Digest of the child.
    candidate: str | None
    #: Why, in a sentence for a person; redacted.
    verdict: str
    #: The proposed text of the component, redacted; None for a child in the pool, which has it.
    text: str | None
    rationale: str
    #: Cases that this iteration found to be skipped, and that take no further part.
    left_out: tuple[str, ...]
    #: Rollouts used by the whole search up to here.
    rollouts: int
    #: Iteration whose child, not validated yet, is the parent.
    follows: int | None = None

    def parent_name(self, names: Mapping[str, str]) -> str:
        """The parent for a reader: its name by digest, or the iteration that made it, such as "i7"."""
        return names.get(self.parent or "", "") if self.follows is None else f"i{self.follows}"

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return {
            "iteration": self.iteration,
            "kind": self.kind.value,
            "parent": self.parent,
            "component": self.component,
            "minibatch": list(self.minibatch),
            "parent_sum": self.parent_sum,
            "child_sum": self.child_sum,
            "candidate": self.candidate,
            "verdict": self.verdict,
            "text": self.text,
            "rationale": self.rationale,
            "left_out": list(self.left_out),
            "rollouts": self.rollouts,
            "follows": self.follows,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> SearchEvent:
        """The inverse of to_json."""
        known = dict(data)
        known["kind"] = EventKind(known["kind"])
        known["minibatch"] = tuple(known["minibatch"])
        known["left_out"] = tuple(known["left_out"])
        return cls(**known)


@dataclass(frozen=True, slots=True)
class PoolEntry:
    """A skill version that was validated: the seed or an accepted candidate."""

    digest: str
    #: Digest of the parent, the component that was changed and why; None and "" for the seed.
    parent: str | None
    component: str | None
    rationale: str
    #: Validation score by case, in the order of the split.
    scores: Mapping[str, float]
    mean: float
    #: Iteration in which it entered the pool; 0 for the seed.
    iteration: int
    #: Mean cost of a validation rollout by the search's measure of cost; None is unknown.
    cost: float | None = None
    #: Digest of the second parent of a merge.
    merged: str | None = None

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return {
            "digest": self.digest,
            "parent": self.parent,
            "component": self.component,
            "rationale": self.rationale,
            "scores": dict(self.scores),
            "mean": self.mean,
            "iteration": self.iteration,
            "cost": self.cost,
            "merged": self.merged,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PoolEntry:
        """The inverse of to_json."""
        return cls(**data)


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The outcome of a search, also of one that was cut short: `winner` is the best so far."""

    seed: str
    #: Digest of the final pick: the highest validation mean; of several the seed, else the shorter, then the older.
    #: With an epsilon the cheapest of those that are nearly as good, with "one-se" the shortest.
    winner: str
    #: None while the search runs.
    stop_reason: StopReason | None
    stop_detail: str
    #: Oldest first; empty when the seed's validation did not end.
    pool: tuple[PoolEntry, ...]
    events: tuple[SearchEvent, ...]
    #: Mutation attempts that were started.
    iterations: int
    rollouts: int
    #: By role: what the rollouts recorded, and "reflection".
    usage: Mapping[str, Usage]
    left_out: tuple[str, ...]

    @property
    def tokens(self) -> int | None:
        """Tokens of all roles; None when a part is unknown."""
        return Usage.total(self.usage.values()).tokens

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return {
            "seed": self.seed,
            "winner": self.winner,
            "stop_reason": None if self.stop_reason is None else self.stop_reason.value,
            "stop_detail": self.stop_detail,
            "pool": [entry.to_json() for entry in self.pool],
            "events": [event.to_json() for event in self.events],
            "iterations": self.iterations,
            "rollouts": self.rollouts,
            "usage": {role: usage.to_json() for role, usage in self.usage.items()},
            "left_out": list(self.left_out),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> SearchResult:
        """The inverse of to_json."""
        known = dict(data)
        known["stop_reason"] = None if known["stop_reason"] is None else StopReason(known["stop_reason"])
        known["pool"] = tuple(PoolEntry.from_json(entry) for entry in known["pool"])
        known["events"] = tuple(SearchEvent.from_json(event) for event in known["events"])
        known["usage"] = {role: Usage.from_json(usage) for role, usage in known["usage"].items()}
        known["left_out"] = tuple(known["left_out"])
        return cls(**known)
