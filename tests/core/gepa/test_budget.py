"""The budget: reserved for the worst case, never exceeded, and the reason is named."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_skillevo.core.errors import ConfigError
from pytest_skillevo.core.gepa import Engine, ReflectionAnswer, SearchSettings, StopReason, least_rollouts
from pytest_skillevo.core.records import Evaluation, Outcome, Usage

from .driver import RandomWorld, always_better, by_length, cases, search, seed_skill


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 9), st.integers(1, 9), st.integers(1, 5), st.integers(1, 120))
def test_no_cap_is_ever_exceeded(key, feedback, validation, minibatch, cap):
    world = RandomWorld(key)
    dataset = cases(feedback, validation)
    if cap < validation:
        with pytest.raises(ConfigError, match="budget is too small"):
            Engine(seed_skill(), dataset, SearchSettings(max_rollouts=cap))
        return
    result, log = search(
        world.evaluate, world.reflect, dataset=dataset, max_rollouts=cap, minibatch=minibatch, iterations=50
    )
    assert result.rollouts == log.rollouts <= cap
    assert result.events[-1].rollouts == result.rollouts
    if result.stop_reason is StopReason.METRIC_BUDGET:
        assert log.rollouts + 2 * min(minibatch, feedback) + validation > cap


def test_an_iteration_starts_only_if_its_worst_case_fits():
    assert least_rollouts(cases(3, 4), SearchSettings()) == 14
    for cap, iterations in ((13, 0), (14, 1), (23, 1), (24, 2)):
        result = search(dataset=cases(3, 4), max_rollouts=cap)[0]
        assert (result.iterations, result.stop_reason) == (iterations, StopReason.METRIC_BUDGET)


def test_a_budget_below_the_seeds_validation_says_what_the_least_is():
    with pytest.raises(ConfigError, match=r"3 rollouts.*validation alone needs 4.*one iteration it needs 14"):
        Engine(seed_skill(), cases(3, 4), SearchSettings(max_rollouts=3))


def costly(tokens: int | None, usd: str | None = None):
    money = None if usd is None else Decimal(usd)

    def evaluate(skill, request):
        usage = Usage(tokens, 0, 0, 0, money)
        return Evaluation(by_length(skill, request), usage={"agent": usage})

    return evaluate


def test_the_token_cap_stops_before_an_iteration_that_may_pass_it():
    # Validation of the seed: 40 tokens; one iteration: 10 rollouts of 10 and a reflection of 120.
    result = search(costly(10), dataset=cases(3, 4), max_tokens=500)[0]
    assert result.stop_reason is StopReason.TOKEN_BUDGET
    assert result.tokens == 40 + 2 * 220
    assert "480 of 500 tokens are used" in result.stop_detail


def test_the_money_cap_stops_in_the_same_way():
    def reflect(request):
        return ReflectionAnswer(request.id, always_better(request), "stop", Usage(1, 1, 0, 0, Decimal("0.05")))

    result = search(costly(1, "0.01"), reflect, dataset=cases(3, 4), max_usd=Decimal("0.40"))[0]
    assert result.stop_reason is StopReason.USD_BUDGET
    assert sum((usage.usd or Decimal(0)) for usage in result.usage.values()) == Decimal("0.34")


@pytest.mark.parametrize("usage", [{}, {"agent": Usage()}])
def test_a_cap_on_what_nobody_measures_fails_closed(usage):
    result = search(lambda skill, request: Evaluation(0.5, usage=usage), max_tokens=10**9)[0]
    assert result.stop_reason is StopReason.TOKEN_BUDGET
    assert "unknown" in result.stop_detail
    assert result.iterations == 0


def test_without_a_cap_unknown_usage_is_no_obstacle_and_stays_unknown():
    result = search(lambda skill, request: Evaluation(0.5, usage={"agent": Usage()}), iterations=1)[0]
    assert result.stop_reason is StopReason.MAX_ITERATIONS
    assert result.tokens is None


def test_a_rollout_without_an_evaluation_counts_as_the_dearest_so_far():
    measured = costly(10)

    def evaluate(skill, request):
        return Outcome("errored", None, "down") if "Check number" in skill.text else measured(skill, request)

    # 40 for the seed; each iteration: 3 measured, 3 errored rollouts and a reflection, 180 together.
    result = search(evaluate, dataset=cases(3, 4), max_tokens=500)[0]
    assert (result.iterations, result.stop_reason) == (2, StopReason.TOKEN_BUDGET)


@pytest.mark.parametrize(
    "wrong",
    [
        {"iterations": -1},
        {"minibatch": 0},
        {"max_rollouts": 0},
        {"max_tokens": 0},
        {"max_usd": Decimal(0)},
        {"max_usd": 0.5},
        {"patience": 0},
        {"threshold": 1.5},
        {"max_growth": 0.5},
        {"max_growth": float("nan")},
        {"iterations": 2.0},
        {"minibatch": True},
        {"field_chars": 10},
        {"prompt_chars": 10},
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        SearchSettings(**wrong)


def test_patience_counts_iterations_without_a_better_best_mean():
    result = search(lambda skill, request: 0.5, iterations=9, patience=3)[0]
    assert (result.iterations, result.stop_reason) == (3, StopReason.NO_IMPROVEMENT)
    improving = search(iterations=5, patience=1)[0]
    assert improving.stop_reason is StopReason.MAX_ITERATIONS


def test_the_first_rollout_shows_whether_a_cap_can_hold():
    result, log = search(lambda skill, request: Evaluation(0.5), max_tokens=10**9, dataset=cases(3, 50))
    assert log.rollouts == 1
    assert result.stop_reason is StopReason.TOKEN_BUDGET


def test_a_declared_worst_case_holds_the_cap_from_the_first_rollout_on():
    # Real rollouts cost up to 40, the first only 10: what was seen so far would not have been enough.
    def evaluate(skill, request):
        tokens = 10 if request.phase == "validation" else 40
        return Evaluation(by_length(skill, request), usage={"agent": Usage(tokens, 0)})

    for cap in range(200, 1200, 50):
        result, _ = search(
            evaluate,
            lambda request: ReflectionAnswer(request.id, always_better(request), "stop", Usage(0, 0)),
            dataset=cases(3, 4), max_tokens=cap, rollout_tokens=40, iterations=9, width=3,
        )  # fmt: skip
        assert result.tokens is not None
        assert result.tokens <= cap


def test_reflection_alone_may_have_a_cap_that_is_checked_before_each_call():
    def reflect(request):
        return ReflectionAnswer(request.id, "no json", "stop", Usage(1, 1, 0, 0, Decimal("0.04")))

    result, log = search(reflect=reflect, max_reflection_usd=Decimal("0.1"), iterations=9)
    assert log.reflections == 3
    assert result.stop_reason is StopReason.REFLECTION_COST


def test_a_cap_on_reflection_of_unknown_price_fails_closed():
    result, log = search(max_reflection_usd=Decimal("0.1"), iterations=9)
    assert (log.reflections, result.stop_reason) == (1, StopReason.REFLECTION_COST)
    assert "unknown" in result.stop_detail


usages = st.builds(
    Usage,
    *[st.none() | st.integers(0, 99)] * 4,
    st.none() | st.decimals(0, 9, places=2),
    st.booleans(),
)


@given(st.lists(usages, min_size=1, max_size=6))
def test_the_sum_of_a_batch_is_the_sum_of_its_parts(parts):
    def evaluate(skill, request):
        return Evaluation(0.5, usage={"agent": parts[int(request.case_id.split("-")[1])]})

    result = search(evaluate, iterations=0, dataset=cases(1, len(parts)))[0]
    assert result.usage["agent"] == Usage.total(parts)
