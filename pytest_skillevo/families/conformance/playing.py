"""The behaviour at work, without chance: does it solve every level, and does each practice of its own matter?

A rollout here is the behaviour's own program over a toolbox. What is chance in a real run, whether a practice lapses
and how, is decided by the check.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ...core.canonical import digest
from ...core.errors import ConfigError
from ...core.frames import author_line
from ...core.records import Evaluation
from ...models.simulated.conduct import Conduct
from ...models.simulated.practices import Practice
from ...models.simulated.solver import Answer, Situation
from ...models.simulated.worker import LookupBehaviour, Worker
from ..registry import load_behaviour
from ..scenario import Scenario
from ..spec import FamilySpec
from .common import CheckFailed, demand, graded, scenarios_of, where

#: Worlds of each split that the behaviour plays, and turns after which a run counts as endless.
DRAWS: Final = 3
TURNS: Final = 200


@dataclass(frozen=True, slots=True)
class _Decided(Situation):
    """A situation in which one practice lapses, in one way, and all others are kept."""

    lapsing: Practice | None = None
    kind: str = ""

    def draw(self, *purpose: str | int) -> float:
        """A number in [0, 1), by which the solver lets practices lapse: below p is a lapse."""
        if self.lapsing is not None and purpose[1:] == (self.lapsing.name,):
            if purpose[0] == "lapse":
                return 0.0
            if purpose[0] == "kind":
                return self._place(self.lapsing)
        return 1.0 if purpose[0] in ("lapse", "endless") else Situation.draw(self, *purpose)

    def _place(self, practice: Practice) -> float:
        """The middle of the kind's share of all lapses."""
        kinds = list(practice.lapses)
        before = sum(practice.lapses[kind] for kind in kinds[: kinds.index(self.kind)])
        return (before + practice.lapses[self.kind] / 2) / sum(practice.lapses.values())


def check_play(spec: FamilySpec) -> None:
    """With every practice kept, the behaviour solves every level as well as the oracle."""
    conduct = _conduct(spec)
    if conduct is None:
        return
    for scenario in scenarios_of(spec, DRAWS):
        demand(
            f"# {conduct.title}: " in scenario.prompt,
            f"{spec.behaviour} does not recognise the task at {where(scenario)}: let Conduct.title, {conduct.title!r},"
            " be the title of task_prompt",
        )
        evaluation = play(conduct, scenario)
        demand(
            evaluation.score == 1.0,
            f"{spec.behaviour} scores {evaluation.score:g} at {where(scenario)}, although every practice is kept. A"
            " lookup may not be made or learnt from, or a value is worked out otherwise than the reference says."
            f" Feedback:\n{evaluation.feedback}",
        )


def check_practices(spec: FamilySpec) -> None:
    """Every practice that the behaviour declares mends a weakness: when it lapses alone, some level scores less."""
    conduct = _conduct(spec)
    if conduct is None:
        return
    for practice in _named(conduct):
        demand(
            practice in conduct.switches,
            f"{spec.behaviour} uses the practice {practice.name!r}; add it to Conduct.practices, or no skill states it",
        )
    for practice in conduct.practices:
        for kind in practice.lapses:
            demand(
                any(play(conduct, scenario, practice, kind).score < 1.0 for scenario in scenarios_of(spec, 1)),
                f"{spec.behaviour} declares the practice {practice.name!r}, but its lapse {kind!r} costs nothing at any"
                " level, so no skill can be better for stating it. Let a Lookup, a Fill or a value ask"
                " worker.lapses(...) for it, or take it out of Conduct.practices.",
            )


def _named(conduct: Conduct) -> Iterator[Practice]:
    """The practices that lookups and fields name."""
    yield from (one.practice for stage in conduct.stages for one in stage if one.practice is not None)
    yield from (fill.include for fill in conduct.fields if fill.include is not None)


def _conduct(spec: FamilySpec) -> Conduct | None:
    """What the family's lookup behaviour declares; None for a family without, or with another kind of behaviour."""
    try:
        behaviour = load_behaviour(spec)
    except ConfigError as error:
        raise CheckFailed(str(error)) from error
    return behaviour.conduct if isinstance(behaviour, LookupBehaviour) else None


def play(conduct: Conduct, scenario: Scenario, lapsing: Practice | None = None, kind: str = "") -> Evaluation:
    """The evaluation of a run in which at most this practice lapses, in this way."""
    box = scenario.open()
    names = frozenset(tool.name for tool in box)
    at = _Decided(scenario.prompt, digest(scenario.prompt), names, 0, lapsing=lapsing, kind=kind)
    program = Worker(conduct, at).work()
    try:
        batch = next(program)
        for _ in range(TURNS):
            batch = program.send([Answer(json.loads(box.call(call.tool, call.arguments))) for call in batch])
    except StopIteration:
        return graded(scenario, box)
    except Exception as error:
        raise CheckFailed(
            f"the behaviour raised {type(error).__name__}: {error} at {where(scenario)}{author_line(error)}"
        ) from None
    raise CheckFailed(f"the behaviour is not done after {TURNS} turns at {where(scenario)}")
