"""The policies of a search: by name, and what each of them chooses."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_skillevo.core.draws import draw, shuffled
from pytest_skillevo.core.errors import ConfigError
from pytest_skillevo.core.gepa import POLICIES, Attempt, Evidence, History, Strategy, named_strategy
from pytest_skillevo.core.gepa.acceptance import at_least_as_good, certain, strictly_better
from pytest_skillevo.core.gepa.components import all_components, blamed_component, component_cycle
from pytest_skillevo.core.gepa.pool import Pool
from pytest_skillevo.core.gepa.sampling import epoch_batch, hardest_batch, independent_batch
from pytest_skillevo.core.gepa.selection import best_parent, pareto_parent, reference_parent, top_parent
from pytest_skillevo.core.gepa.validation import RACE_ALPHA, Bound, Race, Racing, capital
from pytest_skillevo.core.records import Evaluation

from .case_parts import pool_of
from .driver import cases, search, seed_skill

CASES = tuple(f"f-{n}" for n in range(12))
scores = st.sampled_from([0.0, 0.25, 0.5, 1.0])


def parents(selector, pool: Pool, draws: int = 200) -> Counter[int]:
    return Counter(selector(pool, seed=1, iteration=iteration) for iteration in range(1, draws + 1))


# Names.


def test_the_default_strategy_is_the_first_name_of_every_kind():
    first = named_strategy({kind: next(iter(names)) for kind, names in POLICIES.items()})
    assert (first.select_parent, first.sample, first.accept) == (pareto_parent, epoch_batch, strictly_better)
    assert type(first.validate) is type(Strategy().validate)


def test_every_name_gives_a_search_that_ends():
    for kind, names in POLICIES.items():
        for name in names:
            result = search(iterations=4, engine={"strategy": named_strategy({kind: name})})[0]
            assert result.iterations == 4, (kind, name)


def test_an_unknown_name_is_offered_to_plugins_and_then_refused_with_a_hint():
    asked = []
    mine = named_strategy({"acceptance": "mine"}, lambda kind, name: asked.append((kind, name)) or at_least_as_good)
    assert mine.accept is at_least_as_good
    assert asked == [("acceptance", "mine")]
    with pytest.raises(ConfigError, match=r"parent policy 'paretto'. Did you mean 'pareto'\?"):
        named_strategy({"parent": "paretto"})


# Parents.


STARVED = {
    "c0": [1.0, 0, 0, 0, 1, 0, 0, 0],
    "c1": [0.0, 1, 0, 0, 0, 1, 0, 0],
    "c2": [0.0, 0, 1, 0, 0, 0, 1, 0],
    "c3": [0.0, 0, 0, 1, 0, 0, 0, 1],
    "c4": [1.0, 1, 1, 1, 0, 0, 0, 0],
}


def test_the_reference_starves_the_best_mean_and_the_default_does_not():
    pool = pool_of(STARVED)
    assert 4 not in parents(reference_parent, pool)
    assert parents(pareto_parent, pool)[4] > 0


def test_current_best_and_top_k_look_at_the_means():
    pool = pool_of({f"c{n}": [n / 10, n / 10, 1.0] for n in range(8)})
    assert set(parents(best_parent, pool)) == {7}
    assert set(parents(top_parent, pool)) == {3, 4, 5, 6, 7}


def test_of_equal_means_the_newest_is_the_parent_so_that_a_search_moves_on():
    pool = pool_of({"c0": [0.5, 0.5], "c1": [0.5, 0.5], "c2": [0.5, 0.5]})
    assert set(parents(best_parent, pool)) == {2}
    assert set(parents(pareto_parent, pool)) == {2}


# Minibatches.


@given(st.integers(1, 12), st.integers(0, 9), st.integers(1, 40))
def test_independent_batches_are_distinct_cases_and_differ_between_iterations(size, seed, iteration):
    batch = independent_batch(CASES, size, seed=seed, iteration=iteration)
    assert len(set(batch)) == len(batch) == size
    assert batch == independent_batch(CASES, size, seed=seed, iteration=iteration)


def test_hardest_takes_unseen_cases_first_then_the_worst_and_takes_turns_among_equals():
    history = History()
    history.drawn({case: 0.0 if case in ("f-1", "f-2", "f-3") else 0.9 for case in CASES[:-1]})
    first = hardest_batch(CASES, 3, seed=1, iteration=1, history=history)
    assert first[0] == "f-11"
    assert set(first[1:]) < {"f-1", "f-2", "f-3"}
    history.drawn({"f-11": 1.0, **dict.fromkeys(first[1:], 0.0)})
    rest = {"f-1", "f-2", "f-3"} - set(first)
    assert rest < set(hardest_batch(CASES, 3, seed=1, iteration=2, history=history))


def test_a_search_on_the_hardest_cases_spends_its_minibatches_on_failures():
    def score(skill, request):
        return 0.5 if request.case_id in ("f-0", "f-1", "f-2") else 1.0

    result = search(
        score, iterations=20, dataset=cases(12, 2), threshold=None,
        engine={"strategy": named_strategy({"sampler": "hardest"})},
    )[0]  # fmt: skip
    perfect = [event.kind for event in result.events].count("minibatch_perfect")
    assert perfect <= 4


# Components.


def evidence(*feedback: str, rejected: int = 0, component: str = "pitfalls") -> Evidence:
    records = [(f"f-{n}", Evaluation(0.0, None, text)) for n, text in enumerate(feedback)]
    return Evidence(records, [Attempt(component, "x", "no")] * rejected)


def test_the_blamed_component_is_the_one_that_failing_feedback_speaks_of():
    skill = seed_skill(steps=("Open the file.",), pitfalls=("Never invent currencies.",))
    assert blamed_component(skill, 0, evidence("the currencies were invented")) == "pitfalls"
    assert blamed_component(skill, 0, evidence("the description is misleading")) == "description"
    assert blamed_component(skill, 2, evidence("nothing fits")) == component_cycle(skill)[2]
    passing = Evidence([("f-0", Evaluation(1.0, None, "the currencies are right"))], [])
    assert blamed_component(skill, 0, passing) == "steps"


def test_rejected_proposals_make_the_blame_wander():
    skill = seed_skill(steps=("Open the currencies.",), pitfalls=("Never invent currencies.",))
    assert blamed_component(skill, 1, evidence("currencies invented")) == "pitfalls"
    assert blamed_component(skill, 1, evidence("currencies invented", rejected=4)) == "steps"


def test_all_components_are_changed_by_reflections_of_their_own():
    strategy = Strategy(select_component=all_components)
    result, log = search(iterations=2, engine={"strategy": strategy})
    assert log.reflections == 8
    assert [event.component for event in result.events[1:]] == ["steps+pitfalls+when_to_use+description"] * 2
    assert result.events[1].kind == "candidate_accepted"


def test_a_broken_answer_costs_only_its_component():
    from .driver import always_better

    def reflect(request):
        return "broken" if request.component == "pitfalls" else always_better(request)

    result = search(reflect=reflect, iterations=1, engine={"strategy": Strategy(select_component=all_components)})[0]
    assert result.events[1].component == "steps+when_to_use+description"


# Acceptance.


@given(st.lists(st.tuples(scores, scores, st.booleans()), min_size=1, max_size=6))
def test_a_certain_verdict_is_the_final_one_whatever_the_open_scores(rows):
    parent = [row[0] for row in rows]
    final = [row[1] for row in rows]
    partial = [score if known else None for _, score, known in rows]
    for accept in (strictly_better, at_least_as_good):
        verdict = certain(accept, parent, partial)
        assert verdict is None or verdict is accept(parent, final)


def test_a_criterion_of_ones_own_is_certain_only_if_it_says_so():
    def never(parent, child):
        return False

    assert certain(never, [0.5], [None]) is None
    never.monotone = True  # type: ignore[attr-defined]
    assert certain(never, [0.5], [None]) is False


def test_or_equal_takes_a_child_that_is_no_worse():
    result = search(lambda s, r: 0.5, iterations=1, engine={"strategy": Strategy(accept=at_least_as_good)})[0]
    assert len(result.pool) == 2


# Validation.


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_racing_rarely_gives_up_a_child_that_is_as_good_as_its_parent(key):
    # A mean of exactly 0: as many cases better as worse, in random order. The bound is on the share over many orders.
    differences = [1.0] * 20 + [-1.0] * 20
    lost = sum(capital(shuffled(differences, key, n), len(differences)) >= 1 / RACE_ALPHA for n in range(60))
    assert lost / 60 <= 0.2


def test_racing_gives_up_a_child_that_is_clearly_worse_and_never_a_better_one():
    def race(child: float, count: int) -> Race:
        names = [f"v-{n}" for n in range(count)]
        return Race(dict.fromkeys(names, child), dict.fromkeys(names, 0.5), 0.5, 200)

    assert Racing().hopeless(race(0.0, 20)) is not None
    assert Racing().hopeless(race(0.5, 150)) is None
    assert Racing().hopeless(race(1.0, 150)) is None


def test_a_raced_out_child_is_rejected_and_never_in_the_pool():
    def score(skill, request):
        better = "Check number" in skill.text
        if request.phase != "validation":
            return 0.6 if better else 0.5
        return float(draw(request.case_id) < (0.1 if better else 0.9))

    strategy = named_strategy({"validation": "racing"})
    result, _ = search(score, iterations=1, dataset=cases(3, 100), engine={"strategy": strategy})
    assert len(result.pool) == 1
    assert "racing" in result.events[1].verdict
    assert result.rollouts < 100 + 6 + 100


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_the_bound_never_loses_what_could_have_become_the_best(key):
    from .driver import RandomWorld

    world = RandomWorld(key)
    plain = named_strategy({"parent": "current-best"})
    bound = named_strategy({"parent": "current-best", "validation": "bound"})
    run = {"iterations": 8, "dataset": cases(7, 25)}
    full, _ = search(world.evaluate, world.reflect, engine={"strategy": plain}, **run)
    cut, _ = search(world.evaluate, world.reflect, engine={"strategy": bound}, **run)
    assert cut.rollouts <= full.rollouts
    assert max(entry.mean for entry in cut.pool) == max(entry.mean for entry in full.pool)


def test_the_bound_says_how_far_it_was():
    race = Race({"v-0": 0.0, "v-1": 0.0}, {}, 0.5, 4)
    assert Bound().hopeless(race) == "its mean can be 0.5000 at most after 2 of 4 cases"
    assert Bound().hopeless(Race({"v-0": 0.0}, {}, 0.5, 4)) is None
