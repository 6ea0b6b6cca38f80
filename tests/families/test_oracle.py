"""Scripted agents on the recipe family, beyond what the conformance checks hold every family to."""

from __future__ import annotations

import pytest

from pytest_skillevo.families.oracle import ADVERSARIES, ScriptedAgent, oracle, partial, run_script
from pytest_skillevo.families.scenario import Scenario
from pytest_skillevo.families.tasks import grade, make_task

LEVELS = ("e1", "e2", "e3", "m1", "m2", "h1")


def test_the_official_score_cannot_tell_a_fabricator_from_the_oracle_but_strict_can(recipe):
    scenario = Scenario(recipe, "h1", "holdout", 0, "lean")
    evaluation = grade(scenario, run_script(scenario, ADVERSARIES["fabricator"][0]))
    assert (evaluation.objectives["official"], evaluation.score) == (1.0, 0.49)


def test_more_delivered_entries_are_worth_more(recipe):
    scenario = Scenario(recipe, "h1", "feedback", 0, "lean")
    scores = [grade(scenario, run_script(scenario, partial(kept))).score for kept in range(6)]
    assert scores == sorted(set(scores))
    assert scores[-1] == 1.0


def test_a_scripted_agent_is_an_agent_on_its_own_tools_only(recipe):
    scenario = Scenario(recipe, "e1", "feedback", 0, "lean")
    task = make_task(scenario)
    run = ScriptedAgent(scenario, oracle).run(task.prompt, tools=task.tools, seed=3)
    assert (run.stop_reason, task.grade(run).score) == ("finished", 1.0)
    with pytest.raises(TypeError, match="works on a Toolbox"):
        ScriptedAgent(scenario, oracle).run(task.prompt, tools=[])
