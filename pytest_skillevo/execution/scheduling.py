"""Which worker runs which rollout: the scheduling object that xdist asks, fed by the experiment.

xdist's controller reports workers that come, finish and die; the experiment adds rollouts and takes outcomes. All calls
come in the controller's main thread. A worker gets its next rollout when it has answered, so that slow rollouts hold up
nobody, and rather one of the module it worked on last, because wide fixtures are dear.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..core.errors import ConfigError, InfrastructureError
from ..core.records import Outcome, RolloutRequest
from ..core.skill import Skill
from . import messages
from .cleaning import CleanOutcome
from .serial import OnRetry

#: A rollout whose worker died is run this often in all.
LIVES = 2
#: A worker keeps at most this many versions of the skill.
MOST_SKILLS = 64


class Channel(Protocol):
    """The way to one worker."""

    def send(self, item: bytes) -> None:
        """Send one message; raises OSError when the worker is gone."""


@dataclass(slots=True)
class Task:
    """One rollout of a batch. `place` names the module and class, whose wide fixtures it needs."""

    index: int
    request: RolloutRequest
    skill: Skill
    place: str
    deaths: int = 0


@dataclass(slots=True)
class Worker:
    """One worker: the rollouts it has not answered yet, in the order sent, and what it has seen."""

    name: str
    channel: Channel
    ready: bool = False
    flying: dict[str, Task] = field(default_factory=dict)
    skills: set[str] = field(default_factory=set)
    place: str = ""


class RolloutScheduling:
    """An xdist Scheduling (xdist.scheduler.protocol) of rollouts instead of tests.

    `check(hello)` raises ConfigError for a worker that cannot serve the experiment. A worker may have `capacity`
    rollouts at once. `channel_of(node)` is the way to a worker.
    """

    def __init__(
        self,
        channel_of: Callable[[Any], Channel],
        check: Callable[[str, messages.Message], None],
        capacity: int = 1,
    ) -> None:
        self._channel_of = channel_of
        self._check = check
        self._capacity = capacity
        self._experiment = ""
        self._on_retry: OnRetry = lambda request, attempt, reason: None
        self._workers: dict[Any, Worker] = {}
        self._waiting: dict[str, deque[Task]] = {}
        self._done: deque[tuple[int, CleanOutcome]] = deque()
        #: The experiment needs no worker any more.
        self.finished = False
        #: Further attempts after infrastructure errors and deaths.
        self.retried = 0
        #: Why a worker wants everything to end: kind and text, the first one.
        self.stop: tuple[str, str, int | None] | None = None
        #: What workers remark beside their answers.
        self.notices: list[str] = []

    # What the experiment calls.

    def begin(self, experiment: str, on_retry: OnRetry) -> None:
        """From now on the rollouts belong to that experiment. `on_retry(request, attempt, reason)` hears of retries."""
        self._experiment, self._on_retry, self.retried = experiment, on_retry, 0
        for worker in self._workers.values():
            if worker.ready:
                self._introduce(worker)

    def add(self, tasks: Sequence[Task]) -> None:
        """Let these rollouts be run; tasks of one place stay in their order."""
        for task in tasks:
            self._waiting.setdefault(task.place, deque()).append(task)
        self.schedule()

    def take(self) -> tuple[int, CleanOutcome] | None:
        """The next (index, outcome) that has come in, None if there is none."""
        return self._done.popleft() if self._done else None

    def forget(self) -> None:
        """Nobody waits for the rollouts any more."""
        self._waiting.clear()

    @property
    def unanswered(self) -> int:
        """Rollouts that wait or are with a worker."""
        return sum(map(len, self._waiting.values())) + sum(len(worker.flying) for worker in self._workers.values())

    @property
    def room(self) -> int:
        """Rollouts that all workers together may have at once."""
        return len(self._workers) * self._capacity

    # What xdist calls.

    @property
    def nodes(self) -> list[Any]:
        """The workers that are there, as xdist's controllers of them."""
        return list(self._workers)

    @property
    def collection_is_completed(self) -> bool:
        """Whether rollouts may be sent: one worker that is ready is enough."""
        return any(worker.ready for worker in self._workers.values())

    @property
    def has_pending(self) -> bool:
        """Whether rollouts are with workers."""
        return any(worker.flying for worker in self._workers.values())

    @property
    def tests_finished(self) -> bool:
        """Whether xdist may shut the workers down."""
        return self.finished

    def add_node(self, node: Any) -> None:
        """A worker has started."""
        self._workers[node] = Worker(node.gateway.id, self._channel_of(node))

    def add_node_collection(self, node: Any, collection: Sequence[str]) -> None:
        """A worker has collected; its hello says what it needs to be checked."""

    def mark_test_complete(self, node: Any, item_index: int, duration: float = 0) -> None:
        """Never called: workers run no ordinary tests."""

    def mark_test_pending(self, item: str) -> None:
        """Never called: dead workers are no crashed tests here."""

    def remove_pending_tests_from_node(self, node: Any, indices: bytes) -> None:
        """A message came. xdist's event of this name carries it into the main thread (spec/execution.md 4)."""
        worker = self._workers.get(node)
        if worker is not None:
            self._receive(worker, messages.decode(indices))
            self._feed(worker)

    def remove_node(self, node: Any) -> None:
        """A worker is gone, in order or not: what it has not answered is run by another one, or given up."""
        worker = self._workers.pop(node)
        for task in reversed(list(worker.flying.values())):
            task.deaths += 1
            if task.deaths >= LIVES:
                self._finish(task, f"the worker process died while it ran, {LIVES} times")
                continue
            self.retried += 1
            self._on_retry(task.request, task.deaths + 1, f"worker {worker.name} died")
            self._waiting.setdefault(task.place, deque()).appendleft(task)
        self.schedule()

    def schedule(self) -> None:
        """Give every worker with room something to do."""
        for worker in list(self._workers.values()):
            self._feed(worker)

    # Inside.

    def _feed(self, worker: Worker) -> None:
        while worker.ready and not self.finished and (task := self._next(worker)) is not None:
            self._send(worker, task)

    def _next(self, worker: Worker) -> Task | None:
        """The next rollout for this worker: of its own place, else of one nobody works on, else of the fullest."""
        if len(worker.flying) >= self._capacity or any(task.deaths for task in worker.flying.values()):
            return None
        taken = {other.place for other in self._workers.values() if other is not worker and other.flying}
        places = [worker.place, *(place for place in self._waiting if place not in taken)]
        places += sorted(self._waiting, key=lambda place: -len(self._waiting[place]))
        place = next((place for place in places if self._waiting.get(place)), None)
        if place is None:
            return None
        queue = self._waiting[place]
        # What has killed a worker already runs alone, so that no neighbour dies with it and is blamed.
        if queue[0].deaths and worker.flying:
            return None
        task = queue.popleft()
        if not queue:
            del self._waiting[place]
        return task

    def _send(self, worker: Worker, task: Task) -> None:
        worker.flying[task.request.id] = task
        worker.place = task.place
        skill = task.skill
        try:
            if skill.digest not in worker.skills:
                if alone := len(worker.skills) >= MOST_SKILLS:
                    worker.skills.clear()
                worker.channel.send(
                    messages.encode(messages.SKILL, digest=skill.digest, skill=skill.to_json(), alone=alone)
                )
                worker.skills.add(skill.digest)
            worker.channel.send(messages.encode(messages.RUN, request=messages.request_to_json(task.request)))
        except OSError:
            worker.ready = False  # it is dying: xdist will tell, and the rollout is given to another

    def _receive(self, worker: Worker, message: messages.Message) -> None:
        kind = message["kind"]
        if kind == messages.HELLO:
            self._check(worker.name, message)
            self._introduce(worker)
            worker.ready = True
        elif kind == messages.RETRY:
            self.retried += 1
            self._on_retry(worker.flying[message["id"]].request, message["attempt"], message["reason"])
        elif kind == messages.OUTCOME:
            self._answer(worker, message)
        elif kind == messages.NOTICE:
            self.notices.append(message["text"])
        elif kind == messages.STOP:
            self.stop = self.stop or (message["how"], message["text"], message["returncode"])
        else:
            raise InfrastructureError(f"worker {worker.name} sent a message of the unknown kind {kind!r}")

    def _introduce(self, worker: Worker) -> None:
        with suppress(OSError):  # one that is dying: xdist will tell
            worker.channel.send(messages.encode(messages.BEGIN, experiment=self._experiment))

    def _answer(self, worker: Worker, message: messages.Message) -> None:
        task = worker.flying.pop(message["id"], None)
        if task is None:
            raise InfrastructureError(
                f"worker {worker.name} answered the rollout {message['id']!r}, which it does not have"
            )
        self._done.append((task.index, messages.outcome_from_json(message)))

    def _finish(self, task: Task, reason: str) -> None:
        self._done.append((task.index, CleanOutcome(Outcome("errored", reason=reason))))


def compare_cases(worker: str, expected: Sequence[str], found: Sequence[str]) -> None:
    """Raise ConfigError, with the difference, when a worker has collected other cases than the controller."""
    missing, strange = sorted(set(expected) - set(found)), sorted(set(found) - set(expected))
    if not missing and not strange:
        return
    parts = [f"{words} {_some(names)}" for words, names in (("it lacks", missing), ("it alone has", strange)) if names]
    raise ConfigError(
        f"worker {worker} has collected other cases than the controller: {'; '.join(parts)}. "
        "Parametrize from what is the same in every process"
    )


def _some(names: Sequence[str]) -> str:
    rest = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + rest
