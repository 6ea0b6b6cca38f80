"""The search: the ask/tell engine, driven by the recorder until it finishes or a limit stops it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias, TypeVar

from ..core.errors import CapReached, ConfigError, InfrastructureError, SkillevoError
from ..core.gepa import (
    Answer,
    Brief,
    Engine,
    EventKind,
    PoolEntry,
    ReflectionAnswer,
    ReflectionFailed,
    ReflectionRequest,
    RolloutAnswer,
    SearchEvent,
    SearchResult,
    StopReason,
)
from ..core.protocols import ChatModel, Reply
from ..core.records import NO_USAGE, RolloutRequest
from ..core.skill import Skill
from ..execution.calls import TimeUp, in_time
from ..store import JournalEntry
from .progress import Progress
from .recorder import Question, Recorder
from .report_data import event_words, is_accepted

T = TypeVar("T")

#: Tells observers of an event: its kind, its data, and whether it comes from the journal of an earlier run.
Tell: TypeAlias = Callable[[str, Mapping[str, Any], bool], None]

#: Journal kinds of what is recorded for readers of a search: its start, and each iteration.
BEGIN_KIND = "search-begin"
EVENT_KIND = "search-event"


@dataclass(frozen=True, slots=True)
class Proposer:
    """A proposer that is no language model. `propose(brief, seed)` gives the new text of the brief's component."""

    name: str
    propose: Callable[[Brief, int], str]


class TimeLimit:
    """The wall-clock cap of a search. When it strikes is recorded, so that a resumed run stops at the same place."""

    def __init__(self, seconds: float | None, clock: Callable[[], float]) -> None:
        self._begun = clock()
        self._seconds = seconds
        self._end = None if seconds is None else self._begun + seconds
        self._clock = clock

    @property
    def share(self) -> float:
        """The share of the time that is used; 0 without a limit."""
        return 0.0 if self._seconds is None else (self._clock() - self._begun) / self._seconds

    def over(self) -> bool:
        """Whether the time is used up."""
        return self._end is not None and self._clock() >= self._end

    def within(self, call: Callable[[], T]) -> T:
        """The result of a call that may hang. Raises TimeUp when the time is used up before it ends."""
        return call() if self._end is None else in_time(call, self._end - self._clock())


