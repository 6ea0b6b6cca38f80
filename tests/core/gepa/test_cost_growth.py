"""A limit on how far the cost of a candidate may grow over the seed skill's."""

from __future__ import annotations

import pytest

from pytest_skillevo.core.errors import ConfigError
from pytest_skillevo.core.gepa import EventKind, SearchSettings
from pytest_skillevo.core.records import Evaluation, RolloutRequest, Usage
from pytest_skillevo.core.skill import Skill

from .driver import by_length, cases, search


def growing(skill: Skill, request: RolloutRequest) -> Evaluation:
    """100 tokens, and 20 more for every rule that was added."""
    tokens = 100 + 20 * skill.text.count("Check number")
    return Evaluation(by_length(skill, request), usage={"agent": Usage(tokens - 10, 10)})


@pytest.mark.parametrize("method", ["gepa", "best-of-n"])
def test_a_candidate_whose_tokens_grew_too_far_is_not_accepted_and_the_event_says_why(method: str):
    result, log = search(growing, iterations=2, pace=0, method=method, max_cost_growth=1.1)
    assert [entry.cost for entry in result.pool] == [100.0]
    assert result.winner == result.seed
    (first, second) = result.events[1:]
    assert first.kind is second.kind is EventKind.CANDIDATE_REJECTED
    assert first.verdict == (
        "too dear: its cost (tokens) is above 1.1 times the seed skill's, 120 a validation rollout after 100"
    )
    assert first.text is not None
    assert "too dear: its cost (tokens) is above 1.1 times" in log.prompts()[1]


def test_exactly_the_limit_may_enter_and_growth_is_measured_from_the_seed_not_from_the_parent():
    result, _ = search(growing, iterations=2, pace=0, max_cost_growth=1.2)
    assert [entry.cost for entry in result.pool] == [100.0, 120.0]
    # Each step alone is within the limit: 140 is less than 1.2 times 120.
    assert "140 a validation rollout after 100" in result.events[2].verdict


def test_a_limit_that_nothing_reaches_and_no_limit_give_the_same_search():
    free, free_log = search(growing, iterations=4)
    held, held_log = search(growing, iterations=4, max_cost_growth=9.0)
    assert len(free.pool) > 1
    assert held == free
    ids = [[request.id for request in log.requests] for log in (free_log, held_log)]
    assert sorted(ids[0]) == sorted(ids[1])


def test_what_is_dear_is_said_by_the_cost_of_the_settings():
    def calls(skill: Skill, request: RolloutRequest) -> Evaluation:
        value = 3.0 if "Check number" in skill.text else 0.0
        return Evaluation(by_length(skill, request), objectives={"calls": value})

    result, _ = search(calls, iterations=1, cost="calls", max_cost_growth=2.0)
    assert (
        "its cost (calls) is above 2 times the seed skill's, 3 a validation rollout after 0" in result.events[1].verdict
    )
    assert len(search(calls, iterations=1, cost="size", max_cost_growth=2.0)[0].pool) == 2


def test_a_seed_without_a_cost_is_refused_after_one_rollout():
    count = []
    with pytest.raises(ConfigError, match=r"case 'v-0' reports no tokens, .* or leave out max_cost_growth$"):
        search(lambda s, r: count.append(1) or 0.5, max_cost_growth=1.5, dataset=cases(3, 9))
    assert len(count) == 1
    with pytest.raises(ConfigError, match=r"leave out the frontier 'hybrid' and max_cost_growth$"):
        search(lambda s, r: 0.5, max_cost_growth=1.5, frontier="hybrid")


def test_a_candidate_whose_cost_is_unknown_on_one_case_is_not_accepted():
    def partly(skill: Skill, request: RolloutRequest) -> Evaluation:
        unknown = "Check number" in skill.text and request.case_id == "v-3"
        return Evaluation(by_length(skill, request), usage={"agent": Usage(None if unknown else 90, 10)})

    result, _ = search(partly, iterations=1, max_cost_growth=5.0)
    assert result.events[1].verdict == "its cost (tokens) is unknown, so nobody can say how far it grew"
    assert len(result.pool) == 1
    assert len(search(partly, iterations=1)[0].pool) == 2


def test_a_limit_without_sense_is_refused():
    for wrong in (0.99, float("nan"), float("inf")):
        with pytest.raises(ConfigError, match="max_cost_growth must be at least 1"):
            SearchSettings(max_cost_growth=wrong)
    with pytest.raises(ConfigError, match="does not go with the cost 'coverage:max'"):
        SearchSettings(max_cost_growth=2.0, cost="coverage:max")
    below = Evaluation(0.5, objectives={"profit": -1.0})
    with pytest.raises(ConfigError, match=r"the seed skill's cost \(profit\) is -1: .* needs a cost of 0 or more"):
        search(lambda skill, request: below, cost="profit", max_cost_growth=2.0)
