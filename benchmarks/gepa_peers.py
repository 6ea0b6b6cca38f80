"""The two engines under one evaluator and one proposer: ours, and gepa from the registry."""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from gepa.api import optimize
from gepa.core.adapter import EvaluationBatch

from pytest_skillevo.core.gepa import (
    Answer,
    Engine,
    ReflectionAnswer,
    RolloutAnswer,
    SearchDataset,
    SearchSettings,
    Strategy,
)
from pytest_skillevo.core.records import NO_USAGE, Evaluation, Outcome, RolloutRequest
from pytest_skillevo.core.skill import Skill

GEPA_VERSION = importlib.metadata.version("gepa")


class Evaluates(Protocol):
    """Runs one case with one candidate."""

    def run(self, components: Mapping[str, str], case: str) -> tuple[float, str]:
        """Score and feedback."""


class Proposes(Protocol):
    """Rewrites one component."""

    def propose(self, component: str, text: str, feedback: Sequence[str]) -> str:
        """The new text."""


@dataclass(frozen=True, slots=True)
class Found:
    """A candidate that entered a pool: the rollouts used up to the end of its validation, and its validation mean."""

    rollouts: int
    mean: float
    components: Mapping[str, str]


def skill_of(components: Mapping[str, str]) -> Skill:
    """A structured skill with these components."""
    skill = Skill.absent("landscape")
    for name in ("description", "when_to_use", "steps", "pitfalls"):
        skill = skill.with_component(name, components[name])
    return skill


def drive(engine: Engine, evaluator: Evaluates, proposer: Proposes, after: Callable[[], None] = lambda: None) -> None:
    """Run our engine to its end; `after` is called after every batch."""
    while requests := engine.ask():
        answers: list[Answer] = []
        for request in requests:
            if isinstance(request, RolloutRequest):
                score, feedback = evaluator.run(engine.skill(request.variant).components, request.case_id)
                answers.append(RolloutAnswer(request.id, Outcome("scored", Evaluation(score, None, feedback))))
            else:
                brief = engine.brief(request.id)
                notes = [evaluation.feedback for _, evaluation in brief.records]
                text = proposer.propose(brief.component, brief.parent.components[brief.component], notes)
                said = json.dumps({"component": brief.component, "text": text, "rationale": ""})
                answers.append(ReflectionAnswer(request.id, said, "stop", NO_USAGE))
        engine.tell(answers)
        after()


def our_engine(
    components: Mapping[str, str],
    feedback: Sequence[str],
    validation: Sequence[str],
    strategy: Strategy | None = None,
    **settings: Any,
) -> Engine:
    """Our engine with its default policies; pitfalls may be rewritten, because the proposer does not add but change."""
    chosen = {"allow_pitfall_removal": True, "iterations": 10**6, **settings}
    return Engine(
        skill_of(components),
        SearchDataset(tuple(feedback), tuple(validation)),
        SearchSettings(**chosen),
        strategy=strategy,
    )


def our_search(engine: Engine, evaluator: Evaluates, proposer: Proposes) -> list[Found]:
    """The pool of our engine, oldest first."""
    drive(engine, evaluator, proposer)
    result = engine.result()
    used = {event.candidate: event.rollouts for event in result.events if event.kind == "candidate_accepted"}
    return [
        Found(
            used.get(entry.digest, len(entry.scores)),
            entry.mean,
            dict(engine.skill(entry.digest).components),
        )
        for entry in result.pool
    ]


class Adapter:
    """gepa's adapter on the evaluator; it proposes through gepa's own hook for custom proposers."""

    def __init__(self, evaluator: Evaluates, proposer: Proposes) -> None:
        self._evaluator = evaluator
        self._proposer = proposer

    def evaluate(self, batch: list[str], candidate: dict[str, str], capture_traces: bool = False) -> Any:
        """Scores of a batch; the trajectory is the feedback."""
        results = [self._evaluator.run(candidate, case) for case in batch]
        notes = [note for _, note in results]
        return EvaluationBatch(
            outputs=notes, scores=[score for score, _ in results], trajectories=notes if capture_traces else None
        )

    def make_reflective_dataset(
        self, candidate: dict[str, str], eval_batch: Any, components_to_update: list[str]
    ) -> dict[str, list[dict[str, Any]]]:
        """The feedback of every case for every component."""
        return {name: [{"Feedback": note} for note in eval_batch.trajectories] for name in components_to_update}

    def propose_new_texts(
        self, candidate: dict[str, str], reflective_dataset: Any, components_to_update: list[str]
    ) -> dict[str, str]:
        """New texts by the proposer."""
        return {
            name: self._proposer.propose(name, candidate[name], [row["Feedback"] for row in reflective_dataset[name]])
            for name in components_to_update
        }


class Silent:
    """A logger that says nothing."""

    def log(self, message: str) -> None:
        """Say nothing."""


def gepa_run(
    components: Mapping[str, str], feedback: Sequence[str], validation: Sequence[str], adapter: Adapter, **options: Any
) -> list[Found]:
    """The pool of gepa with its default policies, oldest first."""
    result: Any = optimize(
        seed_candidate=dict(components),
        trainset=list(feedback),
        valset=list(validation),
        adapter=cast(Any, adapter),
        logger=Silent(),
        **options,
    )
    # gepa notes the count before the candidate's validation; what is known of it is known only afterwards.
    return [
        Found(count + len(validation), mean, candidate)
        for count, mean, candidate in zip(
            result.discovery_eval_counts, result.val_aggregate_scores, result.candidates, strict=True
        )
    ]


def gepa_search(
    components: Mapping[str, str],
    feedback: Sequence[str],
    validation: Sequence[str],
    evaluator: Evaluates,
    proposer: Proposes,
    **options: Any,
) -> list[Found]:
    """A search by gepa; see `gepa_run`."""
    return gepa_run(components, feedback, validation, Adapter(evaluator, proposer), **options)
