"""Adapters for conformance cases of single parts: request, options, reflection, selection, the evaluator's contract."""

from __future__ import annotations

import json

import pytest

from pytest_skillevo.core.errors import ConfigError, EvaluationError
from pytest_skillevo.core.gates.redaction import redact
from pytest_skillevo.core.gepa import (
    Engine,
    Proposal,
    Rejection,
    RolloutAnswer,
    SearchDataset,
    SearchSettings,
    StopReason,
    Strategy,
    Watch,
    parse_answer,
)
from pytest_skillevo.core.gepa.acceptance import strictly_better
from pytest_skillevo.core.gepa.fields import bounded
from pytest_skillevo.core.gepa.pool import Pool
from pytest_skillevo.core.gepa.prompt import Brief, reflection_messages
from pytest_skillevo.core.gepa.proposal import Guard
from pytest_skillevo.core.gepa.selection import pareto_parent
from pytest_skillevo.core.records import Evaluation, Outcome
from pytest_skillevo.core.rollout import Rollout
from pytest_skillevo.core.skill import Skill
from pytest_skillevo.core.skill.spec import numbered_list

from .case_register import Case, adapter, built, mentions, number
from .driver import always_better, answer_text, by_length, cases, drive, search, seed_skill

# Request and options.


@adapter("request-validation", "validation_empty")
def empty_split(case: Case) -> None:
    sizes = {**case["given"]["base"]["splits"], "validation": case["given"]["change"]["splits.validation"]}
    with pytest.raises(ConfigError) as error:
        cases(sizes["feedback"], sizes["validation"])
    assert mentions(str(error.value), case["expect"]["message_mentions"])


@adapter("request-validation", "case_id_unique_within_a_split", "blank_case_id")
def bad_ids(case: Case) -> None:
    with pytest.raises(ConfigError) as error:
        SearchDataset(case["given"]["feedback_ids"], case["given"]["validation_ids"])
    assert mentions(str(error.value), case["expect"]["message_mentions"])


@adapter("request-validation", "caller_objects_are_not_mutated")
def callers_objects(case: Case) -> None:
    feedback, validation, watched = ["f-0", "f-1"], ["v-0"], {"f-0": ["a text"]}
    skill, dataset = seed_skill(), SearchDataset(feedback, validation)  # type: ignore[arg-type]
    before = (skill.document, list(feedback), list(validation), dict(watched))
    engine = Engine(skill, dataset, SearchSettings(iterations=2), watched=watched)
    feedback.append("f-2")
    drive(engine, by_length, always_better)
    assert (skill.document, feedback[:-1], validation, watched) == before
    assert all("f-2" not in event.minibatch for event in engine.result().events)


@adapter("options", "max_iterations_negative", "max_iterations_zero", "batch_zero")
def options(case: Case) -> None:
    names = {"max_iterations": "iterations", "reflection_batch_size": "minibatch"}
    given = {names[name]: value for name, value in case["given"]["options"].items()}
    if case["expect"]["accepted"]:
        SearchSettings(**given)
    else:
        with pytest.raises(ConfigError):
            SearchSettings(**given)


@adapter("options", "defaults")
def defaults(case: Case) -> None:
    settings, expect = SearchSettings(), case["expect"]
    assert settings.iterations == expect["max_iterations"]
    assert settings.max_rollouts == expect["max_metric_calls"]
    assert settings.minibatch == expect["reflection_batch_size"]
    assert settings.seed == expect["seed"]


# Reflection and redaction.


def applied(component: str, text: str, parent: Skill | None = None) -> Skill:
    guard = Guard(SearchSettings(), redact, lambda text: None, Watch([]))
    return guard.child(parent or seed_skill(), Proposal(component, text, ""))


@adapter("reflection", "list_items_are_trimmed_and_blank_ones_dropped")
def trimmed_items(case: Case) -> None:
    text = "\n".join(f"{n}. {item}" for n, item in enumerate(case["given"]["response_steps"], 1))
    child = applied(case["given"]["component"], text)
    assert child.spec is not None
    assert list(child.spec.steps) == case["expect"]["child_steps"]
    assert child.components["steps"] == numbered_list(child.spec.steps)


@adapter("reflection", "wrong_type_is_rejected")
def wrong_type(case: Case) -> None:
    component = case["given"]["component"]
    ours = json.dumps({"component": component, "text": ["one long string"], "rationale": ""})
    for raw in (case["given"]["raw"], ours):
        with pytest.raises(Rejection):
            parse_answer(raw, "stop", component, seed_skill().components)


@adapter("reflection", "records_are_marked_untrusted")
def untrusted(case: Case) -> None:
    trace = case["given"]["trace"]
    brief = Brief(seed_skill(), "steps", [("f-0", Evaluation(0.0, trace=trace))], [])
    system, user = (message["content"] for message in reflection_messages(brief, SearchSettings(), redact))
    assert mentions(system, case["expect"]["system_message_mentions"])
    assert user.index("<records>") < user.index(trace) < user.index("</records>")
    assert user.count(trace) == 1


@adapter("reflection", "field_truncation_head_and_tail")
def truncation(case: Case) -> None:
    text, expect = bounded(built(case["given"]["field"]), case["given"]["limit"]), case["expect"]
    assert len(text) == expect["length"]
    assert text.startswith(built(expect["starts_with"]))
    assert text.endswith(built(expect["ends_with"]))
    assert expect["contains"] in text


@adapter("reflection", "field_at_the_limit_is_untouched")
def at_the_limit(case: Case) -> None:
    text = "x" * case["given"]["field_length"]
    assert bounded(text, SearchSettings().field_chars) == text


