"""Baselines in the same engine, and the final pick."""

from __future__ import annotations

import pytest

from pytest_skillevo.core.errors import ConfigError
from pytest_skillevo.core.gepa import SearchSettings, StopReason
from pytest_skillevo.core.gepa.pool import Pool
from pytest_skillevo.core.records import Evaluation, Usage
from pytest_skillevo.core.skill import Skill

from .driver import by_length, cases, search, section, seed_skill


def test_the_seed_alone_is_validated_and_nothing_else():
    result, log = search(method="seed", iterations=9)
    assert (result.iterations, result.rollouts, log.reflections) == (0, 4, 0)
    assert result.stop_reason is StopReason.MAX_ITERATIONS
    assert "validates the seed skill only" in result.stop_detail


def test_without_the_skill_the_agent_is_measured_and_never_handed_over():
    result, log = search(lambda skill, request: 0.4 if skill.exists else 0.7, method="no-skill")
    assert [event.kind.value for event in result.events] == ["seed_validated", "absence_validated"]
    assert "without the skill the validation mean is 0.7000" in result.events[1].verdict
    assert result.winner == result.seed
    assert log.requests[-1].variant == Skill.absent("pdf-tables").digest


def test_best_of_n_shows_the_model_no_record_and_always_starts_from_the_seed():
    result, log = search(method="best-of-n", iterations=4)
    assert [section(prompt, "records") for prompt in log.prompts()] == [[]] * 4
    assert [section(prompt, "rejected") for prompt in log.prompts()] == [[]] * 4
    assert {entry.parent for entry in result.pool[1:]} == {result.seed}
    assert result.rollouts == 4 * 5
    assert [entry.component for entry in result.pool[1:]] == ["steps", "pitfalls", "when_to_use", "description"]


def test_best_of_n_spends_the_same_budget_on_more_tries():
    gepa, _ = search(iterations=99, max_rollouts=60)
    blind, _ = search(method="best-of-n", iterations=99, max_rollouts=60)
    assert gepa.stop_reason is blind.stop_reason is StopReason.METRIC_BUDGET
    assert blind.iterations > gepa.iterations
    assert max(gepa.rollouts, blind.rollouts) <= 60


@pytest.mark.parametrize("wrong", [{"method": "magic"}, {"frontier": "objective"}, {"epsilon": 1.0}, {"width": 0}])
def test_settings_without_sense_are_refused(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        SearchSettings(**wrong)


# The final pick.


def pool_of(*rows: tuple[float, int, float | None]) -> Pool:
    """Mean, extra length and cost of each member."""
    pool = Pool(("v-0",))
    for number, (mean, extra, cost) in enumerate(rows):
        skill = seed_skill([f"Step {number}" + "x" * extra])
        pool.add(skill, {"v-0": mean}, iteration=number, parent=None if number == 0 else 0, cost=cost)
    return pool


def picked(pool: Pool, epsilon: float = 0.0) -> int:
    return pool.pick(epsilon).iteration


def test_the_best_mean_wins_and_ties_go_to_the_seed_then_the_shorter_then_the_older():
    assert picked(pool_of((0.5, 0, 9), (0.9, 50, 9), (0.8, 0, 1))) == 1
    assert picked(pool_of((0.9, 99, 9), (0.9, 0, 1))) == 0
    assert picked(pool_of((0.5, 0, 9), (0.9, 50, 9), (0.9, 10, 9))) == 2
    assert picked(pool_of((0.5, 0, 9), (0.9, 10, 9), (0.9, 10, 9))) == 1


def test_within_epsilon_the_cheapest_wins_and_an_unknown_cost_is_not_cheap():
    rows = ((0.5, 0, 1.0), (0.90, 0, 100.0), (0.87, 0, 40.0), (0.86, 0, None))
    assert picked(pool_of(*rows)) == 1
    assert picked(pool_of(*rows), 0.05) == 2
    assert picked(pool_of(*rows), 0.02) == 1
    assert picked(pool_of((0.5, 0, None), (0.9, 0, None), (0.89, 0, None)), 0.05) == 1


def with_calls(skill: Skill, request) -> Evaluation:
    calls = 9.0 if "Check number 1." in skill.text else 2.0
    return Evaluation(by_length(skill, request), objectives={"calls": calls}, usage={"agent": Usage(7, 3)})


def test_the_cost_is_an_objective_or_tokens_or_the_size():
    costs = {name: search(with_calls, iterations=1, cost=name)[0].pool for name in ("calls", "tokens", "size")}
    assert [entry.cost for entry in costs["calls"]] == [2.0, 9.0]
    assert [entry.cost for entry in costs["tokens"]] == [10.0, 10.0]
    assert costs["size"][1].cost > costs["size"][0].cost
    assert search(iterations=1)[0].pool[0].cost is None


def test_a_cost_front_keeps_the_cheapest_as_a_parent():
    pool = Pool(("v-0",), cost_front=True)
    pool.add(seed_skill(), {"v-0": 0.2}, iteration=0, cost=1.0)
    pool.add(seed_skill(["Other."]), {"v-0": 0.9}, iteration=1, parent=0, cost=5.0)
    pool.add(seed_skill(["Third."]), {"v-0": 0.1}, iteration=2, parent=0, cost=None)
    assert {ticket.candidate for ticket in pool.fronts.tickets()} == {0, 1}


def test_a_cost_front_without_a_cost_is_a_usage_error_after_one_rollout():
    count = []
    with pytest.raises(ConfigError, match="objective 'calls'"):
        search(lambda s, r: count.append(1) or 0.5, frontier="hybrid", cost="calls", dataset=cases(3, 9))
    assert len(count) == 1
