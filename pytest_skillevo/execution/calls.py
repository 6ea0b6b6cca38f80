"""Model calls of the experiment itself, side by side: reviewers of a replay wait for their provider together."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from queue import Empty, SimpleQueue
from typing import TypeVar

T = TypeVar("T")


class TimeUp(Exception):
    """A call did not end in its time."""


def in_time(call: Callable[[], T], seconds: float) -> T:
    """The call's result. Raises TimeUp when it is not there after so many seconds; what comes later is dropped."""
    ended: SimpleQueue[Callable[[], T]] = SimpleQueue()
    threading.Thread(target=lambda: ended.put(_ending(call)), daemon=True).start()
    try:
        result = ended.get(timeout=max(0.0, seconds))
    except Empty:
        raise TimeUp from None
    return result()


def side_by_side(calls: Sequence[Callable[[], T]], at_once: int) -> Iterator[tuple[int, T]]:
    """Yield (index, result) as calls end, at most `at_once` of them at a time; with one, in this thread and in order.

    After an error nothing more is begun; what was begun is yielded, for it is paid. Then the error of the earliest call
    that met one is raised.
    """
    if at_once <= 1 or len(calls) <= 1:
        for index, call in enumerate(calls):
            yield index, call()
        return
    ended: SimpleQueue[tuple[int, Callable[[], T]]] = SimpleQueue()
    waiting = iter(range(len(calls)))
    errors: dict[int, BaseException] = {}
    flying = 0
    while True:
        for index in islice(waiting, 0 if errors else at_once - flying):
            # Daemons: an interrupt must not wait for the slowest provider.
            threading.Thread(target=lambda at=index: ended.put((at, _ending(calls[at]))), daemon=True).start()
            flying += 1
        if not flying:
            break
        index, result = ended.get()
        flying -= 1
        try:
            told = result()
        except BaseException as error:
            errors[index] = error
        else:
            yield index, told
    if errors:
        raise errors[min(errors)]


def _ending(call: Callable[[], T]) -> Callable[[], T]:
    """Make a call; what is returned gives its result, or raises what it raised, in whichever thread it is called."""
    try:
        result = call()
    except BaseException as raised:
        error = raised

        def fail() -> T:
            raise error

        return fail
    return lambda: result