@adapter("reflection", "pitfalls_are_cumulative")
def cumulative(case: Case) -> None:
    given = case["given"]
    parent = seed_skill(pitfalls=given["parent_pitfalls"])
    nothing = answer_text("pitfalls", "\n".join(given["response_pitfalls"]))
    with pytest.raises(Rejection, match="empty"):
        parse_answer(nothing, "stop", "pitfalls", parent.components)
    with pytest.raises(Rejection, match="drops 1 existing"):
        applied("pitfalls", "- Check totals.", parent)


@adapter("redaction")
def redaction(case: Case) -> None:
    if case["name"] == "redaction_does_not_touch_the_candidate":
        skill = seed_skill(case["given"]["spec_steps"])
        document = skill.document
        user = reflection_messages(Brief(skill, "steps", [], []), SearchSettings(), redact)[1]["content"]
        assert case["expect"]["prompt_absent"] not in user
        assert skill.document == document
    else:
        assert redact(case["given"]["text"]) == case["expect"]["text"]


# Selection and acceptance.


def pool_of(scores: dict[str, list[float]]) -> Pool:
    width = len(next(iter(scores.values())))
    pool = Pool([f"v-{i}" for i in range(width)])
    for name, row in scores.items():
        pool.add(seed_skill([f"Be {name}."]), dict(zip(pool.cases, row, strict=True)), iteration=len(pool))
    return pool


@adapter("parent-selection", "specialists_share_by_cases_won", "best_candidate_is_never_starved")
def weights(case: Case) -> None:
    scores, expect = case["given"]["validation_scores"], case["expect"]
    fronts, names = pool_of(scores).fronts, list(scores)
    exact = {names[i]: weight for i, weight in fronts.tickets(floor=False)}
    floored = {names[i]: weight for i, weight in fronts.tickets()}
    if "weights" in expect:
        assert exact == floored == expect["weights"]
        assert sum(exact.values()) == expect["total"]
    else:
        assert exact == expect["reference_weights"]
        assert floored["c4"] >= 1


@adapter("parent-selection", "selection_is_reproducible")
def reproducible(case: Case) -> None:
    pool, seed = pool_of(case["given"]["validation_scores"]), case["given"]["seed"]
    first, second = ([pareto_parent(pool, seed=seed, iteration=i) for i in range(1, 51)] for _ in range(2))
    assert first == second
    assert set(first) == {0, 1}


@adapter("acceptance", "strict_sum")
def strict_sum(case: Case) -> None:
    given = case["given"]
    assert strictly_better(given["parent_scores"], given["child_scores"]) is case["expect"]["accepted"]


@adapter("acceptance", "custom_criterion_is_asked_once_per_proposal")
def asked_once(case: Case) -> None:
    asked: list[bool] = []

    def every_second(parent: object, child: object) -> bool:
        asked.append(len(asked) % 2 == 1)
        return asked[-1]

    result, log = search(iterations=6, engine={"strategy": Strategy(accept=every_second)})
    assert len(asked) == log.reflections == 6
    assert len(result.pool) == 1 + 3


@adapter("final-selection")
def winner(case: Case) -> None:
    scores = case["given"]["validation_scores"]
    best = pool_of(scores).best
    assert list(scores)[best.iteration] == case["expect"]["winner"]
    assert best.mean == pytest.approx(case["expect"]["mean"])


# The evaluator's contract.


def told(case: Case, returned: list[Case]) -> Engine:
    """An engine whose validation cases are the given ones, told what the evaluator returned."""
    wanted = case["given"]["cases"]
    engine = Engine(seed_skill(), SearchDataset(("f-0",), wanted), SearchSettings(iterations=1))
    ids = {request.case_id: request.id for request in engine.ask()}
    answers = []
    for item in returned:
        rollout = Rollout(item["case_id"], seed=0)
        objectives = {name: number(value) for name, value in item.get("objectives", {}).items()}
        rollout.record(score=number(item["score"]), objectives=objectives)
        answers.append(
            RolloutAnswer(ids.get(item["case_id"], item["case_id"]), Outcome("scored", rollout.evaluation(None)))
        )
    engine.tell(answers)
    return engine


@adapter(
    "evaluator-contract",
    *("too_few", "too_many", "duplicate_id", "nan", "negative", "above_one", "objective_nan", "order_is_free"),
)
def contract(case: Case) -> None:
    expect, returned = case["expect"], case["given"]["returned"]
    if "ordered_scores" in expect:
        (seed,) = told(case, returned).result().pool
        assert list(seed.scores.values()) == expect["ordered_scores"]
        return
    with pytest.raises((ValueError, EvaluationError)) as error:
        told(case, returned)
    if expect["message_mentions"] == "a":
        assert "'a'" in str(error.value) or str(error.value).startswith("a: ")
    else:
        assert mentions(str(error.value), expect["message_mentions"])


@adapter("evaluator-contract", "a_failing_item_is_a_score_not_an_exception")
def failing_item(case: Case) -> None:
    evaluation = Rollout(case["given"]["case"], seed=0).evaluation("E   AssertionError: no table found")
    assert evaluation.score == case["expect"]["score"]
    assert mentions(evaluation.feedback, case["expect"]["feedback_mentions"])
    failing = case["given"]["case"]
    result = search(lambda skill, request: evaluation if request.case_id == failing else 0.5, iterations=2)[0]
    assert result.stop_reason is StopReason.MAX_ITERATIONS
    assert result.pool[0].scores[failing] == 0.0
