"""Limits of a provider that hold across processes: calls at once, calls in a minute, and calls in all.

They live in files under the store, so that workers, controller and further runs of the project on this machine share
them. Slots are locks that the system takes back when their holder dies. The ledger counts a call before it is sent: a
crash may waste one, and never sends one too many.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.canonical import digest
from ..core.errors import ExperimentInterrupted
from ..core.locks import LockBusy, file_lock
from ..core.protocols import ChatModel, Reply
from ..core.records import Message

#: Seconds between two looks for a free slot, doubling from the first to the second.
_FIRST_WAIT, _LAST_WAIT = 0.005, 0.1


@dataclass(frozen=True, slots=True)
class ProviderLimits:
    """What one provider allows: calls in flight, calls a minute. None does not bind."""

    at_once: int | None = None
    per_minute: float | None = None


class Gate:
    """Lets calls to one provider through as its limits allow. `folder` is shared by all processes of the machine."""

    def __init__(
        self,
        folder: Path,
        provider: str,
        limits: ProviderLimits,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._path = folder / f"{re.sub(r'[^a-z0-9]+', '-', provider.lower())[:40]}-{digest(provider)[:8]}"
        self._limits = limits
        self._clock = clock
        self._sleep = sleep

    @contextmanager
    def passing(self) -> Iterator[None]:
        """Wait for a turn; it lasts as long as the call."""
        self._path.mkdir(parents=True, exist_ok=True)
        with self._slot():
            self._pace()
            yield

    @contextmanager
    def _slot(self) -> Iterator[None]:
        if self._limits.at_once is None:
            yield
            return
        wait = _FIRST_WAIT
        while True:
            for number in range(self._limits.at_once):
                lock = file_lock(self._path / f"slot-{number}", wait=0)
                try:
                    lock.__enter__()
                except LockBusy:
                    continue
                try:
                    yield
                finally:
                    lock.__exit__(None, None, None)
                return
            # Not in step with the others that wait.
            self._sleep(wait * random.SystemRandom().uniform(0.5, 1))
            wait = min(2 * wait, _LAST_WAIT)

    def _pace(self) -> None:
        """Take the next free moment: calls are spread evenly, `per_minute` of them in each minute."""
        if self._limits.per_minute is None:
            return
        step = 60 / self._limits.per_minute
        file = self._path / "next"
        with file_lock(self._path / "pace"):
            now = self._clock()
            turn = max(now, _number(file))
            # A clock that was set back must not stop the calls for as long.
            turn = min(turn, now + step * 1000)
            file.write_text(repr(turn + step), encoding="ascii")
        if turn > now:
            self._sleep(turn - now)


def _number(file: Path) -> float:
    try:
        return float(file.read_text(encoding="ascii"))
    except (FileNotFoundError, ValueError):
        return 0.0


class CallLedger:
    """Counts the model calls of one experiment, over all processes and resumed runs: one byte in a file for each."""

    def __init__(self, path: Path, cap: int) -> None:
        self._path = path
        self._cap = cap

    @property
    def used(self) -> int:
        """Calls reserved so far."""
        try:
            return self._path.stat().st_size
        except FileNotFoundError:
            return 0

    def reserve(self) -> None:
        """Count one call that will now be sent. Raises ExperimentInterrupted when the budget is used up."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with file_lock(self._path.with_suffix(".lock")):
            if self.used < self._cap:
                with self._path.open("ab", buffering=0) as file:
                    file.write(b".")
                return
        raise ExperimentInterrupted(
            f"the budget of {self._cap} model calls is used up (--evolve-max-calls); nothing is decided. "
            "Raise it and go on with --evolve-resume=last"
        )


class LimitedModel:
    """A chat model whose calls pass the gate of its provider and are counted in the ledger before they are sent."""

    def __init__(self, model: ChatModel, gate: Gate | None, ledger: Callable[[], CallLedger | None]) -> None:
        self._model = model
        self._gate = gate
        self._ledger = ledger
        self.name, self.kind, self.priced = model.name, model.kind, model.priced

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def complete(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = (), **settings: Any) -> Reply:
        """Answer; see core.protocols.ChatModel."""
        if self._gate is None:
            return self._counted(messages, tools, settings)
        with self._gate.passing():
            return self._counted(messages, tools, settings)

    def _counted(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], settings: Mapping[str, Any]
    ) -> Reply:
        ledger = self._ledger()
        if ledger is not None:
            ledger.reserve()
        return self._model.complete(messages, tools, **settings)


def provider_of(model: str) -> str:
    """The provider in a model's name: what stands before the first slash, else the whole name."""
    return model.split("/", 1)[0]
