"""The search: the ask/tell engine, driven by the recorder until it finishes or a limit stops it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..core.errors import InfrastructureError
from ..core.gepa import (
    Answer,
    Engine,
    ReflectionAnswer,
    ReflectionFailed,
    ReflectionRequest,
    RolloutAnswer,
    SearchResult,
    StopReason,
)
from ..core.protocols import ChatModel
from ..core.records import RolloutRequest
from .progress import Progress
from .recorder import Recorder
from .report_data import event_words, is_accepted


class TimeLimit:
    """The wall-clock cap of a search. When it strikes is recorded, so that a resumed run stops at the same place."""

    def __init__(self, seconds: float | None, clock: Callable[[], float]) -> None:
        self._end = None if seconds is None else clock() + seconds
        self._clock = clock

    def over(self) -> bool:
        """Whether the time is used up."""
        return self._end is not None and self._clock() >= self._end


def run_search(
    engine: Engine,
    model: ChatModel,
    recorder: Recorder,
    progress: Progress,
    limit: TimeLimit,
    iterations: int,
    budget: int,
) -> SearchResult:
    """Ask, run, tell until the engine is finished. `iterations` and `budget` (rollouts) are for the progress line."""
    progress.stage("search", total=budget)
    shown = 0
    batch = 0
    while requests := engine.ask():
        key = f"search/stop-before/{batch:05d}"
        if recorder.event(key, "stop", lambda: {"reason": "time_limit"} if limit.over() else None):
            engine.stop(StopReason.TIME_LIMIT)
            break
        engine.tell(_answers(engine, requests, model, recorder))
        batch += 1
        result = engine.result()
        shown = _show(result, shown, recorder, progress, iterations, budget)
    return engine.result()


def _answers(
    engine: Engine, requests: Sequence[RolloutRequest | ReflectionRequest], model: ChatModel, recorder: Recorder
) -> list[Answer]:
    rollouts = [request for request in requests if isinstance(request, RolloutRequest)]
    outcomes = recorder.run([(request, engine.skill(request.variant)) for request in rollouts])
    answers: list[Answer] = [
        RolloutAnswer(request.id, outcome) for request, outcome in zip(rollouts, outcomes, strict=True)
    ]
    for request in requests:
        if isinstance(request, ReflectionRequest):
            answers.append(_reflect(request, model, recorder))
    return answers


def _reflect(request: ReflectionRequest, model: ChatModel, recorder: Recorder) -> Answer:
    try:
        reply = recorder.chat(
            request.id,
            "reflection",
            model,
            request.messages,
            seed=request.seed,
            max_tokens=request.max_tokens,
            response_schema=request.response_schema,
        )
    except InfrastructureError as error:
        return ReflectionFailed(request.id, str(error))
    return ReflectionAnswer(request.id, reply.text, reply.finish_reason, reply.usage)


def _show(
    result: SearchResult, shown: int, recorder: Recorder, progress: Progress, iterations: int, budget: int
) -> int:
    """Tell what is new since event number `shown`; returns the number of events told so far."""
    means = {entry.digest: entry.mean for entry in result.pool}
    names = {entry.digest: f"c{place}" for place, entry in enumerate(result.pool)}
    for event in result.events[shown:]:
        if event.parent is not None:
            progress.proposal(
                iteration=event.iteration,
                component=event.component,
                parent=names[event.parent],
                verdict=event_words(event),
                minibatch_parent=event.parent_sum,
                minibatch_child=event.child_sum,
                validation=means.get(event.candidate or "") if is_accepted(event) else None,
            )
    progress.search(
        iteration=result.iterations,
        iterations=iterations,
        pool=len(result.pool),
        best=means.get(result.winner),
        seed_score=means.get(result.seed),
        rollouts=recorder.used,
        budget=budget,
        tokens=recorder.tokens,
    )
    return len(result.events)
