"""Validation at the pace of the proposals: children that passed are mutated further until a validation is due."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_skillevo.core.errors import ConfigError
from pytest_skillevo.core.gepa import ReflectionRequest, SearchResult, SearchSettings

from .driver import Log, always_better, by_length, cases, search


def run(**settings: object) -> tuple[SearchResult, Log]:
    return search(
        by_length, always_better, **{"dataset": cases(12, 24), "iterations": 12, "threshold": None, **settings}
    )


def test_a_child_that_passed_is_the_parent_of_the_next_proposal_until_a_validation_is_due():
    result, _ = run(minibatch=3, stop_early=False)
    settled = {event.iteration: event for event in result.events}
    # A validation costs 24 rollouts, a proposal 6: four proposals, then their sum is validated.
    assert [settled[i].kind for i in range(1, 9)] == (["step_kept"] * 3 + ["candidate_accepted"]) * 2
    assert [settled[i].follows for i in range(1, 6)] == [None, 1, 2, 3, None]
    assert settled[2].parent == settled[1].candidate
    assert len(result.pool) == 1 + 3


def test_what_several_steps_changed_enters_the_pool_as_one_candidate_with_all_its_components():
    result, _ = run(minibatch=3, stop_early=False, iterations=4)
    assert len(result.pool) == 2
    assert result.pool[1].parent == result.seed
    assert result.pool[1].component == "steps+pitfalls+when_to_use+description"
    assert len(result.pool[1].rationale.splitlines()) == 4
    assert result.pool[1].mean > result.pool[0].mean


def test_with_pace_0_every_child_that_passed_is_validated():
    result, _ = run(pace=0)
    assert {event.kind for event in result.events[1:]} == {"candidate_accepted"}


def test_where_a_validation_is_cheaper_than_a_proposal_every_child_is_validated():
    result, _ = run(dataset=cases(12, 6), stop_early=False)
    assert {event.kind for event in result.events[1:]} == {"candidate_accepted"}


def test_a_failing_proposal_is_made_of_the_child_before_it_and_takes_nothing_back():
    def reflect(request: ReflectionRequest) -> str:
        return "no json" if request.component == "pitfalls" else always_better(request)

    result, _ = search(by_length, reflect, dataset=cases(12, 24), iterations=4, threshold=None, stop_early=False)
    kinds = {event.iteration: (event.kind, event.follows) for event in result.events[1:]}
    assert kinds == {
        1: ("step_kept", None),
        2: ("reflection_rejected", 1),
        3: ("step_kept", 1),
        4: ("candidate_accepted", 3),
    }


def test_the_last_iterations_are_validated_whatever_ends_the_search():
    for limits in ({"iterations": 2}, {"patience": 2}, {"max_rollouts": 24 + 2 * 6 + 24}):
        result, _ = run(stop_early=False, **limits)
        assert result.events[-1].kind == "candidate_accepted"
        assert {event.kind for event in result.events} >= {"step_kept"}


@given(st.integers(1, 3), st.integers(30, 160), st.sampled_from([0.0, 0.5, 1.0, 3.0]), st.integers(1, 8))
def test_the_cap_is_kept_and_proposals_never_cost_much_more_than_the_validations(
    width: int, cap: int, pace: float, seed: int
):
    result, log = run(width=width, max_rollouts=cap, pace=pace, seed=seed, dataset=cases(9, 15), iterations=30)
    assert result.rollouts == log.rollouts <= cap
    assert [event.kind for event in result.events].count("iteration_cut") == 0


def test_a_resumed_search_keeps_its_pace():
    whole, log = run(width=2)
    again, replay = run(width=2, recorded=log.answers)
    assert again == whole
    assert replay.rollouts == replay.reflections == 0


def test_an_event_comes_back_from_json_with_the_step_that_it_follows():
    result, _ = run(iterations=3)
    assert SearchResult.from_json(json.loads(json.dumps(result.to_json()))) == result
    assert [event.parent_name({result.seed: "c0"}) for event in result.events[1:]] == ["c0", "i1", "i2"]


@pytest.mark.parametrize("pace", [-0.1, float("nan"), float("inf")])
def test_a_pace_that_is_no_share_is_refused(pace: float):
    with pytest.raises(ConfigError, match="pace must be a share"):
        SearchSettings(pace=pace)
