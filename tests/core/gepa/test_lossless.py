"""Stops that lose nothing: the same search with fewer rollouts."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_skillevo.core.gepa import SearchResult

from .driver import RandomWorld, cases, search


def lineage(result: SearchResult) -> object:
    """The result without what the stop may change: counts of rollouts and sums that were not needed."""
    events = [replace(event, rollouts=0, child_sum=None, verdict="") for event in result.events]
    return result.pool, events, result.winner, result.stop_reason


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.booleans(), st.integers(1, 4))
def test_stopping_a_minibatch_when_its_verdict_is_certain_changes_nothing_but_the_rollouts(key, binary, chunk):
    world = RandomWorld(key, binary=binary)
    run = {"iterations": 10, "dataset": cases(7, 5), "minibatch": 4}
    whole, log = search(world.evaluate, world.reflect, stop_early=False, **run)
    cut, second = search(world.evaluate, world.reflect, chunk=chunk, **run)
    assert lineage(cut) == lineage(whole)
    assert cut.rollouts <= whole.rollouts
    assert second.prompts() == log.prompts()


def test_a_child_that_fails_where_its_parent_failed_costs_one_rollout():
    def score(skill, request):
        return 0.0 if request.case_id == "f-0" else 1.0 if request.phase != "validation" else 0.5

    result, _ = search(score, iterations=1, dataset=cases(3, 2))
    assert result.rollouts == 2 + 3 + 1
    assert result.events[1].child_sum is None
    assert "after 1 of 3 cases" in result.events[1].verdict


def test_a_child_is_accepted_as_soon_as_it_has_passed_its_parent():
    def score(skill, request):
        return float("Check number" in skill.text) if request.phase != "validation" else 0.5

    result, _ = search(score, iterations=1, dataset=cases(3, 2))
    assert result.rollouts == 2 + 3 + 1 + 2
    assert result.events[1].kind == "candidate_accepted"


def test_a_validation_that_errs_in_a_portion_is_not_gone_on_with():
    from pytest_skillevo.core.gepa import named_strategy
    from pytest_skillevo.core.records import Outcome

    from .driver import by_length

    def evaluate(skill, request):
        child = "Check number" in skill.text and request.phase == "validation"
        return Outcome("errored", None, "down") if child else by_length(skill, request)

    strategy = named_strategy({"validation": "bound"})
    result, _ = search(evaluate, iterations=1, dataset=cases(3, 30), engine={"strategy": strategy})
    assert result.rollouts == 30 + 3 + 3 + 10
