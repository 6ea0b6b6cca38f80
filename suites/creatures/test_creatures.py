"""Entries on invented creatures: the cases of the skill creature-index."""

from __future__ import annotations

import pytest

from pytest_skillevo import Skill, Task, cases
from pytest_skillevo.core.protocols import Agent
from pytest_skillevo.core.rollout import Rollout

pytestmark = pytest.mark.skill("creature-index")


@pytest.mark.parametrize("case", cases("creatures"))
def test_creatures(skill: Skill, case: Task, agent: Agent, rollout: Rollout) -> None:
    """One task of the family, solved with the skill under test."""
    run = agent.run(case.prompt, tools=case.tools, skills=[skill], seed=rollout.seed)
    rollout.record(case.grade(run))
