"""The recipe family played by the simulated model, and skills to play it with."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from pytest_skillevo.agents import LoopAgent
from pytest_skillevo.core.records import AgentRun, Evaluation
from pytest_skillevo.core.skill import Skill
from pytest_skillevo.families.registry import load_behaviour, load_family, tasks
from pytest_skillevo.models import resolve_model

ROOT = Path(__file__).parents[2]
RECIPE = ROOT / "suites" / "recipe" / "family.py"
VARIANTS = ROOT / "tests" / "data" / "skills_recipe"


class Played(NamedTuple):
    """One rollout."""

    task: str
    level: str
    seed: int
    run: AgentRun
    evaluation: Evaluation


class Kitchen:
    """Plays recipe tasks with a skill; equal plays are played once."""

    def __init__(self):
        family = load_family(RECIPE)
        self.behaviour = load_behaviour(family)
        self.tasks = {task.id: task for task in tasks(family)}
        self.agent = LoopAgent(resolve_model("simulated", behaviours=[self.behaviour]))
        self.play = cache(self._play)

    def _play(self, skill, task_id, seed):
        task = self.tasks[task_id]
        run = self.agent.run(task.prompt, tools=task.tools, skills=[skill] if skill else [], seed=seed)
        return Played(task.id, task.level, seed, run, task.grade(run))

    def plays(self, skill, *, seeds=(1, 2), levels=None, split=None, limit=None):
        chosen = [
            task.id
            for task in self.tasks.values()
            if (levels is None or task.level in levels) and (split is None or task.split == split)
        ]
        return [self.play(skill, task_id, seed) for seed in seeds for task_id in chosen[:limit]]

    def mean(self, skill, **selection):
        played = self.plays(skill, **selection)
        return sum(each.evaluation.score for each in played) / len(played)


@pytest.fixture(scope="session")
def kitchen():
    return Kitchen()


@pytest.fixture(scope="session")
def seed_skill():
    return Skill.load(ROOT / "fixtures" / "skills" / "recipe-cookbook")


@pytest.fixture(scope="session")
def good_skill():
    return Skill.load(VARIANTS / "good" / "recipe-cookbook")


@pytest.fixture(scope="session")
def corrupted_skill():
    return Skill.load(VARIANTS / "corrupted" / "recipe-cookbook")


DESCRIPTION = "Recipe cookbook: dishes of the meal catalogue with category and kitchen."


def skill_with(*rules, name="recipe-cookbook", description=DESCRIPTION):
    """A skill that is loaded and states these rules only."""
    steps = "\n".join(f"{n}. {rule}" for n, rule in enumerate(rules or ("Do the task.",), 1))
    text = f"---\nname: {name}\ndescription: '{description}'\n---\n\n# Cookbook\n\n## Steps\n\n{steps}\n"
    return Skill.from_bytes(name, text.encode())
