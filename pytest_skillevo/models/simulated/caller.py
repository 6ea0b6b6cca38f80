"""Calling tools that fail: what an agent does after a time-out, a rate limit or a permanent gap."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Final, TypeAlias

from .library import GAP, RATE_LIMIT, RETRY
from .solver import Answer, Call, Situation, Switches

Fetch: TypeAlias = Generator[Sequence[Call], Sequence[Answer], list[Answer]]

#: Chance that an agent without any skill repeats its first failing call without end; budgets must stop it.
ENDLESS: Final = 0.04
#: How often an agent repeats what timed out, and how often it hammers a rate limit or asks again for a gap.
REPEATS: Final = 3
HAMMER: Final = 2
#: The most other calls that an agent makes for the sake of a rate limit.
PATIENCE: Final = 10


class Caller:
    """Makes the calls of one run, under the practices of retrying, rate limits and gaps.

    `spare` is a harmless call that fills the time until a rate limit is released. `made` holds the lookups that
    succeeded, in order.
    """

    def __init__(self, situation: Situation, switches: Switches, spare: Call) -> None:
        self._switches = switches
        self._spare = spare
        self._endless = not situation.texts and situation.draw("endless") < ENDLESS
        self.made: list[Call] = []

    def fetch(self, calls: Sequence[Call]) -> Fetch:
        """Make a batch of calls, repeat what should be repeated, and return the last answer of each."""
        if not calls:
            return []
        answers = list((yield calls))
        if self._endless:
            yield from self._without_end(calls, answers)
        answers = yield from self._after_timeouts(calls, answers)
        answers = yield from self._after_limits(calls, answers)
        answers = yield from self._after_gaps(calls, answers)
        self.made += [call for call, answer in zip(calls, answers, strict=True) if answer.ok]
        return answers

    def _without_end(self, calls: Sequence[Call], answers: Sequence[Answer]) -> Generator[Sequence[Call], object, None]:
        failing = next((call for call, answer in zip(calls, answers, strict=True) if not answer.ok), None)
        while failing is not None:
            yield [failing]

    def _after_timeouts(self, calls: Sequence[Call], answers: list[Answer]) -> Fetch:
        for _ in range(REPEATS):
            failed = [place for place, answer in enumerate(answers) if answer.code == "TIMEOUT"]
            lapse = self._switches.lapse(RETRY) if failed else "none"
            if lapse == "none":
                break
            again = list(range(len(calls))) if lapse == "batch" else failed
            for place, answer in zip(again, (yield [calls[i] for i in again]), strict=True):
                answers[place] = answer
        return answers

    def _after_limits(self, calls: Sequence[Call], answers: list[Answer]) -> Fetch:
        limited = [place for place, answer in enumerate(answers) if answer.code == "RATE_LIMITED"]
        lapse = self._switches.lapse(RATE_LIMIT) if limited else "none"
        for place in [] if lapse == "none" else limited:
            if lapse == "at once":
                for _ in range(HAMMER):
                    if not answers[place].ok:
                        (answers[place],) = yield [calls[place]]
                continue
            # Calls of the same turn that came later count as other work already done.
            asked = answers[place].data.get("retry_after_calls")
            others = asked if isinstance(asked, int) and 0 < asked <= PATIENCE else 1
            wait = others - (len(calls) - 1 - place)
            *_, answers[place] = yield [self._spare] * max(0, wait) + [calls[place]]
        return answers

    def _after_gaps(self, calls: Sequence[Call], answers: list[Answer]) -> Fetch:
        gaps = [place for place, answer in enumerate(answers) if answer.code == "NO_DATA"]
        if gaps and self._switches.lapse(GAP) == "retry":
            for _ in range(HAMMER):
                for place, answer in zip(gaps, (yield [calls[i] for i in gaps]), strict=True):
                    answers[place] = answer
        return answers
