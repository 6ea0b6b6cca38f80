"""Checks of the scores: the oracle, doing nothing, adversaries, monotony, broken output."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from ..oracle import ADVERSARIES, look_up, nop, oracle
from ..scenario import Scenario
from ..spec import PROFILES, FamilySpec
from .common import CheckFailed, demand, graded, played, scenarios_of, sealed, where

#: Worlds of each split that the oracle plays, and that the adversaries play.
ORACLE_DRAWS: Final = 20
ADVERSARY_DRAWS: Final = 2


def check_oracle(spec: FamilySpec) -> None:
    """The minimal legal calls and the truth score 1.0, strict and official."""
    with sealed():
        for scenario in scenarios_of(spec, ORACLE_DRAWS):
            _perfect(scenario)


def check_oracle_twins(spec: FamilySpec) -> None:
    """The same holds for every payload profile and without faults."""
    for profile in PROFILES[1:]:
        for scenario in scenarios_of(spec, 1, profile=profile):
            _perfect(scenario)
    for scenario in scenarios_of(spec, 1, faults=False):
        _perfect(scenario)


def _perfect(scenario: Scenario) -> None:
    _, evaluation = played(scenario, oracle)
    official = evaluation.objectives["official"]
    if evaluation.score == official == 1.0 and not evaluation.feedback:
        return
    raise CheckFailed(
        f"the oracle scores strict {evaluation.score:g}, official {official:g} at {where(scenario)}. It makes the calls"
        " of FamilySpec.route and delivers the truth: let the route reveal every aspect that a field needs, the truth"
        " agree with its own comparator, and the artifact have every key of the official rules. Feedback:\n"
        f"{evaluation.feedback}"
    )


def check_nop(spec: FamilySpec) -> None:
    """Claiming to be done at once is worth nothing."""
    for scenario in scenarios_of(spec, 1):
        _, evaluation = played(scenario, nop)
        got = evaluation.score, evaluation.objectives["official"]
        demand(got == (0.0, 0.0), f"doing nothing scores strict and official {got} at {where(scenario)}; it must be 0.")


def check_adversaries(spec: FamilySpec) -> None:
    """Agents that cheat or are careless stay under their caps."""
    for name, (script, cap) in ADVERSARIES.items():
        for scenario in scenarios_of(spec, ADVERSARY_DRAWS):
            _, evaluation = played(scenario, script)
            demand(
                evaluation.score <= cap(scenario),
                f"the {name} scores {evaluation.score:g} at {where(scenario)}; its cap is {cap(scenario):g}. An answer"
                " may reveal more than it shows, the prompt's example may hold this task's values, or there are too"
                " few required fields.",
            )


def check_monotone(spec: FamilySpec) -> None:
    """With the same calls, one more right value never scores less, and all of them score 1.0."""
    for scenario in scenarios_of(spec, 1, splits=("holdout",)):
        last = -1.0
        for number, artifact in enumerate(_growing(scenario)):
            score = _delivered(scenario, json.dumps(artifact))
            demand(
                score >= last,
                f"right value number {number} lowers the score from {last:g} to {score:g}, {where(scenario)}",
            )
            last = score
        demand(last == 1.0, f"the whole truth scores {last:g} at {where(scenario)}")


def _growing(scenario: Scenario) -> Iterator[dict[str, Any]]:
    """The artifact entry by entry and value by value."""
    key = scenario.spec.contract.list_key
    whole = scenario.artifact()
    entries: list[dict[str, Any]] = []
    for full in whole[key]:
        entries.append({})
        for name, value in full.items():
            entries[-1] = {**entries[-1], name: value}
            yield {key: entries}
    summary: dict[str, Any] = {}
    for name, value in whole["summary"].items():
        summary = {**summary, name: value}
        yield {key: entries, "summary": summary}


def _delivered(scenario: Scenario, text: str) -> float:
    box = scenario.open()
    look_up(scenario, box)
    box.call("write_file", {"path": scenario.spec.contract.file, "content": text})
    box.call("claim_done", {})
    return graded(scenario, box).score


#: JSON values of every kind, put in place of the list, an entry, an id and every field.
ODD: Final[tuple[Any, ...]] = (
    None,
    True,
    -1,
    10**30,
    1.5e300,
    "",
    "x" * 5_000,
    "\ud800",
    [],
    [[]],
    {},
    {"a": {"b": None}},
)
BROKEN: Final = ("", "null", "[]", "7", "{", "{}", "[[[[", '{"a": NaN}', "\ufeff{}", "[" * 100_000, '"\ud800"')


def check_malformed(spec: FamilySpec) -> None:
    """No output, however broken, makes the evaluation raise; it always has a score and never a full one."""
    level = list(spec.levels)[-1]
    for text in (*BROKEN, *(json.dumps(one) for one in _mutilated(Scenario(spec, level, "feedback", 0, "lean")))):
        scenario = Scenario(spec, level, "feedback", 0, "lean")
        try:
            score = _delivered(scenario, text)
        except Exception as error:
            raise CheckFailed(
                f"the output {text[:80]!r} makes the evaluation raise {type(error).__name__}: {error}. Comparators take"
                " any JSON value: test its type before using it."
            ) from error
        demand(0.0 <= score < 1.0, f"the broken output {text[:80]!r} scores {score:g}")


def _mutilated(scenario: Scenario) -> Iterator[Any]:
    contract = scenario.spec.contract
    whole = scenario.artifact()
    first, *rest = whole[contract.list_key]
    for odd in ODD:
        yield {**whole, contract.list_key: odd}
        yield {**whole, contract.list_key: [odd, *rest]}
        for name in first:
            yield {**whole, contract.list_key: [{**first, name: odd}, *rest]}
        if odd != {}:
            yield {**whole, "summary": odd}
        for name in whole["summary"]:
            yield {**whole, "summary": {**whole["summary"], name: odd}}
