"""Calls that may hang, with a limit of time: the caller goes on, the call is left behind and counted."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class TimedOut(Exception):
    """The call did not end in time. Its result, should it come, is dropped."""


class Stuck(Exception):
    """Too many calls hang already; no new one is begun."""


class Deadline(Generic[T]):
    """Runs calls in threads of their own, at most `most` of which may hang at any time.

    Python cannot stop a thread: a Reviewer that may hang for good belongs into another process (isolation.py).
    """

    def __init__(self, seconds: float, most: int) -> None:
        self._seconds = seconds
        self._most = most
        self._lock = threading.Lock()
        self._left: set[threading.Thread] = set()

    @property
    def hanging(self) -> int:
        """How many calls were left behind and still run."""
        with self._lock:
            self._left = {thread for thread in self._left if thread.is_alive()}
            return len(self._left)

    def call(self, function: Callable[[], T]) -> T:
        """The function's result, or what it raises. Raises TimedOut and Stuck."""
        if self.hanging >= self._most:
            raise Stuck(f"{self._most} reviews hang and cannot be stopped")
        results: list[T] = []
        errors: list[BaseException] = []

        def run() -> None:
            try:
                results.append(function())
            except BaseException as error:
                errors.append(error)

        thread = threading.Thread(target=run, name="skillevo-review", daemon=True)
        thread.start()
        thread.join(self._seconds)
        if thread.is_alive():
            with self._lock:
                self._left.add(thread)
            raise TimedOut(f"no answer within {self._seconds:g} seconds")
        if errors:
            # An exit or an interrupt of the Reviewer's own making is an error of the Reviewer, and ends nobody else.
            error = errors[0]
            raise error if isinstance(error, Exception) else RuntimeError(f"{type(error).__name__}: {error}")
        return results[0]
