"""The cases of tests/data/review.json about the cursor, on a real service and store."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_skillevo.core.protocols import Reply
from pytest_skillevo.core.records import NO_USAGE
from pytest_skillevo.core.review.policy import PolicyDecision
from pytest_skillevo.core.review.reviewer import Reviewer
from pytest_skillevo.learning import LearningJob

from .conftest import FAILED, Script, service, session

CASES = json.loads((Path(__file__).parents[1] / "data" / "review.json").read_text("utf-8"))
MINE = [case for case in CASES if case["area"] in ("cursor", "improve.cursor")]


class Model:
    name = kind = "scripted"
    priced = False

    def __init__(self, text):
        self.text = text
        self.calls = 0

    def complete(self, messages, tools=(), **settings):
        self.calls += 1
        return Reply(self.text, (), "stop", NO_USAGE)


def policy_of(given):
    def policy(delta, outcome):
        if given.get("policy") == "raise":
            raise RuntimeError("the policy broke down")
        return PolicyDecision(True, "test", "always", {})

    return policy


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in MINE])
def test_the_cursor_moves_as_the_case_says(store, case):
    given, expect = case["input"], case["expect"]
    model = Model(given.get("model_text", "garbage"))
    answers = {"raise": RuntimeError("no answer"), "none": None}
    reviewer = Script(answers[given["reviewer"]]) if "reviewer" in given else Reviewer(model, tries=1)
    working = service(store, reviewer=reviewer, by=policy_of(given), attempts=given.get("max_attempts", 3))
    working.enqueue(LearningJob(session(), FAILED))
    for _ in range(given.get("same_delta_invalid_outputs", 1)):
        working.run_one()
    calls = len(reviewer.seen) if isinstance(reviewer, Script) else model.calls
    assert (store.learning.reviewed(session()) is not None) is expect["advanced"]
    if "reviewer_called" in expect:
        assert bool(calls) is expect["reviewer_called"]
    if "reviewer_calls_at_most" in expect:
        assert calls <= expect["reviewer_calls_at_most"]
    if "published" in expect:
        assert len(store.revisions()) == expect["published"]


def test_there_are_six_of_them():
    assert len(MINE) == 6
