"""Proposals side by side."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_skillevo.core.gepa import ReflectionFailed, StopReason, Strategy
from pytest_skillevo.core.gepa.methods import best_gains

from .driver import RandomWorld, always_better, appended, by_length, cases, search


def run(world: RandomWorld, **more):
    return search(world.evaluate, world.reflect, **{"iterations": 9, "dataset": cases(7, 5), "width": 3, **more})


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.booleans(), st.integers(0, 99), st.data())
def test_neither_the_order_of_answers_nor_a_resume_changes_a_wide_search(key, binary, order, data):
    world = RandomWorld(key, binary=binary)
    result, log = run(world)
    assert run(world, order=order)[0] == result
    ids = [request.id for request in log.requests]
    assert len(ids) == len(set(ids))
    kept = data.draw(st.integers(0, len(ids)))
    resumed, second = run(world, recorded={i: log.answers[i] for i in ids[:kept]})
    assert (resumed, second.batches) == (result, log.batches)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(5, 200))
def test_no_cap_is_exceeded_with_many_in_flight(key, width, cap):
    result, log = run(RandomWorld(key), width=width, max_rollouts=cap, iterations=60)
    assert result.rollouts == log.rollouts <= cap


def test_every_proposal_has_a_minibatch_and_a_seed_of_its_own_and_they_share_batches():
    result, log = search(iterations=4, width=4, dataset=cases(12, 2))
    parents = [request for request in log.requests if getattr(request, "phase", "") == "feedback-parent"]
    assert len({request.case_id for request in parents}) == 12
    assert len({request.seed for request in parents}) == 4
    assert len(log.batches) < 4 * 4
    assert [event.iteration for event in result.events] == [0, 1, 2, 3, 4]


def test_the_budget_narrows_the_last_round():
    # Seed 4, one proposal 10: 34 pay for three, so the second round of two has room for one.
    result, _ = search(iterations=10, width=2, dataset=cases(6, 4), max_rollouts=34)
    assert (result.iterations, result.rollouts, result.stop_reason) == (3, 34, StopReason.METRIC_BUDGET)


def test_twins_of_one_round_are_evaluated_once():
    result, _ = search(
        by_length, lambda request: appended(request, "The same."), iterations=2, width=2, dataset=cases(6, 4),
        engine={"strategy": Strategy(select_component=lambda skill, cursor, evidence: "steps")},
    )  # fmt: skip
    kinds = [event.kind.value for event in result.events]
    assert kinds == ["seed_validated", "candidate_duplicate", "candidate_accepted"]
    assert "being tried" in result.events[1].verdict


def test_a_failed_reflection_ends_the_search_and_the_paid_answers_of_the_others_count():
    def reflect(request):
        down = request.id == "search/it001/reflection"
        return ReflectionFailed(request.id, "quota") if down else always_better(request)

    result, log = search(reflect=reflect, iterations=4, width=2)
    assert result.stop_reason is StopReason.PROVIDER_ERROR
    assert result.rollouts == log.rollouts
    assert result.usage["reflection"].tokens == 120
    assert [event.kind.value for event in result.events[1:]] == ["iteration_cut", "iteration_cut"]


def test_only_the_largest_gains_are_validated_and_the_others_are_not_called_worse():
    gains = {1: 0.0, 2: 0.2, 3: 0.1, 4: 0.3}

    def score(skill, request):
        born = next((n for n in gains if f"Check number {n}." in skill.text), None)
        return 0.5 if born is None else 0.5 + gains[born]

    result, _ = search(score, iterations=4, width=4, keep=2, dataset=cases(12, 2))
    assert [entry.iteration for entry in result.pool] == [0, 2, 4]
    verdicts = {event.iteration: event.verdict for event in result.events}
    assert "no improvement" in verdicts[1]
    assert "not selected" in verdicts[3]


def test_of_equal_gains_the_earlier_are_kept():
    assert best_gains([0.5, 0.2, 0.5, 0.5], 2) == [0, 2]
    assert best_gains([0.1, 0.2], None) == [1, 0]
