"""Every answer of an experiment is committed to the journal before anybody is told of it (design decision 2).

A resumed experiment asks the same questions in the same order; answers that the journal already holds are given from
there, and nothing that was paid for is paid twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from ..core.errors import ConfigError
from ..core.protocols import ChatModel, Reply
from ..core.records import Message, Outcome, RolloutRequest, Usage, merge_usage
from ..core.skill import Skill
from ..store import JournalEntry, Store
from .cleaning import LONGEST_FEEDBACK, clean


class Executor(Protocol):
    """Whatever runs rollouts: this process, or workers. `retried` counts further attempts after errors."""

    retried: int

    def run(self, work: Sequence[tuple[RolloutRequest, Skill]]) -> Iterator[tuple[int, Outcome]]:
        """Yield (index in work, outcome) in any order, each exactly once."""


class Recorder:
    """Asks the executor and the models, records their answers, and counts what was used.

    `redact` is applied to every text before it is stored, and what is told is what was stored. `budget` is the number
    of rollouts that may be requested in all.
    """

    def __init__(
        self, store: Store, experiment: str, executor: Executor, redact: Callable[[str], str], budget: int
    ) -> None:
        self._store = store
        self._experiment = experiment
        self._executor = executor
        self.redact = redact
        self._budget = budget
        self._known = {entry.key: entry.payload for entry in store.entries(experiment)}
        self._held: list[JournalEntry] = []
        self.usage: dict[str, Usage] = {}
        #: Why a case skipped itself, by case id.
        self.skipped: dict[str, str] = {}
        #: Rollouts by stage, the stage being the first part of a request id.
        self.rollouts: dict[str, int] = {}

    @property
    def used(self) -> int:
        """Rollouts requested so far, retries of infrastructure errors not counted."""
        return sum(self.rollouts.values())

    @property
    def retried(self) -> int:
        """Further attempts after infrastructure errors, in this process."""
        return self._executor.retried

    @property
    def tokens(self) -> int | None:
        """Tokens of all roles so far, None when one is unknown."""
        return Usage.total(self.usage.values()).tokens

    def flush(self) -> None:
        """Commit errored answers that were held back.

        They are kept only when something is asked after them: a run that stops because of them asks them again.
        """
        if self._held:
            self._store.append(self._experiment, self._held)
            self._held = []

    def run(
        self, work: Sequence[tuple[RolloutRequest, Skill]], on_done: Callable[[Outcome], None] = lambda outcome: None
    ) -> list[Outcome]:
        """Outcomes in request order, recorded ones from the journal, with traces."""
        if self.used + len(work) > self._budget:
            raise ConfigError(f"internal: {len(work)} more rollouts would exceed the budget of {self._budget}")
        self.flush()
        outcomes: list[Outcome | None] = [self._recorded(request) for request, _ in work]
        for (request, _), outcome in zip(work, outcomes, strict=True):
            if outcome is not None:
                self._count(request, outcome)
                on_done(outcome)
        open_places = [index for index, outcome in enumerate(outcomes) if outcome is None]
        for place, outcome in self._executor.run([work[index] for index in open_places]):
            index = open_places[place]
            outcomes[index] = told = self._record(work[index][0], outcome)
            self._count(work[index][0], told)
            on_done(told)
        return [outcome for outcome in outcomes if outcome is not None]

    def _count(self, request: RolloutRequest, outcome: Outcome) -> None:
        stage = request.id.split("/", 1)[0]
        self.rollouts[stage] = self.rollouts.get(stage, 0) + 1
        if outcome.status == "skipped":
            self.skipped.setdefault(request.case_id, outcome.reason)
        if outcome.evaluation is not None:
            # An agent that reported nothing makes the sum unknown, not zero.
            self.usage = merge_usage(self.usage, {"agent": Usage(), **outcome.evaluation.usage})

    def chat(
        self,
        key: str,
        role: str,
        model: ChatModel,
        messages: Sequence[Message],
        *,
        seed: int,
        max_tokens: int | None = None,
        response_schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """One model call of the experiment itself (reflection, review), recorded under `key`."""
        self.flush()
        payload = self._known.get(key)
        if payload is None:
            reply = model.complete(messages, seed=seed, max_tokens=max_tokens, response_schema=response_schema)
            payload = {
                "text": self.redact(reply.text),
                "finish_reason": reply.finish_reason,
                "usage": reply.usage.to_json(),
            }
            self._store.append(self._experiment, [JournalEntry(key, role, payload)])
        usage = Usage.from_json(payload["usage"])
        self.usage = merge_usage(self.usage, {role: usage})
        return Reply(payload["text"], (), payload["finish_reason"], usage)

    def event(self, key: str, kind: str, make: Callable[[], Any]) -> Any:
        """A decision from outside (clock, interrupt) that a resumed run must repeat: recorded once, then the same."""
        if key not in self._known:
            value = make()
            if value is None:
                return None
            self._store.append(self._experiment, [JournalEntry(key, kind, value)])
            self._known[key] = value
        return self._known[key]

    def known(self, key: str) -> bool:
        """Whether the journal already holds an answer under this key."""
        return key in self._known

    def _recorded(self, request: RolloutRequest) -> Outcome | None:
        payload = self._known.get(request.id)
        if payload is None:
            return None
        outcome = Outcome.from_json(payload["outcome"])
        return _with_trace(outcome, None if payload["trace"] is None else self._store.trace(payload["trace"]))

    def _record(self, request: RolloutRequest, outcome: Outcome) -> Outcome:
        trace = None if outcome.evaluation is None else clean(outcome.evaluation.trace, self.redact)
        digest = None if trace is None else self._store.put_trace(trace)
        # The store cuts what is too long; a resumed run reads it there, so this one is told the same.
        kept = None if digest is None else self._store.trace(digest)
        told = _with_trace(Outcome.from_json(clean(outcome.to_json(), self.redact, LONGEST_FEEDBACK)), kept)
        payload = {"variant": request.variant, "seed": request.seed, "outcome": told.to_json(), "trace": digest}
        entry = JournalEntry(request.id, "rollout", payload)
        if told.status == "errored":
            self._held.append(entry)
        else:
            self._store.append(self._experiment, [entry])
        return told


def _with_trace(outcome: Outcome, trace: Any) -> Outcome:
    if outcome.evaluation is None or trace is None:
        return outcome
    return replace(outcome, evaluation=replace(outcome.evaluation, trace=trace))
