"""The serial driver: rollouts of a batch one after another in this process, told in request order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from ..core.records import Outcome, RolloutRequest
from ..core.skill import Skill
from .items import ItemRunner

Work: TypeAlias = tuple[RolloutRequest, Skill]

#: A rollout that met an infrastructure error is tried this often in all.
ATTEMPTS = 3


class SerialExecutor:
    """Runs work through one ItemRunner. `on_retry(request, attempt, reason)` hears of every further attempt."""

    def __init__(self, runner: ItemRunner, on_retry: Callable[[RolloutRequest, int, str], None]) -> None:
        self._runner = runner
        self._on_retry = on_retry
        self.retried = 0

    def run(self, work: Sequence[Work]) -> Iterator[tuple[int, Outcome]]:
        """Yield (index in work, outcome) as rollouts end. Cases of one module run together: wide fixtures are dear."""
        order = sorted(range(len(work)), key=lambda index: (self._runner.place(work[index][0].case_id), index))
        for index in order:
            request, skill = work[index]
            yield index, self._attempts(request, skill)

    def _attempts(self, request: RolloutRequest, skill: Skill) -> Outcome:
        outcome = self._runner.run(request, skill)
        for attempt in range(2, ATTEMPTS + 1):
            if outcome.status != "errored":
                break
            self.retried += 1
            self._on_retry(request, attempt, outcome.reason)
            self._runner.start_afresh()
            outcome = self._runner.run(request, skill)
        return outcome
