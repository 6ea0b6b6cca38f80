"""The service: takes finished sessions in, works through them in threads, and never harms the task that brings one.

    with LearningService(store, Reviewer(model)) as learning:
        learning.enqueue(LearningJob(session, outcome))

`enqueue` commits the session to the store's queue and returns; it never raises. What a process leaves undone, the next
service on the store does (spec/online-revisions.md 11, 12, 19 #22 to #24).
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import timedelta
from types import TracebackType
from typing import Any, Final

from ..core.errors import ConfigError, SkillevoError
from ..core.gates.redaction import MARK, is_secret
from ..core.gates.redaction import redact as redact_by_shape
from ..core.review.reviewer import Review, ReviewFailed, Reviewing
from ..core.scopes import NO_SCOPE, Scope, resolve
from ..core.sessions import Event, Session, TaskOutcome
from ..store import Store
from ..store.learning import CONTEXT
from ..store.learning_records import JobStatus, Piece, Work
from .deadline import Deadline, Stuck, TimedOut
from .pipeline import Pipeline
from .settings import MAX_MESSAGE, Policy, Settings

_LOG: Final = logging.getLogger("pytest_skillevo.learning")
_LONGEST_ERROR: Final = 500


@dataclass(frozen=True, slots=True)
class LearningJob:
    """A finished piece of work to learn from. `kind` names tasks that can be compared with each other."""

    session: Session
    outcome: TaskOutcome | None = None
    scope: Scope = NO_SCOPE
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of a session that was handed in.

    `status`: "queued"; "inline" (the queue was full, so the caller did one waiting job); "nothing_new";
    "outcome_added" (to a piece that came without one); "refused" (full); "failed" (`error` says why).
    """

    status: str
    job: int | None = None
    error: str = ""


