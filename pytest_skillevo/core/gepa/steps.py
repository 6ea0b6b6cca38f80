"""The algorithm as generators: each yields batches of requests and is sent their answers; several run side by side."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import TypeAlias, TypeVar

from .requests import Answer, Request
from .results import StopReason

T = TypeVar("T")

Batch: TypeAlias = tuple[Request, ...]
Answers: TypeAlias = Mapping[str, Answer]
Steps: TypeAlias = Generator[Batch, Answers, T]


class Stop(Exception):
    """The search ends here, for a named reason. It never leaves the engine."""

    def __init__(self, reason: StopReason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


def together(tasks: Sequence[Steps[T]]) -> Steps[list[T]]:
    """Run tasks side by side: each batch holds what all of them ask next, in the order of the tasks.

    When one raises Stop, the others still get the answers of that batch, because they are paid for.
    """
    running: dict[int, tuple[Steps[T], Batch]] = {}
    results: dict[int, T] = {}
    answers: Answers | None = None
    open_tasks = dict(enumerate(tasks))
    while True:
        stop: Stop | None = None
        for place, task in open_tasks.items():
            try:
                if answers is None:
                    asked = next(task)
                else:
                    asked = task.send({request.id: answers[request.id] for request in running[place][1]})
                running[place] = (task, asked)
            except StopIteration as end:
                running.pop(place, None)
                results[place] = end.value
            except Stop as reason:
                running.pop(place, None)
                stop = stop or reason
        if stop is not None:
            raise stop
        if not running:
            return [results[place] for place in range(len(tasks))]
        open_tasks = {place: task for place, (task, _) in running.items()}
        answers = yield tuple(request for _, asked in running.values() for request in asked)