class Search:
    """One search: the engine, who answers it, and what is recorded and shown of it."""

    def __init__(
        self,
        engine: Engine,
        author: ChatModel | Proposer,
        recorder: Recorder,
        progress: Progress,
        limit: TimeLimit,
        tell: Tell = lambda kind, data, replayed: None,
        asked_to_stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self._engine = engine
        self._author = author
        self._recorder = recorder
        self._progress = progress
        self._limit = limit
        self._tell_observers = tell
        self._asked_to_stop = asked_to_stop
        self._told = 0
        self._standing: dict[str, Any] = {"iteration": 0, "pool": 0, "best": None, "seed_score": None}

    def run(self, iterations: int, budget: int) -> SearchResult:
        """Ask, run, tell until the engine is finished; `iterations` and `budget` (rollouts) are for the progress line.

        An interrupt ends it with the best so far as its message.
        """
        self._progress.stage("search", total=budget)
        self._begin()
        batch = 0
        try:
            while requests := self._engine.ask():
                key = f"search/stop-before/{batch:05d}"
                if self._recorder.event(key, "stop", lambda: {"reason": "time_limit"} if self._limit.over() else None):
                    self._engine.stop(StopReason.TIME_LIMIT)
                    break
                if self._asked_to_stop():
                    self._engine.stop(StopReason.STOP_REQUESTED)
                    break
                try:
                    self._engine.tell(self._answers(requests))
                except TimeUp:
                    self._recorder.event(key, "stop", lambda: {"reason": "time_limit"})
                    self._engine.stop(StopReason.TIME_LIMIT)
                    break
                except CapReached as reached:
                    # Rollouts of this very batch were dearer than all before, so that what was reserved is not enough.
                    self._engine.stop(StopReason(reached.reason), str(reached))
                    break
                batch += 1
                self._tell(iterations, budget)
        except KeyboardInterrupt:
            self._engine.stop(StopReason.INTERRUPTED)
            self._recorder.write_notes()
            raise KeyboardInterrupt(best_so_far(self._engine.result())) from None
        self._tell(iterations, budget)
        self._recorder.write_notes()
        result = self._engine.result()
        end = {"stop_reason": str(result.stop_reason), "stop_detail": result.stop_detail, "winner": result.winner}
        counts = {"iterations": result.iterations, "rollouts": result.rollouts}
        self._tell_observers("search_ended", self._recorder.cleaned({**end, **counts}), False)
        return result

    def _answers(self, requests: Sequence[RolloutRequest | ReflectionRequest]) -> list[Answer]:
        rollouts = [request for request in requests if isinstance(request, RolloutRequest)]
        skills = {digest: self._engine.skill(digest) for digest in {request.variant for request in rollouts}}
        outcomes = self._recorder.run([(request, skills[request.variant]) for request in rollouts])
        answers: list[Answer] = [
            RolloutAnswer(request.id, outcome) for request, outcome in zip(rollouts, outcomes, strict=True)
        ]
        return [*answers, *(self._reflect(request) for request in requests if isinstance(request, ReflectionRequest))]

    def _reflect(self, request: ReflectionRequest) -> Answer:
        author = self._author
        try:
            if isinstance(author, Proposer):
                brief = self._engine.brief(request.id)
                question = Question(request.id, "reflection", lambda: _proposed(author, brief, request.seed))
            else:
                question = self._recorder.question(
                    request.id,
                    "reflection",
                    author,
                    request.messages,
                    seed=request.seed,
                    max_tokens=request.max_tokens,
                    response_schema=request.response_schema,
                )
            reply = self._recorder.answer(replace(question, make=partial(self._limit.within, question.make)))
        except InfrastructureError as error:
            return ReflectionFailed(request.id, str(error))
        return ReflectionAnswer(request.id, reply.text, reply.finish_reason, reply.usage)

    def _begin(self) -> None:
        result = self._engine.result()
        seed = self._engine.skill(result.seed)
        dataset = self._engine.dataset
        payload = {
            "seed": seed.digest,
            "name": seed.name,
            "components": dict(seed.components),
            "feedback": list(dataset.feedback),
            "validation": list(dataset.validation),
        }
        self._note("search/event/begin", BEGIN_KIND, payload, "search_begun")
        self._recorder.write_notes()

    def _tell(self, iterations: int, budget: int) -> None:
        """Record and show what is new."""
        if self._engine.event_count > self._told or self._engine.finished:
            result = self._engine.result()
            entries = {entry.digest: entry for entry in result.pool}
            for event in result.events[self._told :]:
                accepted = entries.get(event.candidate or "") if is_accepted(event) else None
                self._record(event, accepted, result)
                self._show(event, accepted, list(entries))
            self._told = len(result.events)
            best, seed = entries.get(result.winner), entries.get(result.seed)
            self._standing = {
                "iteration": result.iterations,
                "pool": len(entries),
                "best": None if best is None else best.mean,
                "seed_score": None if seed is None else seed.mean,
            }
        self._progress.search(
            **self._standing,
            iterations=iterations,
            rollouts=self._recorder.used,
            budget=budget,
            tokens=self._recorder.tokens,
            spent=max(self._recorder.spent, self._limit.share),
        )

    def _record(self, event: SearchEvent, accepted: PoolEntry | None, result: SearchResult) -> None:
        """Keep an iteration for readers. What was cut short is asked again by a resumed run and may end otherwise."""
        if event.kind is EventKind.ITERATION_CUT:
            return
        record: dict[str, Any] = {"event": event.to_json()}
        if event.iteration == 0:
            record["entry"] = result.pool[0].to_json()
        if accepted is not None:
            assert accepted.parent is not None
            new, old = (self._engine.skill(digest) for digest in (accepted.digest, accepted.parent))
            # The seed's record names the cases; the others follow its order.
            record["entry"] = {**accepted.to_json(), "scores": list(accepted.scores.values())}
            record["changed"] = changed_components(old, new)
        self._note(f"search/event/{event.iteration:05d}", EVENT_KIND, record, event.kind.value)

    def _show(self, event: SearchEvent, accepted: PoolEntry | None, pool: list[str]) -> None:
        if event.parent is not None:
            names = {} if event.follows is not None else {event.parent: f"c{pool.index(event.parent)}"}
            self._progress.proposal(
                iteration=event.iteration,
                component=event.component,
                parent=event.parent_name(names),
                verdict=event_words(event),
                minibatch_parent=event.parent_sum,
                minibatch_child=event.child_sum,
                validation=None if accepted is None else accepted.mean,
            )

    def _note(self, key: str, kind: str, payload: object, name: str) -> None:
        """Record, then tell observers: what they are told is kept."""
        cleaned = self._recorder.cleaned(payload)
        fresh = self._recorder.note([JournalEntry(key, kind, cleaned)])
        self._tell_observers(name, cleaned, not fresh)


def changed_components(old: Skill, new: Skill) -> dict[str, str]:
    """The text of every component that differs, as the new skill has it."""
    return {name: text for name, text in new.components.items() if text != old.components.get(name)}


def best_so_far(result: SearchResult) -> str:
    """Where an interrupted search stands, in a few words; empty when not even the seed skill was validated."""
    means = {entry.digest: entry.mean for entry in result.pool}
    if not means:
        return ""
    tried = f"after {result.iterations} proposals"
    if result.winner == result.seed:
        return f"nothing better than the seed skill was found {tried}"
    return f"best so far: validation {means[result.winner]:.3f}, seed skill {means[result.seed]:.3f}, {tried}"


def _proposed(proposer: Proposer, brief: Brief, seed: int) -> Reply:
    """The proposer's text in the form of a model's answer, so that it passes the same checks."""
    try:
        text = proposer.propose(brief, seed)
    except SkillevoError:
        raise
    except Exception as error:
        raise ConfigError(f"the proposer '{proposer.name}' failed with {type(error).__name__}: {error}") from error
    if not isinstance(text, str):
        raise ConfigError(f"the proposer '{proposer.name}' must give the new text of '{brief.component}', not {text!r}")
    answer = {"component": brief.component, "text": text, "rationale": f"by the proposer {proposer.name}"}
    return Reply(json.dumps(answer), (), "stop", NO_USAGE)
