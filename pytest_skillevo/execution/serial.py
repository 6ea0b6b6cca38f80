"""The serial driver: rollouts of a batch one after another in this process, told in request order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from ..core.records import Outcome, RolloutRequest
from ..core.skill import Skill
from .cleaning import CleanOutcome, Redact, cleaned
from .items import ItemRunner

Work: TypeAlias = tuple[RolloutRequest, Skill]
#: Gives further work that has come in meanwhile, as long as there is room for it.
More: TypeAlias = Callable[[], Sequence[Work]]
OnRetry: TypeAlias = Callable[[RolloutRequest, int, str], None]

#: A rollout that met an infrastructure error is tried this often in all.
ATTEMPTS = 3


def no_more() -> Sequence[Work]:
    """The work is complete."""
    return ()


class SerialExecutor:
    """Runs work through one ItemRunner. `on_retry(request, attempt, reason)` hears of every further attempt."""

    at_once = 1

    def __init__(self, runner: ItemRunner, on_retry: OnRetry, redact: Redact) -> None:
        self._runner = runner
        self._on_retry = on_retry
        self._redact = redact
        self.retried = 0

    def run(self, work: Sequence[Work], more: More = no_more) -> Iterator[tuple[int, CleanOutcome]]:
        """Yield (index in work, outcome) as rollouts end. Cases of one module run together: wide fixtures are dear.

        There is no room for `more`: one rollout runs at a time.
        """
        for index in self._runner.places.order([request for request, _ in work]):
            request, skill = work[index]
            yield index, cleaned(self.retry(request, skill, self._runner.run(request, skill)), self._redact)

    def nudge(self) -> None:
        """Nothing to do: there is no room for more."""

    def retry(self, request: RolloutRequest, skill: Skill, outcome: Outcome) -> Outcome:
        """The outcome, after further attempts if the first one met an infrastructure error."""
        for attempt in range(2, ATTEMPTS + 1):
            if outcome.status != "errored":
                break
            self.retried += 1
            self._on_retry(request, attempt, outcome.reason)
            self._runner.start_afresh()
            outcome = self._runner.run(request, skill)
        return outcome
