"""A worker's side: rollouts that the controller sends, run one after another (or side by side) in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from queue import Empty, SimpleQueue
from typing import Any, Protocol

import pytest

from ..core.errors import ConfigError, ExperimentInterrupted, InfrastructureError
from ..core.records import Outcome, RolloutRequest
from ..core.skill import Skill
from . import messages
from .cleaning import CleanOutcome
from .serial import More, OnRetry, Work


class LocalExecutor(Protocol):
    """What runs rollouts in this process."""

    def run(self, work: Sequence[Work], more: More) -> Iterator[tuple[int, CleanOutcome]]:
        """Yield (index, outcome) in any order, each exactly once; what `more` gives is numbered on."""

    def nudge(self) -> None:
        """`more` has something; called from any thread."""


class WorkerLoop:
    """Answers the controller until it closes the channel or xdist shuts the worker down.

    `make(on_retry)` makes the executor, which gets up to `capacity` rollouts at once. `begin` hears the id of the
    experiment.
    """

    def __init__(
        self,
        channel: Any,
        make: Callable[[OnRetry], LocalExecutor],
        capacity: int,
        begin: Callable[[str], None] = lambda experiment: None,
    ) -> None:
        self._channel = channel
        self._begin = begin
        self._executor = make(self._retry)
        self._capacity = capacity
        self._inbox: SimpleQueue[messages.Message | None] = SimpleQueue()
        self._skills: dict[str, Skill] = {}
        channel.setcallback(self._receive, endmarker=None)

    def shut_down(self) -> None:
        """End the loop when what is in the inbox is done; may be called from any thread."""
        self._inbox.put(None)

    def notice(self, text: str) -> None:
        """Tell the controller what went wrong beside the rollouts."""
        self._send(messages.NOTICE, text=text)

    def run(self, hello: Mapping[str, Any]) -> None:
        """Say what was collected and answer. Leaves with the exception that ends the session, having told it."""
        self._send(messages.HELLO, **hello)
        while (batch := self._batch()) is not None:
            try:
                self._answer(batch)
            except ConfigError as error:
                self._stop("refused", str(error))
            except ExperimentInterrupted as error:
                self._stop("exhausted", str(error))
            except pytest.exit.Exception as error:
                self._stop("exit", error.msg or "", error.returncode)
                raise
            except (pytest.Session.Failed, pytest.Session.Interrupted) as error:
                self._stop("stopped", str(error))
                raise
            except KeyboardInterrupt:
                self._stop("interrupt", "")
                raise

    def _receive(self, data: bytes | None) -> None:
        self._inbox.put(None if data is None else messages.decode(data))
        self._executor.nudge()

    def _batch(self) -> list[Work] | None:
        """The next rollout, with those that are waiting behind it as far as there is room; None at the end."""
        first = self._next(wait=True)
        return None if first is None else [first, *self._more(self._capacity - 1)]

    def _more(self, room: int) -> list[Work]:
        """What is waiting, as far as there is room."""
        found: list[Work] = []
        while len(found) < room and (work := self._next(wait=False)) is not None:
            found.append(work)
        return found

    def _next(self, wait: bool) -> Work | None:
        """The next rollout; None at the end, and when there is none and nobody wants to wait."""
        while True:
            try:
                message = self._inbox.get(block=wait)
            except Empty:
                return None
            if message is None:
                self._inbox.put(None)  # the end stays in sight
                return None
            if message["kind"] == messages.BEGIN:
                self._begin(message["experiment"])
            elif message["kind"] == messages.SKILL:
                if message["alone"]:
                    self._skills.clear()
                self._skills[message["digest"]] = Skill.from_json(message["skill"])
            else:
                request = messages.request_from_json(message["request"])
                return request, self._skills[request.variant]

    def _answer(self, batch: Sequence[Work]) -> None:
        numbers = count()
        open_requests = {next(numbers): request for request, _ in batch}

        def more() -> list[Work]:
            found = self._more(self._capacity - len(open_requests))
            open_requests.update({next(numbers): request for request, _ in found})
            return found

        try:
            for index, outcome in self._executor.run(batch, more):
                self._tell(open_requests.pop(index), outcome)
        except (ConfigError, ExperimentInterrupted, pytest.exit.Exception, pytest.Session.Failed):
            raise
        except Exception as error:
            # An error in here must not end the worker's session: xdist would lose the rollout without a verdict.
            text = f"the worker failed: {type(error).__name__}: {error}"
            for request in open_requests.values():
                self._tell(request, CleanOutcome(Outcome("errored", reason=text)))

    def _tell(self, request: RolloutRequest, outcome: CleanOutcome) -> None:
        self._send(messages.OUTCOME, id=request.id, **messages.outcome_to_json(outcome))

    def _retry(self, request: RolloutRequest, attempt: int, reason: str) -> None:
        self._send(messages.RETRY, id=request.id, attempt=attempt, reason=reason)

    def _stop(self, how: str, text: str, returncode: int | None = None) -> None:
        self._send(messages.STOP, how=how, text=text, returncode=None if returncode is None else int(returncode))

    def _send(self, kind: str, **fields: Any) -> None:
        try:
            self._channel.send(messages.encode(kind, **fields))
        except OSError as error:
            raise InfrastructureError(f"the controller cannot be reached: {error}") from error
