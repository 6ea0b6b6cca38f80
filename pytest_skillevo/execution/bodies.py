"""Bodies of tests that are coroutines or may run beside each other: one event loop, owned by the runner.

A client that a suite keeps between cases belongs to the loop in which it was made; a loop for each case would close it
behind its back (spec/ecosystem.md 2.7). The loop runs only while somebody waits for a body, so that plugins with loops
of their own find none running when they set up fixtures.
"""

from __future__ import annotations

import asyncio
import decimal
import inspect
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Container, Coroutine, Mapping
from contextlib import suppress
from typing import Any, TypeAlias

import pytest

#: The end of a body: what it raised, None for nothing.
Ended: TypeAlias = "asyncio.Future[BaseException | None]"

#: Seconds that abandoned coroutines get to clean up.
GRACE = 1.0


class Bodies:
    """Runs bodies; the loop is made at the first use and lives until `close`."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        #: Bodies that have ended, in that order, and whether somebody wants the waiting thread to look around.
        self._ended: deque[Ended] = deque()
        self._nudged = False
        self._waiting = False
        self._owner = threading.get_ident()

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The event loop."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
        return self._loop

    def result_of(self, awaitable: Awaitable[Any]) -> Any:
        """Wait for an awaitable, in the runner's thread or in that of a body."""
        if threading.get_ident() == self._owner:
            return self.loop.run_until_complete(_awaited(awaitable))
        return asyncio.run_coroutine_threadsafe(_awaited(awaitable), self.loop).result()

    def start(self, function: Callable[..., Any], arguments: Mapping[str, Any]) -> Ended:
        """Start a body, as a task of the loop or in a thread; the future gives what it raised, None for nothing."""
        future: Ended
        if inspect.iscoroutinefunction(function):
            future = self.loop.create_task(_guarded(function(**arguments)))
        else:
            future = self.loop.create_future()
            # Daemons: an interrupt must not wait for the slowest body.
            threading.Thread(target=self._in_thread, args=(function, arguments, future), daemon=True).start()
        future.add_done_callback(self._note_end)
        return future

    def ended(self) -> Ended:
        """The end of a body that had nothing to do."""
        future: Ended = self.loop.create_future()
        future.set_result(None)
        self._ended.append(future)
        return future

    def wait(self, futures: Container[Ended]) -> Ended | None:
        """Run the loop until one of these bodies has ended, or somebody nudges (None).

        One at a time, also when several have ended: a coroutine begins when the loop runs next, so that bodies which
        were begun together would end together, and wait for each other's teardown and set-up for ever in step.
        """
        if self._ended or self._nudged:
            self.loop.stop()  # after one round, in which new bodies begin
        self._waiting = True
        try:
            self.loop.run_forever()
        finally:
            self._waiting = self._nudged = False
        while self._ended:
            future = self._ended.popleft()
            if future in futures:  # not one that was given up
                return future
        return None

    def nudge(self) -> None:
        """Let the thread in `wait` return, or not wait the next time; may be called from any thread."""
        loop = self._loop
        if loop is not None:
            with suppress(RuntimeError):  # closed meanwhile: nobody waits any more
                loop.call_soon_threadsafe(self._note_nudge)

    def _note_nudge(self) -> None:
        self._nudged = True
        self._stop_waiting()

    def _note_end(self, future: Ended) -> None:
        self._ended.append(future)
        self._stop_waiting()

    def _stop_waiting(self) -> None:
        # The loop also runs for a single awaitable (result_of), which must not be stopped.
        if self._waiting:
            self.loop.stop()

    def close(self) -> None:
        """End the loop; what still runs in it is cancelled."""
        loop, self._loop = self._loop, None
        if loop is None:
            return
        for task in (tasks := asyncio.all_tasks(loop)):
            task.cancel()
        if tasks:
            loop.run_until_complete(asyncio.wait(tasks, timeout=GRACE))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()

    def _in_thread(self, function: Callable[..., Any], arguments: Mapping[str, Any], future: Ended) -> None:
        error = None
        try:
            function(**arguments)
        except BaseException as raised:  # pytest.skip, pytest.exit and an interrupt are none of Exception
            error = raised
        try:
            self.loop.call_soon_threadsafe(_settle, future, error)
        except RuntimeError:
            return  # the loop was closed meanwhile: nobody waits any more


def _settle(future: Ended, error: BaseException | None) -> None:
    if not future.done():
        future.set_result(error)


async def _awaited(awaitable: Awaitable[Any]) -> Any:
    return await awaitable


async def _guarded(body: Coroutine[Any, Any, Any]) -> BaseException | None:
    """What a coroutine raised. An interrupt must not leave through the loop and take the other bodies along."""
    try:
        with decimal.localcontext():
            await body
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise  # the runner gives up, not the body
        return error
    except BaseException as error:
        return error
    return None


class AsyncCases:
    """The plugin that lets skill cases be `async def`, and use an async `evaluator` in a plain function.

    Async tests that another plugin runs (pytest-asyncio, anyio) never get here.
    """

    def __init__(self, bodies: Bodies) -> None:
        self.bodies = bodies

    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        """Run the body of an async skill case."""
        if pyfuncitem.get_closest_marker("skill") is None:
            return None
        arguments = body_arguments(pyfuncitem, self.bodies)
        if not inspect.iscoroutinefunction(pyfuncitem.obj):
            pyfuncitem.funcargs.update(arguments)
            return None
        self.bodies.result_of(pyfuncitem.obj(**arguments))
        return True


def body_arguments(item: pytest.Function, bodies: Bodies) -> dict[str, Any]:
    """The arguments of a test's body; in a plain function an evaluator can be called whether it is async or not."""
    arguments = {name: item.funcargs[name] for name in item._fixtureinfo.argnames}
    evaluator = arguments.get("evaluator")
    if not callable(evaluator) or inspect.iscoroutinefunction(item.obj):
        return arguments

    def evaluate(*args: Any, **kwargs: Any) -> Any:
        result = evaluator(*args, **kwargs)
        return bodies.result_of(result) if inspect.isawaitable(result) else result

    return {**arguments, "evaluator": evaluate}
