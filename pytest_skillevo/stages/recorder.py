"""Every answer of an experiment is committed to the journal before anybody is told of it (design decision 2).

A resumed experiment asks the same questions in the same order; answers that the journal already holds are given from
there, and nothing that was paid for is paid twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Protocol

from ..core.errors import ConfigError, TaskError
from ..core.gates.redaction import redacted
from ..core.metering import UNCAPPED, Caps, Ledger, portions
from ..core.protocols import ChatModel, Reply
from ..core.records import NO_USAGE, Message, Outcome, RolloutRequest, Usage, merge_usage
from ..core.skill import Skill
from ..execution.calls import side_by_side
from ..execution.cleaning import CleanOutcome, clean
from ..store import JournalEntry
from .cache import SearchCache
from .packing import packed, unpacked

if TYPE_CHECKING:
    from ..store import Store

#: Digits of a skill's digest that are kept with a rollout: enough to tell the versions of an experiment apart.
_VARIANT: Final = 16


class Executor(Protocol):
    """Whatever runs rollouts: this process, or workers."""

    @property
    def retried(self) -> int:
        """Further attempts after infrastructure errors."""

    @property
    def at_once(self) -> int:
        """How many rollouts it runs at the same time."""

    def run(self, work: Sequence[tuple[RolloutRequest, Skill]]) -> Iterator[tuple[int, CleanOutcome]]:
        """Yield (index in work, outcome) in any order, each exactly once."""


@dataclass(frozen=True, slots=True)
class Question:
    """A model call in the name of `role`. `make` may be called in another thread; `kept` is its key in the cache."""

    key: str
    role: str
    make: Callable[[], Reply]
    kept: str | None = None


class Recorder:
    """Asks the executor and the models, records their answers, and counts what was used.

    `redact` is applied to every text before it is stored, and what is told is what was stored. `budget` is the number
    of rollouts that may be requested in all, `caps` bound their tokens and money: what may not be sent out together is
    sent out in portions, and CapReached is raised when not even one may. Answers that `cache` knows count as requested
    and against the caps, so that no result depends on what it holds, and as no usage, because nobody is paid for them.
    """

    def __init__(
        self,
        store: Store,
        experiment: str,
        executor: Executor,
        redact: Callable[[str], str],
        budget: int,
        cache: SearchCache | None = None,
        caps: Caps = UNCAPPED,
    ) -> None:
        self._store = store
        self._experiment = experiment
        self._executor = executor
        self.redact = redact
        self._budget = budget
        self._known = {entry.key: entry.payload for entry in store.entries(experiment)}
        self._held: list[JournalEntry] = []
        self._notes: list[JournalEntry] = []
        self._cache = cache
        self._ledger = Ledger(caps)
        self.usage: dict[str, Usage] = {}
        #: Why a case skipped itself, by case id.
        self.skipped: dict[str, str] = {}
        #: Rollouts by stage, the stage being the first part of a request id.
        self.rollouts: dict[str, int] = {}
        #: Rollouts and model calls that the cache answered.
        self.cached = 0

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

    @property
    def spent(self) -> float:
        """The share that is used of the cap on tokens or money that is used up first; 0 without caps."""
        return self._ledger.share

    def flush(self) -> None:
        """Commit errored answers that were held back.

        They are kept only when something is asked after them: a run that stops because of them asks them again.
        """
        if self._held:
            self._append(self._held)
            self._held = []

    def run(
        self, work: Sequence[tuple[RolloutRequest, Skill]], on_done: Callable[[Outcome], None] = lambda outcome: None
    ) -> list[Outcome]:
        """Outcomes in request order, recorded ones from the journal, with traces. Raises CapReached."""
        if self.used + len(work) > self._budget:
            raise ConfigError(f"internal: {len(work)} more rollouts would exceed the budget of {self._budget}")
        self.flush()
        told: list[Outcome] = []
        for part in portions(self._ledger, "rollout", len(work)):
            some = self._run(work[part], on_done)
            # In the order of the requests, so that what may follow depends on no worker and on no interruption.
            for outcome in some:
                self._ledger.count_rollout(outcome)
            told += some
        return told

    def _run(self, work: Sequence[tuple[RolloutRequest, Skill]], on_done: Callable[[Outcome], None]) -> list[Outcome]:
        """Outcomes of what may be sent out together."""
        outcomes: list[Outcome | None] = [self._recorded(request) for request, _ in work]
        for (request, _), outcome in zip(work, outcomes, strict=True):
            if outcome is not None:
                self._count(request, outcome)
                on_done(outcome)
        for index, outcome in self._from_cache({i: work[i][0] for i, told in enumerate(outcomes) if told is None}):
            outcomes[index] = outcome
            self._count(work[index][0], outcome)
            on_done(outcome)
        open_places = [index for index, outcome in enumerate(outcomes) if outcome is None]
        try:
            for place, outcome in self._executor.run([work[index] for index in open_places]):
                index = open_places[place]
                outcomes[index] = told = self._record(work[index][0], outcome)
                self._count(work[index][0], told)
                on_done(told)
        finally:
            if self._cache is not None:
                self._cache.flush()
        return [outcome for outcome in outcomes if outcome is not None]

    def _from_cache(self, requests: Mapping[int, RolloutRequest]) -> Iterator[tuple[int, Outcome]]:
        """What the cache knows, entered into the journal like any answer."""
        if self._cache is None:
            return
        keys = {index: key for index, request in requests.items() if (key := self._cache.key(request))}
        known = self._cache.get(list(keys.values()))
        found = {index: known[key] for index, key in keys.items() if key in known}
        entries = []
        for index, kept in found.items():
            request = requests[index]
            payload = {**self._about(request), **kept, "cached": True}
            self._known[request.id] = payload
            entries.append(JournalEntry(request.id, "rollout", payload))
        if entries:
            self._append(entries)
        for index in found:
            outcome = self._recorded(requests[index])
            assert outcome is not None
            yield index, outcome

    def _count(self, request: RolloutRequest, outcome: Outcome) -> None:
        stage = request.id.split("/", 1)[0]
        self.rollouts[stage] = self.rollouts.get(stage, 0) + 1
        if outcome.status == "skipped":
            self.skipped.setdefault(request.case_id, outcome.reason)
        if self._was_cached(request.id):
            self.cached += 1
        elif outcome.evaluation is not None:
            # An agent that reported nothing makes the sum unknown, not zero.
            self.usage = merge_usage(self.usage, {"agent": Usage(), **outcome.evaluation.usage})

    def question(
        self,
        key: str,
        role: str,
        model: ChatModel,
        messages: Sequence[Message],
        *,
        seed: int,
        max_tokens: int | None = None,
        response_schema: Mapping[str, Any] | None = None,
    ) -> Question:
        """One model call of the experiment itself (reflection, review), to be recorded under `key`."""
        parameters: dict[str, Any] = {"seed": seed, "max_tokens": max_tokens, "response_schema": response_schema}
        kept = None if self._cache is None else self._cache.chat_key(key, role, model, messages, parameters)

        def ask() -> Reply:
            try:
                return model.complete(messages, **parameters)
            except TaskError:  # refused before anything was written: it fares like an answer that was cut off at once
                return Reply("", (), "length", NO_USAGE)

        return Question(key, role, ask, kept)

    def answer(self, question: Question) -> Reply:
        """The text answer recorded under the question's key, made if there is none."""
        (reply,) = self.answers([question])
        return reply

    def answers(self, questions: Sequence[Question]) -> list[Reply]:
        """The answers in order; those that are not recorded are made side by side, as many as the executor runs.

        Raises CapReached.
        """
        self.flush()
        replies: list[Reply] = []
        for part in portions(self._ledger, "call", len(questions)):
            some = questions[part]
            missing = [one for one in some if one.key not in self._known and not self._kept(one)]
            for index, reply in side_by_side([one.make for one in missing], self._executor.at_once):
                self._made(missing[index], reply)
            for question in some:
                replies.append(self._answered(question))
                self._ledger.count_call(replies[-1].usage)
        return replies

    def _kept(self, question: Question) -> bool:
        """Whether the cache knows the answer, which then enters the journal like any other."""
        if self._cache is None or question.kept is None:
            return False
        known = self._cache.get([question.kept])
        if known:
            self._enter(question, {**known[question.kept], "cached": True})
        return bool(known)

    def _made(self, question: Question, reply: Reply) -> None:
        """Record a new answer, which the cache keeps when it came to its end."""
        payload = {
            "text": self.redact(reply.text),
            "finish_reason": reply.finish_reason,
            "usage": reply.usage.to_json(),
        }
        if self._cache is not None and question.kept is not None and reply.finish_reason == "stop":
            self._cache.keep(question.kept, payload)
            self._cache.flush()
        self._enter(question, payload)

    def _enter(self, question: Question, payload: dict[str, Any]) -> None:
        self._known[question.key] = payload
        self._append([JournalEntry(question.key, question.role, payload)])

    def _answered(self, question: Question) -> Reply:
        payload = self._known[question.key]
        usage = Usage.from_json(payload["usage"])
        if self._was_cached(question.key):
            self.cached += 1
        else:
            self.usage = merge_usage(self.usage, {question.role: usage})
        return Reply(payload["text"], (), payload["finish_reason"], usage)

    def _was_cached(self, key: str) -> bool:
        known = self._known.get(key)
        return isinstance(known, dict) and known.get("cached", False)

    def event(self, key: str, kind: str, make: Callable[[], Any]) -> Any:
        """A decision from outside (clock, interrupt) that a resumed run must repeat: recorded once, then the same."""
        if key not in self._known:
            value = make()
            if value is None:
                return None
            self._append([JournalEntry(key, kind, value)])
            self._known[key] = value
        return self._known[key]

    def cleaned(self, payload: Any) -> Any:
        """A JSON-able copy without secrets."""
        return clean(payload, self.redact)

    def note(self, entries: Sequence[JournalEntry]) -> bool:
        """Record what others shall read about the run; entries that are there already are left as they are.

        They are committed with the next answer, or by `write_notes`: no answer, and a resumed run makes them again.
        Returns whether one was new.
        """
        fresh = [entry for entry in entries if entry.key not in self._known]
        self._notes += fresh
        self._known.update((entry.key, entry.payload) for entry in fresh)
        return bool(fresh)

    def write_notes(self) -> None:
        """Commit what was noted since the last answer."""
        if self._notes:
            self._append(())

    def _append(self, entries: Sequence[JournalEntry]) -> None:
        self._store.append(self._experiment, [*self._notes, *entries])
        self._notes.clear()

    def _recorded(self, request: RolloutRequest) -> Outcome | None:
        payload = self._known.get(request.id)
        if payload is None:
            return None
        trace = payload.get("trace")
        return _with_trace(unpacked(payload["outcome"]), None if trace is None else self._store.trace(trace))

    def _about(self, request: RolloutRequest) -> dict[str, Any]:
        """What a reader of the journal must know of a request besides its answer."""
        return {"case": self.redact(request.case_id), "variant": request.variant[:_VARIANT], "seed": request.seed}

    def _record(self, request: RolloutRequest, outcome: CleanOutcome) -> Outcome:
        # Another process may have cleaned it, and this one may know secrets that the other does not.
        trace = None if outcome.evaluation is None else redacted(outcome.evaluation.trace, self.redact)
        digest = None if trace is None else self._store.put_trace(trace)
        # The store cuts what is too long; a resumed run reads it there, so this one is told the same.
        kept = None if digest is None else self._store.trace(digest)
        told = _with_trace(Outcome.from_json(redacted(outcome.to_json(), self.redact)), kept)
        answer = {"outcome": packed(told)} if digest is None else {"outcome": packed(told), "trace": digest}
        payload = {**self._about(request), **answer}
        entry = JournalEntry(request.id, "rollout", payload)
        if told.status == "errored":
            self._held.append(entry)
        else:
            self._append([entry])
        if told.status == "scored" and self._cache is not None and (key := self._cache.key(request)):
            self._cache.keep(key, answer)
        return told


def _with_trace(outcome: Outcome, trace: Any) -> Outcome:
    if outcome.evaluation is None or trace is None:
        return outcome
    return replace(outcome, evaluation=replace(outcome.evaluation, trace=trace))
