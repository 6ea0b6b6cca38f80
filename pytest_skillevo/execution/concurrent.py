"""Many rollouts at once in one process: fixtures are set up and torn down one by one, bodies run side by side.

Only for cases that say they can: `async def` tests, and tests that use the `evaluator` fixture, which promises to be
async or thread-safe. All others run alone, as do those with fixtures that change the whole process.
"""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from ..core.records import Outcome
from .bodies import Ended, body_arguments
from .cleaning import CleanOutcome, Redact, cleaned
from .items import ItemRunner, Started
from .reuse import wide_parameters
from .serial import More, SerialExecutor, Work, no_more

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
        self._companies: dict[str, Any] = {}

    @property
    def retried(self) -> int:
        """Further attempts after infrastructure errors."""
        return self._serial.retried

    @property
    def at_once(self) -> int:
        """How many rollouts may run at the same time."""
        return self._limit

    def nudge(self) -> None:
        """Let `run` ask for more work now; may be called from any thread."""
        self._bodies.nudge()

    def run(self, work: Sequence[Work], more: More = no_more) -> Iterator[tuple[int, CleanOutcome]]:
        """Yield (index in work, outcome) as rollouts end; cases that share wide fixtures run together.

        What `more` gives takes the indices after those of `work`, and joins the rollouts that run.
        """
        stream = _Stream([*work], more)
        stream.waiting.extend(self._runner.places.order([request for request, _ in work]))
        while stream.waiting:
            company = self._company(stream.work[stream.waiting[0]])
            if company is None:
                index = stream.waiting.popleft()
                for _, outcome in self._serial.run([stream.work[index]]):
                    yield index, outcome
                stream.look()
            else:
                yield from self._side_by_side(stream, company)

    def _company(self, work: Work) -> Any:
        """Equal for rollouts that may run at the same time; None for one that runs alone."""
        case = work[0].case_id
        if case not in self._companies:
            item = self._runner.item(case)
            together = None
            if alone_because(item) is None:
                together = self._runner.places.of(case), wide_parameters(cast(pytest.Function, item))
            self._companies[case] = together
        return self._companies[case]

    def _side_by_side(self, stream: _Stream, company: Any) -> Iterator[tuple[int, CleanOutcome]]:
        """Run what waits in front and may run at the same time."""
        flying: dict[Ended, tuple[int, Started]] = {}
        again: dict[int, Outcome] = {}
        with self._runner.side_by_side(stream.work[stream.waiting[0]][0].case_id):
            try:
                while self._start(stream, company, flying) or flying:
                    with self._runner.captured():
                        ended = self._bodies.wait(flying)
                    if ended is not None:
                        index, started = flying.pop(ended)
                        outcome = self._runner.finish(started, ended.result())
                        if outcome.status == "errored":
                            again[index] = outcome
                        else:
                            yield index, cleaned(outcome, self._redact)
                    if not again:
                        stream.look()
            finally:
                for future, (_, started) in flying.items():
                    future.cancel()
                    self._runner.abandon(started)
        # Before a further attempt all wide fixtures are torn down, so nothing else may be running.
        for index, outcome in again.items():
            yield index, cleaned(self._serial.retry(*stream.work[index], outcome), self._redact)
        stream.look()

    def _start(self, stream: _Stream, company: Any, flying: dict[Ended, tuple[int, Started]]) -> bool:
        """Start what there is room for, up to the first that needs other company; whether anything was started."""
        before = len(flying)
        while len(flying) < self._limit and stream.waiting and self._company(stream.work[stream.waiting[0]]) == company:
            index = stream.waiting.popleft()
            started = self._runner.begin(*stream.work[index])
            flying[self._body(started)] = index, started
        return len(flying) > before

    def _body(self, started: Started) -> Ended:
        if not started.ready:  # its set-up failed or skipped: there is nothing to wait for
            return self._bodies.ended()
        return self._bodies.start(started.item.obj, body_arguments(started.item, self._bodies))


@dataclass(slots=True)
class _Stream:
    """Work that may grow; `waiting` holds the indices of what has not begun."""

    work: list[Work]
    more: More
    waiting: deque[int] = field(default_factory=deque)

    def look(self) -> None:
        """Take in what has come meanwhile."""
        for one in self.more():
            self.waiting.append(len(self.work))
            self.work.append(one)
