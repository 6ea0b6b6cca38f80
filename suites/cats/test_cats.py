"""Encyclopedias of invented cat breeds: the cases of the skill cat-encyclopedia, which evolution makes from nothing."""

from __future__ import annotations

import pytest

from pytest_skillevo import Skill, Task, cases
from pytest_skillevo.core.protocols import Agent
from pytest_skillevo.core.rollout import Rollout

pytestmark = pytest.mark.skill("cat-encyclopedia", may_be_absent=True)


@pytest.mark.parametrize("case", cases("cats"))
def test_cats(skill: Skill, case: Task, agent: Agent, rollout: Rollout) -> None:
    """One task of the family, solved with the skill under test."""
    run = agent.run(case.prompt, tools=case.tools, skills=[skill], seed=rollout.seed)
    rollout.record(case.grade(run))
