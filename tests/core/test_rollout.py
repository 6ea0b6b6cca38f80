"""What a test says of one run becomes one evaluation or one clear error."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_skillevo.core.errors import EvaluationError
from pytest_skillevo.core.records import NO_USAGE, Evaluation, Outcome, Usage
from pytest_skillevo.core.rollout import Rollout


def rollout() -> Rollout:
    return Rollout("test_x.py::test_it", seed=7)


def test_nothing_recorded_scores_by_pass_and_fail():
    assert rollout().evaluation(None).score == 1.0
    failed = rollout().evaluation("assert 1 == 2")
    assert (failed.score, failed.passed, failed.feedback) == (0.0, False, "assert 1 == 2")


def test_a_later_failed_assert_keeps_the_score_and_adds_its_text():
    run = rollout()
    run.record(score=0.7, feedback="nearly")
    result = run.evaluation("assert False")
    assert (result.score, result.passed, result.feedback) == (0.7, False, "nearly\nassert False")


def test_checks_score_their_weighted_share():
    run = rollout()
    assert run.check("a", True, weight=2) is True
    assert run.check("b", [], weight=1) is False
    result = run.evaluation(None)
    assert result.score == pytest.approx(2 / 3)
    assert (result.passed, result.feedback) == (False, "check failed: b")


def test_an_assert_that_fails_beside_checks_scores_zero():
    run = rollout()
    run.check("a", True)
    assert run.evaluation("assert x").score == 0.0


@given(st.lists(st.tuples(st.booleans(), st.floats(0.001, 1000)), min_size=1, max_size=30))
def test_a_share_of_checks_is_always_a_score(checks: list[tuple[bool, float]]):
    run = rollout()
    for number, (holds, weight) in enumerate(checks):
        run.check(str(number), holds, weight=weight)
    score = run.evaluation(None).score
    assert 0.0 <= score <= 1.0
    assert (score == 1.0) >= all(holds for holds, _ in checks)


@pytest.mark.parametrize("weight", [0, -1, float("inf"), float("nan"), "2", True, 10**400])
def test_a_weight_must_be_a_positive_number(weight: object):
    with pytest.raises(EvaluationError, match="the weight of check 'a' must be a positive number"):
        rollout().check("a", True, weight=weight)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "needs an Evaluation or score"),
        ({"evaluation": 0.5}, "takes an Evaluation, not float"),
        ({"evaluation": Evaluation(1), "score": 1}, "not both"),
        ({"score": float("nan")}, "score must be a finite number"),
        ({"score": True}, "score must be a number"),
        ({"score": 1, "passed": 1}, "passed must be True, False or None"),
        ({"score": 1, "feedback": None}, "feedback must be text"),
        ({"score": 10**400}, "a whole number of 1329 bits"),
        ({"score": 1, "objectives": [1]}, "objectives must map names to numbers, not list"),
        ({"score": 1, "objectives": {"cost": 10**400}}, "objective 'cost' must be a finite number"),
        ({"score": 1, "objectives": {"cost": float("inf")}}, "objective 'cost' must be a finite number"),
    ],
)
def test_a_record_that_is_no_evaluation_names_case_and_fault(arguments: dict[str, object], message: str):
    run = rollout()
    with pytest.raises(EvaluationError, match=r"^test_x.py::test_it: .*" + message):
        run.record(**arguments)  # type: ignore[arg-type]
    with pytest.raises(EvaluationError, match=message):
        run.evaluation(None)


def test_usage_that_nobody_gave_is_unknown_and_makes_sums_unknown():
    run = rollout()
    run.usage("agent", input_tokens=10, output_tokens=5, usd="0.25")
    run.usage("agent", input_tokens=1)
    used = run.evaluation(None).usage["agent"]
    assert (used.input_tokens, used.output_tokens, used.tokens, used.usd) == (11, None, None, None)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"role": "cook"}, "knows the roles"),
        ({"input_tokens": -1}, "whole number of at least 0"),
        ({"output_tokens": 1.5}, "whole number of at least 0"),
        ({"usd": 0.1}, "floats lose cents"),
        ({"usd": "ten"}, "not an amount of money"),
        ({"usd": Decimal("NaN")}, "at least 0"),
        ({"usd": -1}, "at least 0"),
        ({"usd": "1e99"}, "below"),
        ({"input_tokens": 10**5000}, "below"),
        ({"output_tokens": True}, "whole number"),
    ],
)
def test_wrong_usage_is_refused(arguments: dict[str, object], message: str):
    with pytest.raises(EvaluationError, match=message):
        rollout().usage(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("usage", "message"),
    [
        (None, "usage must map roles to Usage, not NoneType"),
        ({"agent": 5}, "the usage of role agent must be a Usage, not int"),
        ({"boss": NO_USAGE}, "usage knows the roles agent, reflection, reviewer, judge, not 'boss'"),
    ],
)
def test_an_evaluation_with_wrong_usage_is_none(usage: object, message: str):
    with pytest.raises(EvaluationError, match=message):
        Evaluation(1, usage=usage)  # type: ignore[arg-type]


def test_a_session_that_is_no_mapping_is_refused():
    with pytest.raises(EvaluationError, match=r"add_session\(\) takes a mapping, not object"):
        rollout().add_session(object())  # type: ignore[arg-type]


def test_conversations_give_the_trace_its_prompt_and_answer():
    run = rollout()
    run.add_session({"prompt": "cook", "answer": "done", "messages": [], "skills_loaded": []})
    run.record(score=1, trace={"why": "fine"})
    trace = run.evaluation(None).trace
    assert (trace["input"], trace["output"], trace["recorded"]) == ("cook", "done", {"why": "fine"})


usages = st.builds(
    Usage,
    *[st.none() | st.integers(0, 10**9)] * 4,
    st.none() | st.decimals(0, 1000, places=6),
    st.booleans(),
)


@given(usages, usages, usages)
def test_usage_adds_like_numbers_with_unknowns(a: Usage, b: Usage, c: Usage):
    assert (a + b) + c == a + (b + c)
    assert a + b == b + a
    assert Usage.total([a]) == a + NO_USAGE
    assert Usage.from_json(a.to_json()) == a
    assert (a + b).input_tokens is None or None not in (a.input_tokens, b.input_tokens)


@given(st.floats(0, 1), st.none() | st.booleans(), st.text(), usages)
def test_outcomes_survive_json(score: float, passed: bool | None, feedback: str, usage: Usage):
    outcome = Outcome("scored", Evaluation(score, passed, feedback, {"o": 1.0}, None, {"agent": usage}))
    assert Outcome.from_json(outcome.to_json()) == outcome
