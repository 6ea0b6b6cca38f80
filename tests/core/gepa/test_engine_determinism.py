"""Same seed and same answers, same requests byte for byte; resume is replay."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_skillevo.core.gepa import RolloutAnswer
from pytest_skillevo.core.records import Outcome

from .driver import RandomWorld, cases, search

worlds = st.builds(RandomWorld, st.integers(0, 10**6), binary=st.booleans())


def run(world: RandomWorld, **more):
    return search(world.evaluate, world.reflect, **{"iterations": 8, "dataset": cases(7, 5), **more})


@settings(max_examples=25, deadline=None)
@given(worlds, st.integers(0, 99))
def test_the_order_of_the_answers_changes_nothing(world, order):
    result, log = run(world)
    shuffled_result, shuffled_log = run(world, order=order)
    assert shuffled_log.batches == log.batches
    assert shuffled_result == result


@settings(max_examples=25, deadline=None)
@given(worlds, st.data())
def test_replaying_any_part_of_the_recorded_answers_resumes_the_search(world, data):
    result, log = run(world)
    ids = [request.id for request in log.requests]
    kept = data.draw(st.integers(0, len(ids)))
    resumed, second = run(world, recorded={i: log.answers[i] for i in ids[:kept]})
    assert second.batches == log.batches
    assert resumed == result
    assert second.rollouts + second.reflections == len(ids) - kept


@settings(max_examples=10, deadline=None)
@given(worlds)
def test_answers_that_went_through_json_give_the_same_requests(world):
    _, log = run(world)
    stored = {}
    for request_id, answer in log.answers.items():
        if isinstance(answer, RolloutAnswer):
            evaluation = answer.outcome.evaluation
            data = json.loads(json.dumps([answer.outcome.to_json(), evaluation and evaluation.trace]))
            outcome = Outcome.from_json(data[0])
            object.__setattr__(outcome.evaluation, "trace", data[1])
            stored[request_id] = RolloutAnswer(request_id, outcome)
    assert run(world, recorded=stored)[1].batches == log.batches


@given(worlds)
@settings(max_examples=10, deadline=None)
def test_ids_are_unique_and_batches_stay_until_they_are_told(world):
    _, log = run(world)
    ids = [request.id for request in log.requests]
    assert len(ids) == len(set(ids))


def test_another_seed_gives_another_search():
    world = RandomWorld(3)
    runs = [run(world, seed=key)[1] for key in (1, 1, 2)]
    assert runs[0].batches == runs[1].batches
    assert runs[0].minibatches() != runs[2].minibatches()


PROGRAM = """
import hashlib
from tests.core.gepa.driver import RandomWorld, cases, search
world = RandomWorld(5)
log = search(world.evaluate, world.reflect, iterations=12, dataset=cases(7, 5))[1]
print(hashlib.sha256("".join(log.batches).encode()).hexdigest())
"""


def test_nothing_depends_on_the_hash_seed():
    root = Path(__file__).resolve().parents[3]
    world = RandomWorld(5)
    here = "".join(search(world.evaluate, world.reflect, iterations=12, dataset=cases(7, 5))[1].batches)
    for hash_seed in ("1", "2"):
        env = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(root)}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=env, cwd=root, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == hashlib.sha256(here.encode()).hexdigest()
