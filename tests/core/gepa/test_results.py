"""Results as JSON, and the cost of keeping books."""

from __future__ import annotations

import json
import sys

from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_skillevo.core.gepa import SearchResult, StopReason
from pytest_skillevo.core.gepa.pareto import Fronts
from pytest_skillevo.core.gepa.pool import mean

from .driver import RandomWorld, cases, search


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_a_result_survives_json(key):
    world = RandomWorld(key)
    result = search(world.evaluate, world.reflect, iterations=6, dataset=cases(7, 5))[0]
    text = json.dumps(result.to_json(), allow_nan=False)
    assert SearchResult.from_json(json.loads(text)) == result


def test_a_result_before_the_end_has_no_stop_reason():
    assert SearchResult.from_json(search(iterations=0)[0].to_json()).stop_reason is StopReason.MAX_ITERATIONS


def test_adding_to_the_fronts_does_work_in_proportion_to_the_cases_only():
    """Counted in executed lines, so that the machine's speed does not matter."""

    def lines(pool: int) -> int:
        fronts = Fronts(40)
        for i in range(pool):
            row = [float((i * 7 + case * 3) % 5 == 0) for case in range(40)]
            fronts.add(row, mean(row))
        count = 0

        def trace(frame, event, argument):
            nonlocal count
            count += event == "line"
            return trace

        sys.settrace(trace)
        try:
            for i in range(50):
                row = [float((i * 11 + case) % 5 == 0) for case in range(40)]
                fronts.add(row, mean(row))
        finally:
            sys.settrace(None)
        return count

    assert lines(2000) <= 1.1 * lines(200)
