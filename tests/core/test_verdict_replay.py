"""Operational replay can lower a decision and never raises one."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_skillevo.core.verdict import (
    Decision,
    Goal,
    ReplayEvidence,
    ReplayPair,
    Rules,
    Verdict,
    compare_replay,
    lower_by_replay,
    replay_by_family,
)

ACCEPTED = Decision(Verdict.ACCEPT, "quality-superior", "Better on 9 of 9 holdout cases.")
COST = Rules(goal=Goal.cost)


def pair(seed, task, evolution, optimized, tokens=(None, None), family="recipe"):
    return ReplayPair(seed, f"task-{task}", family, evolution, optimized, *tokens)


def replay(*rows, tokens=(None, None), **kwargs):
    """Rows of (evolution, optimized), one row of tasks for each root seed."""
    pairs = tuple(pair(seed, i, *scores, tokens) for seed, row in enumerate(rows) for i, scores in enumerate(row))
    return ReplayEvidence(pairs, **kwargs)


def test_a_replay_that_is_at_least_as_good_holds():
    evidence = replay([(0.9, 0.95), (0.8, 0.75)], [(0.9, 0.9), (0.9, 0.9)])
    assert lower_by_replay(ACCEPTED, evidence, Rules()) == (ACCEPTED, "held")


def test_a_small_loss_cannot_tell():
    evidence = replay([(0.9, 0.85), (0.8, 0.8)], [(0.9, 0.9), (0.9, 0.9)])
    assert lower_by_replay(ACCEPTED, evidence, Rules()) == (ACCEPTED, "cannot tell")


def test_a_loss_over_seeds_and_tasks_rejects():
    decision, status = lower_by_replay(ACCEPTED, replay(*[[(0.9, 0.85), (0.8, 0.75)]] * 3), Rules())
    assert (decision.verdict, decision.rule, status) == (Verdict.REJECT, "replay-worse", "worse")
    assert decision.reason == (
        "In replay worse on 6 of 6 tasks, same on 0, better on 0 (3 root seeds). Chance alone: p = 0.02, limit 0.05."
    )


def test_a_loss_beyond_the_margin_in_every_root_seed_rejects():
    rows = [[(0.9, 0.65), (0.9, 0.93)], [(0.9, 0.6), (0.8, 0.84)]]
    decision, status = lower_by_replay(ACCEPTED, replay(*rows), Rules())
    assert (decision.rule, status) == ("replay-worse-every-seed", "worse")
    spared = [*rows, [(0.9, 0.9), (0.9, 0.9)]]
    assert lower_by_replay(ACCEPTED, replay(*spared), Rules()) == (ACCEPTED, "cannot tell")


def test_a_loss_of_exactly_the_margin_is_not_beyond_it():
    assert lower_by_replay(ACCEPTED, replay([(0.9, 0.8)], [(0.7, 0.6)]), Rules())[1] == "cannot tell"


@pytest.mark.parametrize(("optimized", "status"), [(1019, "held"), (1020, "worse"), (900, "held")])
def test_two_percent_more_tokens_reject_a_cost_goal(optimized, status):
    evidence = replay([(0.9, 0.9)] * 2, tokens=(1000, optimized))
    decision, found = lower_by_replay(ACCEPTED, evidence, COST)
    assert found == status
    assert decision.rule == ("replay-costlier" if status == "worse" else "quality-superior")
    assert lower_by_replay(ACCEPTED, evidence, Rules()) == (ACCEPTED, "held")


def test_a_claim_of_lower_cost_is_held_to_it_whatever_the_goal():
    claimed = Decision(Verdict.ACCEPT, "cost-superior", "Cheaper.")
    evidence = replay([(0.9, 0.9)] * 2, tokens=(1000, 1100))
    assert lower_by_replay(claimed, evidence, Rules(goal=Goal.either))[1] == "worse"


def test_unknown_tokens_block_a_cost_goal_only():
    evidence = replay([(0.9, 0.9)] * 2, tokens=(1000, None))
    decision, status = lower_by_replay(ACCEPTED, evidence, COST)
    assert (decision.verdict, decision.rule, status) == (Verdict.BLOCKED, "unknown-usage", "incomplete")
    assert lower_by_replay(ACCEPTED, evidence, Rules()) == (ACCEPTED, "held")


@pytest.mark.parametrize(
    "evidence",
    [
        ReplayEvidence(()),
        replay([(0.9, None), (0.9, 0.9)]),
        replay([(None, 0.9), (0.9, 0.9)]),
        replay([(0.9, 0.9)] * 2, planned=3),
        replay([(0.9, 0.9)] * 2, [(0.9, 0.9)]),
        replay([(0.9, 0.9)] * 2, changed=("weather",)),
    ],
    ids=["empty", "no optimized", "no evolution", "fewer than planned", "uneven seeds", "other families only"],
)
def test_an_incomplete_replay_blocks(evidence):
    decision, status = lower_by_replay(ACCEPTED, evidence, Rules())
    assert (decision.verdict, decision.rule, status) == (Verdict.BLOCKED, "replay-incomplete", "incomplete")


def test_families_whose_skill_did_not_change_are_background():
    pairs = (pair(0, 1, 0.9, 0.9), *(pair(0, i, 0.9, 0.1, family="weather") for i in range(9)))
    evidence = ReplayEvidence(pairs, changed=("recipe",))
    assert lower_by_replay(ACCEPTED, evidence, Rules()) == (ACCEPTED, "held")
    assert compare_replay(evidence.background).worse == 9
    assert compare_replay(evidence.judged).pairs == 1


def test_comparison_of_groups_counts_pairs_that_ran_in_both():
    evidence = replay([(0.9, 0.8), (0.5, None)], [(0.7, 0.9), (0.4, 0.4)], tokens=(100, 110))
    result = compare_replay(evidence.pairs)
    assert (result.pairs, result.better, result.same, result.worse, result.missing) == (3, 1, 1, 1, 1)
    assert result.change == pytest.approx(0.1 / 3)
    assert result.seeds == ((0, pytest.approx(-0.1)), (1, pytest.approx(0.1)))
    assert result.token_ratio == pytest.approx(1.1)
    nothing = compare_replay([])
    assert nothing.change is nothing.p_worse is nothing.token_ratio is nothing.mean_optimized is None


def test_a_replay_score_outside_the_scale_is_refused():
    with pytest.raises(ValueError, match="task-0"):
        replay([(0.9, float("nan"))])


scores = st.none() | st.sampled_from([0.0, 0.3, 0.5, 0.8, 0.85, 1.0])
tokens = st.none() | st.integers(0, 3000)
evidences = st.builds(
    ReplayEvidence,
    st.lists(
        st.builds(
            ReplayPair, st.integers(0, 2), st.just("task"), st.sampled_from(["a", "b"]), scores, scores, tokens, tokens
        ),
        max_size=8,
    ).map(tuple),
    st.sampled_from([None, ("a",)]),
    st.sampled_from([None, 4]),
)
RANK = {Verdict.ACCEPT: 3, Verdict.INCONCLUSIVE: 2, Verdict.REJECT: 1, Verdict.BLOCKED: 0}


@settings(deadline=None, max_examples=300)
@given(st.sampled_from(list(Verdict)), evidences, st.sampled_from(list(Goal)))
def test_replay_only_lowers(verdict, evidence, goal):
    given_decision = Decision(verdict, "made-before", "A reason.")
    decision, status = lower_by_replay(given_decision, evidence, Rules(goal=goal))
    if verdict in (Verdict.REJECT, Verdict.BLOCKED, Verdict.NO_CHANGE):
        assert decision is given_decision
    else:
        assert RANK[decision.verdict] <= RANK[verdict]
        assert (decision is given_decision) == (status in ("held", "cannot tell"))
    json.dumps([decision.to_json(), evidence.to_json(), compare_replay(evidence.pairs).to_json()], allow_nan=False)


def test_every_family_whose_skill_changed_is_told_alone():
    pairs = [pair(seed, task, 0.9, 0.95) for seed in range(3) for task in range(3)]
    pairs += [pair(seed, task, 0.9, 0.7, family="weather") for seed in range(3) for task in range(3)]
    pairs += [pair(seed, task, 0.9, 0.1, family="cats") for seed in range(3) for task in range(3)]
    found = replay_by_family(ReplayEvidence(tuple(pairs), changed=("recipe", "weather")), Rules())
    assert {family: status for family, (_, status) in found.items()} == {"recipe": "held", "weather": "worse"}
    assert (found["recipe"][0].better, found["weather"][0].worse) == (9, 9)
