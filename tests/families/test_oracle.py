"""The oracle reaches 1.0 everywhere; doing nothing gives 0; every adversary stays under its cap."""

from __future__ import annotations

import pytest

from pytest_skillevo.core.records import NO_USAGE, SPLITS, AgentRun
from pytest_skillevo.families.oracle import ADVERSARIES, ScriptedAgent, oracle, partial, run_script
from pytest_skillevo.families.scenario import Scenario
from pytest_skillevo.families.tasks import grade, make_task

LEVELS = ("e1", "e2", "e3", "m1", "m2", "h1")


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("level", LEVELS)
def test_the_oracle_is_perfect_in_both_scores_with_twenty_seeds(recipe, level, split):
    for draw in range(20):
        scenario = Scenario(recipe, level, split, draw, "lean")
        evaluation = grade(scenario, run_script(scenario, oracle))
        assert (evaluation.score, evaluation.passed, evaluation.feedback) == (1.0, True, "")
        assert evaluation.objectives["official"] == evaluation.objectives["passed90"] == 1.0
        assert evaluation.objectives["redundant_calls"] == 0.0


def test_the_oracle_is_perfect_with_other_payloads_and_without_faults(recipe):
    for level in LEVELS:
        for scenario in (
            Scenario(recipe, level, "holdout", 0, "standard"),
            Scenario(recipe, level, "holdout", 0, "lean", faults=False),
        ):
            assert grade(scenario, run_script(scenario, oracle)).score == 1.0


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", ADVERSARIES)
def test_every_adversary_stays_under_its_cap(recipe, name, level):
    script, cap = ADVERSARIES[name]
    for split in SPLITS:
        for draw in range(5):
            scenario = Scenario(recipe, level, split, draw, "lean")
            box = scenario.open()
            agent = ScriptedAgent(scenario, script)
            if name == "crasher":
                with pytest.raises(RuntimeError, match="crashed"):
                    agent.run(scenario.prompt, tools=box)
            else:
                agent.run(scenario.prompt, tools=box)
            evaluation = grade(scenario, AgentRun("", (), box, NO_USAGE, 1, ""))
            assert evaluation.score <= cap(scenario)
            assert evaluation.passed is (evaluation.score >= 0.9)


def test_doing_nothing_is_worth_nothing_in_both_scores(recipe):
    scenario = Scenario(recipe, "h1", "holdout", 0, "lean")
    evaluation = grade(scenario, run_script(scenario, ADVERSARIES["nop"][0]))
    assert (evaluation.score, evaluation.objectives["official"]) == (0.0, 0.0)


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
