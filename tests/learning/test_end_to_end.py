"""The whole way on a bundled family: a session, a proposal, the gates, an approval, later tasks that load it."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from pytest_skillevo.core.revisions import Status
from pytest_skillevo.families.registry import tasks
from pytest_skillevo.learning.metrics import status

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "online_learning.py"


@pytest.fixture
def stream(tmp_path, monkeypatch):
    found = importlib.util.spec_from_file_location("online_learning", BENCHMARK)
    module = importlib.util.module_from_spec(found)
    monkeypatch.setitem(sys.modules, "online_learning", module)
    found.loader.exec_module(module)

    def make(arm):
        made = module.Stream("recipe", arm, 1, tmp_path)
        made.pool = {split: tasks(made.spec, split=split)[:6] for split in ("feedback", "validation")}
        made.pool["validation"] = made.pool["validation"][:3]
        monkeypatch.setattr(module, "tasks", lambda spec, split: made.pool[split])
        return made

    return make


def test_a_skill_is_learned_gated_approved_and_loaded_by_later_tasks(stream):
    made = stream("quality")
    for number in range(8):
        made.task(made.pool["feedback"][number % 6], number)
        made.service.drain()
        made.decide()
    told = status(made.store)
    stages = told["stages"]
    assert (stages["accepted"], stages["published"]) == (8, 0)
    assert 0 < stages["proposed"] <= stages["reviewed"] == 8
    assert stages["loaded"] > 0
    assert made.decided["approved"] > 0
    active = made.store.revisions(status=Status.ACTIVE)
    assert {one.origin for one in active} == {"reviewer"}
    measured = active[0].evidence["submission"]
    assert measured["candidate_score"] > measured["baseline_score"]
    (effect, *_) = told["effects"]
    assert effect["tokens"]["before"]["count"] > 0
    assert effect["score"]["after"]["mean"] is not None
    made.store.close()


def test_a_reviewer_that_writes_harm_gets_nothing_past_the_measurement(stream):
    made = stream("harmful")
    for number in range(3):
        made.task(made.pool["feedback"][number], number)
        made.service.drain()
        made.decide()
    for revision in made.store.revisions():
        if revision.promoted_at is not None and revision.origin == "reviewer":
            told = revision.evidence["submission"]
            assert told["candidate_score"] >= told["baseline_score"]
    assert made.decided["turned down"] > 0
    made.store.close()
