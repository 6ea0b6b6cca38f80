"""The feedback tasks of every family in the set-up of the public study: seven seed skills for three families.

The first skill of a family is the one that the Reviewer changes; the others are offered beside it as they are.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_skillevo import Skill, Task, cases
from pytest_skillevo.core.protocols import Agent
from pytest_skillevo.core.rollout import Rollout

ROOT = Path(__file__).parents[2]
SKILLS = {
    "weather": ("weather-report", "weather-outages"),
    "recipe": ("recipe-cookbook", "dish-lists"),
    "economy": ("economic-snapshot", "country-codes", "slow-statistics"),
    "cats": ("cat-notes",),
    "creatures": ("creature-notes",),
}


def tasks() -> list[Any]:
    """The feedback tasks of all families that are there, each with the mark of its family's first skill."""
    found = []
    for family, (name, *others) in SKILLS.items():
        place = ROOT / "suites" / family
        for one in cases(family, split="feedback", start=place) if place.is_dir() else ():
            marks = [*one.marks, pytest.mark.skill(name, may_be_absent=True)]
            found.append(pytest.param(one.values[0], others, id=one.id, marks=marks))
    return found


@pytest.mark.parametrize(("case", "others"), tasks())
def test_task(skill: Skill, case: Task, others: list[str], agent: Agent, rollout: Rollout) -> None:
    """One task with the skill under test and, where there is one, the family's other seed skills."""
    offered = [skill, *(Skill.load(ROOT / "fixtures" / "skills" / name) for name in others)] if skill.exists else []
    run = agent.run(case.prompt, tools=case.tools, skills=offered, seed=rollout.seed)
    rollout.record(case.grade(run))
