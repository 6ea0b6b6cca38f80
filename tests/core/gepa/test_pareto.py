"""Fronts and tickets: one pass keeps what the reference's restart loop keeps, and the best is never starved."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_skillevo.core.gepa.pareto import Fronts
from pytest_skillevo.core.gepa.pool import mean

Rows = list[list[float]]


def fronts_of(rows: Rows) -> Fronts:
    fronts = Fronts(len(rows[0]))
    for row in rows:
        fronts.add(row, mean(row))
    return fronts


def restart_loop(rows: Rows) -> dict[int, int]:
    """The reference's rule, written down plainly: after each removal the search for a removable one starts anew."""
    fronts = [{i for i, row in enumerate(rows) if row[c] == max(r[c] for r in rows)} for c in range(len(rows[0]))]
    alive = set().union(*fronts)
    order = sorted(alive, key=lambda i: (mean(rows[i]), i))
    removed = True
    while removed:
        removed = False
        for candidate in order:
            mine = [front for front in fronts if candidate in front]
            if candidate in alive and all((front & alive) - {candidate} for front in mine):
                alive.discard(candidate)
                removed = True
                break
    return {i: sum(i in front for front in fronts) for i in sorted(alive)}


pools = st.integers(1, 6).flatmap(
    lambda cases: st.lists(
        st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=cases, max_size=cases), min_size=1, max_size=14
    )
)


@given(pools)
def test_one_pass_keeps_the_survivors_and_weights_of_the_restart_loop(rows):
    assert dict(fronts_of(rows).tickets(floor=False)) == restart_loop(rows)


@given(pools)
def test_tickets_after_each_addition_equal_those_of_a_pool_built_at_once(rows):
    fronts = Fronts(len(rows[0]))
    for count, row in enumerate(rows, 1):
        fronts.add(row, mean(row))
        assert fronts.tickets(floor=False) == fronts_of(rows[:count]).tickets(floor=False)


@given(pools)
def test_the_best_mean_always_holds_a_ticket_and_the_floor_takes_none_away(rows):
    fronts = fronts_of(rows)
    exact, floored = dict(fronts.tickets(floor=False)), dict(fronts.tickets())
    best = max(mean(row) for row in rows)
    assert any(mean(rows[i]) == best and weight >= 1 for i, weight in floored.items())
    assert exact.items() <= floored.items()
    assert len(floored) <= len(exact) + 1


@given(pools)
def test_the_best_is_the_highest_mean_and_of_several_the_oldest(rows):
    means = [mean(row) for row in rows]
    assert fronts_of(rows).best == means.index(max(means))


def test_a_candidate_on_no_front_gets_a_ticket_only_as_the_best():
    rows = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.9, 0.9, 0.9]]
    assert dict(fronts_of(rows).tickets()) == {0: 1, 1: 1, 2: 1, 3: 1}
    assert dict(fronts_of(rows).tickets(floor=False)) == {0: 1, 1: 1, 2: 1}


def test_of_equal_candidates_the_newest_stays():
    assert dict(fronts_of([[1.0], [1.0]]).tickets()) == {1: 1}
    assert dict(fronts_of([[0.5, 1.0], [0.5, 1.0], [0.5, 1.0]]).tickets()) == {2: 2}
