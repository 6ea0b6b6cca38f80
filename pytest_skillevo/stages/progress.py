"""What the stages tell while they run; the report layer prints it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Progress(Protocol):
    """Listens to a running experiment. Every call is cheap; none may raise."""

    def stage(self, name: str, *, total: int | None = None) -> None:
        """A stage begins ("search", "confirmation", "critical runs", "replay"); `total` is its planned rollouts."""

    def search(
        self,
        *,
        iteration: int,
        iterations: int,
        pool: int,
        best: float | None,
        seed_score: float | None,
        rollouts: int,
        budget: int | None,
        tokens: int | None,
        spent: float = 0.0,
    ) -> None:
        """Where the search stands. `best` and `seed_score` are validation means; None is unknown.

        `spent` is the used share of the cap on tokens, money or time that ends the search first; 0 without such caps.
        """

    def proposal(
        self,
        *,
        iteration: int,
        component: str | None,
        parent: str,
        verdict: str,
        minibatch_parent: float | None = None,
        minibatch_child: float | None = None,
        validation: float | None = None,
    ) -> None:
        """One proposal was judged; minibatch figures are sums of scores, `validation` a mean if it was measured."""

    def rollouts(self, done: int, *, tokens: int | None = None) -> None:
        """How many rollouts of the present stage are done, outside the search. Their number is fixed."""

    def critical(self, case: str, *, repeats: int) -> None:
        """A critical case looks lower and is run again in both arms."""

    def round(self, number: int, rounds: int, *, groups: Sequence[str], root_seed: int) -> None:
        """A round of a replay begins: its groups in the order in which they take each step."""

    def retry(self, case: str, *, attempt: int, attempts: int, reason: str) -> None:
        """A rollout failed for a reason that is no score and is run again."""

    def finish(self) -> None:
        """The experiment is over or interrupted: leave the screen in order."""
