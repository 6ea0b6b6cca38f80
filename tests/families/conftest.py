"""The recipe family and short ways to play its scenarios."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_skillevo.core.records import NO_USAGE, AgentRun
from pytest_skillevo.families.registry import load_family
from pytest_skillevo.families.scenario import Scenario
from pytest_skillevo.families.tasks import grade

ROOT = Path(__file__).parents[2]
RECIPE = ROOT / "suites" / "recipe" / "family.py"


@pytest.fixture(scope="session")
def recipe():
    return load_family(RECIPE)


class Play:
    """One rollout by hand: calls by name, then an evaluation."""

    def __init__(self, scenario):
        self.scenario = scenario
        self.box = scenario.open()

    def call(self, tool, **arguments):
        return json.loads(self.box.call(tool, arguments))

    def write(self, artifact):
        content = artifact if isinstance(artifact, str) else json.dumps(artifact)
        return self.call("write_file", path=self.scenario.spec.contract.file, content=content)

    def grade(self):
        return grade(self.scenario, AgentRun("", (), self.box, NO_USAGE, 1, "finished"))

    def fault(self, kind):
        return next(fault for fault in self.scenario.plan if fault.kind == kind)

    def record(self, fault):
        return self.scenario.world.by_id[fault.record]


@pytest.fixture
def play(recipe):
    def start(level, split="feedback", draw=0, profile="lean", **more):
        return Play(Scenario(recipe, level, split, draw, profile, **more))

    return start
