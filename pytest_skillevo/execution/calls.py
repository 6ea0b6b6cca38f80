"""Model calls of the experiment itself, side by side: reviewers of a replay wait for their provider together."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from queue import SimpleQueue
from typing import TypeVar

T = TypeVar("T")


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