class LearningService:
    """Learns from sessions in the background. Use it as a context manager, or call `start` and `close`."""

    def __init__(
        self,
        store: Store,
        reviewer: Reviewing,
        settings: Settings | None = None,
        *,
        policy: Policy | None = None,
        redact: Callable[[str], str] = redact_by_shape,
    ) -> None:
        self._store = store
        self._queue = store.learning
        self._settings = settings or Settings()
        self._redact = redact
        self._pipeline = Pipeline(store, reviewer, self._settings, policy, redact)
        self._deadline: Deadline[Review | None] = Deadline(self._settings.timeout, self._settings.max_stuck)
        self._wake = threading.Condition()
        self._running = 0
        self._closing = False
        self._draining = False
        self._threads: list[threading.Thread] = []
        self._slot: int | None = None
        self._held = ExitStack()

    # Life

    def start(self) -> None:
        """Begin to work; what dead services left is queued again. A second start does nothing. Raises StoreError."""
        with self._wake:
            if self._threads or self._closing:
                return
            self._take_slot()
            self._threads = [
                threading.Thread(target=self._work, name=f"skillevo-learning-{n}", daemon=True)
                for n in range(self._settings.workers)
            ]
        for thread in self._threads:
            thread.start()

    def close(self, *, drain: bool = True, timeout: float | None = None) -> bool:
        """End the work: with `drain` first do what is due. Returns whether all of it was done within `timeout` seconds.

        What is left stays in the store's queue. After this, `enqueue` still stores sessions for the next service.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        with self._wake:
            self._draining = drain
            self._closing = True
            self._wake.notify_all()
        for thread in self._threads:
            thread.join(None if deadline is None else max(0.0, deadline - time.monotonic()))
        over = any(thread.is_alive() for thread in self._threads)
        with self._wake:
            self._draining = False
            if not over:
                self._held.close()
                self._slot = None
        return not over

    def __enter__(self) -> LearningService:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Taking in

    def enqueue(self, job: LearningJob) -> Receipt:
        """Hand in a session, whole or up to now; only what is new in it is stored, once. Never raises."""
        try:
            return self._enqueue(job)
        except Exception as error:
            text = self._words(error)
            _LOG.warning("a session was not taken in: %s", text)
            return Receipt("failed", error=text)

    def _enqueue(self, job: LearningJob) -> Receipt:
        session = job.session
        scope = resolve(self._settings.scope_mode, job.scope, Scope(session.app, session.user))
        outcome = job.outcome
        self._refuse_secret_names(session, scope, job.kind)
        if outcome is not None:
            outcome = replace(
                outcome,
                status=self._redact(outcome.status),
                notes=self._redact(outcome.notes)[:MAX_MESSAGE],
                evaluator=self._redact(outcome.evaluator),
            )
        piece = Piece(self._cleaned(session), outcome, scope.key, job.kind)
        limit = self._settings.queue_size * self._settings.workers
        accepted = self._queue.add(piece, limit=limit)
        if accepted.status != "full":
            self._nudge()
            return Receipt(accepted.status, accepted.job)
        if self._settings.overflow == "refuse" or self._closing or not self._threads:
            self._queue.count({"refused_full": 1})
            return Receipt("refused", error=f"{limit} jobs wait already")
        accepted = self._queue.add(piece)
        self._queue.count({"fallbacks": 1})
        self.run_one()
        return Receipt("inline", accepted.job)

    def _refuse_secret_names(self, session: Session, scope: Scope, kind: str) -> None:
        """Ids tell sessions and users apart, so that a secret in one cannot be taken out: the session is refused."""
        names = {"id": session.id, "app": session.app, "user": session.user, "kind": kind}
        listed = [*names.items(), ("scope", scope.app), ("scope", scope.user)]
        listed += [("skills", name) for pair in session.skills.items() for name in pair]
        for what, name in listed:
            self._refuse_secret(what, name)

    def _refuse_secret(self, what: str, name: str) -> None:
        if name and self._redact(name) != name:
            raise ConfigError(f"a secret stands in the {what} of the session; give it another name")

    def _cleaned(self, session: Session) -> Session:
        """The session without secrets and without texts of more than MAX_MESSAGE characters, as far as it is stored.

        What was handed in before is left alone: a long session must not cost its whole length again with every turn.
        """
        start = max(0, session.after(self._queue.accepted(session)) - CONTEXT)
        self._refuse_secret("event ids", "\n".join(event.id for event in session.events[start:]))
        fresh = (Event(one.id, one.at, _cleaned(one.message, self._redact)) for one in session.events[start:])
        return replace(session, events=(*session.events[:start], *fresh))

    def _nudge(self) -> None:
        with self._wake:
            self._wake.notify()

    # Working

    def run_one(self) -> bool:
        """Do one waiting job in the caller's thread; whether there was one. Errors are kept with the job."""
        slot = self._take_slot()
        work = self._queue.claim(slot)
        if work is None:
            return False
        self._carry_out(work)
        return True

    def drain(self) -> int:
        """Do everything that is due in the caller's thread; how many jobs that were."""
        done = 0
        while self.run_one():
            done += 1
        return done

    def _take_slot(self) -> int:
        with self._wake:
            if self._slot is None:
                self._slot = self._held.enter_context(self._queue.slot())
            return self._slot

    def _work(self) -> None:
        """The life of a worker."""
        while True:
            with self._wake:
                if self._closing and not self._draining:
                    return
            worked = self._deadline.hanging < self._settings.max_stuck and self._attempt()
            with self._wake:
                if worked:
                    continue
                if self._closing and (self._running == 0 or not self._draining):
                    return
                self._wake.wait(min(self._settings.poll, 0.05) if self._closing else self._settings.poll)

    def _attempt(self) -> bool:
        """One look into the queue that nothing can end."""
        with self._wake:
            self._running += 1
        try:
            return self.run_one()
        except Exception as error:  # the store is locked, full or gone: the job stays where it is
            _LOG.warning("learning could not go on: %s", self._words(error))
            return False
        finally:
            with self._wake:
                self._running -= 1

    def _carry_out(self, work: Work) -> None:
        began = time.monotonic()
        try:
            verdict = self._pipeline.run(work, self._deadline.call)
        except Stuck:
            self._queue.give_back(work)
            return
        except Exception as error:
            self._failed(work, error)
            return
        counts = verdict.counts | {"work_ms": int(1_000 * (time.monotonic() - began))}
        if verdict.done:
            self._queue.finish(work, verdict.result, counts)
        else:
            self._queue.carry(work, verdict.result, counts)

    def _failed(self, work: Work, error: Exception) -> None:
        counts = {"failed_attempts": 1}
        if isinstance(error, TimedOut):
            counts["timeouts"] = 1
        if isinstance(error, ReviewFailed) and error.usage.tokens is not None:
            counts["reviewer_tokens"] = error.usage.tokens
        text = self._words(error)
        wait = timedelta(seconds=self._settings.backoff * 2 ** (work.job.attempts - 1))
        status = self._queue.fail(work, text, attempts=self._settings.attempts, wait=wait, counts=counts)
        level = logging.WARNING if status is JobStatus.PARKED else logging.INFO
        _LOG.log(level, "learning job %s of session %s: %s (%s)", work.job.seq, work.job.session_id, text, status)

    def _words(self, error: Exception) -> str:
        own = isinstance(error, SkillevoError | TimedOut)
        text = str(error) if own and str(error) else f"{type(error).__name__}: {error}"
        return self._redact(" ".join(text.split()))[:_LONGEST_ERROR]


def _cleaned(value: Any, redact: Callable[[str], str]) -> Any:
    """A message without secrets; texts are cut after they were redacted."""
    if isinstance(value, str):
        text = redact(value)
        return text if len(text) <= MAX_MESSAGE else f"{text[:MAX_MESSAGE]}\n[cut]"
    if isinstance(value, list | tuple):
        return [_cleaned(one, redact) for one in value]
    if not isinstance(value, dict):
        return value
    named = {str(key): one for key, one in value.items()}
    return {redact(key): MARK if is_secret(key, one) else _cleaned(one, redact) for key, one in named.items()}
