"""Many rollouts at once in one process: fixtures are set up and torn down one by one, bodies run side by side.

Only for cases that say they can: `async def` tests, and tests that use the `evaluator` fixture, which promises to be
async or thread-safe. All others run alone, as do those with fixtures that change the whole process.
"""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, cast

import pytest

from ..core.records import Outcome
from .bodies import Ended, body_arguments
from .cleaning import CleanOutcome, Redact, cleaned
from .items import ItemRunner, Started
from .reuse import wide_parameters
from .serial import SerialExecutor, Work

#: Fixtures that change the process, or its output, for as long as the body runs.
SHARED_STATE = frozenset(
    {"capsys", "capfd", "capsysbinary", "capfdbinary", "caplog", "monkeypatch", "recwarn", "subtests", "pytester"}
)
#: Fixtures of plugins that run async tests in a loop of their own.
OTHER_LOOPS = frozenset({"anyio_backend", "event_loop", "loop", "nursery"})
#: Markers that change how one body is run.
SPECIAL = ("anyio", "asyncio", "trio", "filterwarnings", "timeout")


def alone_because(item: pytest.Item) -> str | None:
    """Why a case cannot run beside others, in a few words; None when it can."""
    if not isinstance(item, pytest.Function) or type(item).__module__ != pytest.Function.__module__:
        return "another plugin runs it"
    if getattr(item.config, "_env_timeout", None):
        return "pytest-timeout times single tests"
    names = set(item.fixturenames)
    if not inspect.iscoroutinefunction(item.obj) and "evaluator" not in names:
        return "neither async def nor with the evaluator fixture"
    if "request" in item._fixtureinfo.argnames:
        return "uses request in its body"
    if found := sorted(names & SHARED_STATE):
        return f"uses {found[0]}"
    if found := sorted(names & OTHER_LOOPS):
        return f"another plugin runs it ({found[0]})"
    marks = [name for name in SPECIAL if item.get_closest_marker(name) is not None]
    return f"marked {marks[0]}" if marks else None


class ConcurrentExecutor:
    """Runs up to `limit` rollouts at once where the cases allow it; outcomes are those of the serial executor."""

    def __init__(self, runner: ItemRunner, serial: SerialExecutor, redact: Redact, limit: int) -> None:
        self._runner = runner
        self._serial = serial
        self._bodies = runner.bodies
        self._redact = redact
        self._limit = limit

    @property
    def retried(self) -> int:
        """Further attempts after infrastructure errors."""
        return self._serial.retried

    @property
    def at_once(self) -> int:
        """How many rollouts may run at the same time."""
        return self._limit

    def run(self, work: Sequence[Work]) -> Iterator[tuple[int, CleanOutcome]]:
        """Yield (index in work, outcome) as rollouts end; cases that share wide fixtures run together."""
        order = self._runner.places.order([request for request, _ in work])
        for key, group in groupby(order, key=lambda index: self._company(work[index])):
            indices = list(group)
            if key is not None and len(indices) > 1:
                yield from self._side_by_side(indices, work)
                continue
            for place, outcome in self._serial.run([work[index] for index in indices]):
                yield indices[place], outcome

    def _company(self, work: Work) -> Any:
        """Equal for rollouts that may run at the same time; None for one that runs alone."""
        item = self._runner.item(work[0].case_id)
        if alone_because(item) is not None:
            return None
        return self._runner.places.of(work[0].case_id), wide_parameters(cast(pytest.Function, item))

    def _side_by_side(self, indices: Sequence[int], work: Sequence[Work]) -> Iterator[tuple[int, CleanOutcome]]:
        waiting = deque(indices)
        flying: dict[Ended, tuple[int, Started]] = {}
        again: dict[int, Outcome] = {}
        with self._runner.side_by_side(work[indices[0]][0].case_id):
            try:
                while waiting or flying:
                    for index, started, error in self._step(waiting, flying, work):
                        outcome = self._runner.finish(started, error)
                        if outcome.status == "errored":
                            again[index] = outcome
                        else:
                            yield index, cleaned(outcome, self._redact)
            finally:
                for future, (_, started) in flying.items():
                    future.cancel()
                    self._runner.abandon(started)
        # Before a further attempt all wide fixtures are torn down, so nothing else may be running.
        for index, outcome in again.items():
            yield index, cleaned(self._serial.retry(*work[index], outcome), self._redact)

    def _step(
        self,
        waiting: deque[int],
        flying: dict[Ended, tuple[int, Started]],
        work: Sequence[Work],
    ) -> Iterator[tuple[int, Started, BaseException | None]]:
        """Start what there is room for, then wait for the first bodies to end: (index, rollout, what it raised)."""
        while waiting and len(flying) < self._limit:
            index = waiting.popleft()
            started = self._runner.begin(*work[index])
            if not started.ready:
                yield index, started, None
                return
            arguments = body_arguments(started.item, self._bodies)
            flying[self._bodies.start(started.item.obj, arguments)] = index, started
        with self._runner.captured():
            done = self._bodies.wait(flying)
        for future in done:
            yield *flying.pop(future), future.result()
