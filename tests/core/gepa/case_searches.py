"""Adapters for conformance cases that are whole searches: budget, loop, time, resume, minibatches, stops, events."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_skillevo.core.errors import ConfigError
from pytest_skillevo.core.gepa import (
    Engine,
    ReflectionAnswer,
    SearchResult,
    SearchSettings,
    StopReason,
    Strategy,
)
from pytest_skillevo.core.skill import Skill

from .case_register import Case, adapter, mentions
from .driver import RandomWorld, always_better, answer_text, by_length, cases, current_text, drive, search, seed_skill

# Budget and loop.


@adapter("budget", "no_holdout_no_reserve", "batch_is_capped_by_feedback_size")
def budget(case: Case) -> None:
    given, expect = case["given"], case["expect"]
    result, log = search(
        dataset=cases(given["feedback"], given["validation"]),
        minibatch=given["batch"],
        iterations=given["max_iterations"],
        max_rollouts=given["max_metric_calls"],
    )
    assert result.stop_reason == expect["stop_reason"]
    assert len(result.pool) == expect["candidate_count"]
    assert result.rollouts == log.rollouts == expect["metric_calls"]


@adapter("budget", "cap_below_seed_validation_plus_holdout_reserve")
def cap_below_reserve(case: Case) -> None:
    given = case["given"]
    left = given["max_metric_calls"] - 2 * given["holdout"]
    with pytest.raises(ConfigError) as error:
        search(dataset=cases(given["feedback"], given["validation"]), max_rollouts=left)
    assert mentions(str(error.value), case["expect"]["message_mentions"])


@adapter("budget", "cap_is_never_exceeded")
def caps(case: Case) -> None:
    given = case["given"]
    for cap in given["caps"]:
        result, log = search(
            dataset=cases(given["feedback"], given["validation"]),
            minibatch=given["batch"],
            iterations=100,
            max_rollouts=cap,
        )
        assert result.rollouts == log.rollouts <= cap


@adapter("budget", "rejected_reflection_costs_only_the_parent_batch")
def rejected_reflection(case: Case) -> None:
    given, expect = case["given"], case["expect"]
    result = search(
        reflect=lambda request: "{unusable",
        dataset=cases(given["feedback"], given["validation"]),
        minibatch=given["batch"],
        iterations=given["max_iterations"],
    )[0]
    assert result.rollouts == expect["metric_calls"] - given["holdout"]
    assert len(result.pool) == expect["candidate_count"]
    assert result.stop_reason == expect["stop_reason"]
    assert counted(result) == expect["events"]


@adapter("loop", "known_content_is_never_evaluated_again")
def known_content(case: Case) -> None:
    given, expect = case["given"], case["expect"]
    strategy = Strategy(select_component=lambda skill, cursor, evidence: "steps")
    result = search(
        reflect=lambda request: answer_text(request.component, current_text(request)),
        dataset=cases(given["feedback"], given["validation"]),
        minibatch=given["batch"],
        iterations=given["max_iterations"],
        engine={"strategy": strategy},
    )[0]
    assert result.rollouts == expect["metric_calls"]
    assert len(result.pool) == expect["candidate_count"]
    assert counted(result) == expect["events"]


def counted(result: SearchResult) -> dict[str, int]:
    kinds = [event.kind.value for event in result.events if event.iteration]
    return {kind: kinds.count(kind) for kind in kinds}


# Time, resume, minibatches.


@adapter("timeouts", "deadline_is_checked_before_each_iteration")
def deadline(case: Case) -> None:
    given, now = case["given"], [0.0]

    def evaluate(skill: Skill, request: Any) -> float:
        now[0] += given["evaluator_sleeps_s"]
        return by_length(skill, request)

    def before(engine: Engine, log: Any) -> None:
        if now[0] >= given["time_limit_s"]:
            engine.stop(StopReason.TIME_LIMIT)

    engine = Engine(seed_skill(), cases(1, 1), SearchSettings(iterations=given["max_iterations"], minibatch=1))
    drive(engine, evaluate, always_better, before_batch=before)
    result = engine.result()
    assert now[0] <= case["expect"]["stops_within_s"]
    assert result.stop_reason is StopReason.TIME_LIMIT
    assert result.winner == result.seed


@adapter("resume", "resumed_run_equals_uninterrupted_run")
def resumed(case: Case) -> None:
    given, world = case["given"], RandomWorld(9)
    run = {"seed": given["seed"], "dataset": cases(7, 5)}
    straight, log = search(world.evaluate, world.reflect, iterations=given["iterations"], **run)
    first = search(world.evaluate, world.reflect, iterations=given["stop_after"], **run)[1]
    again, second = search(world.evaluate, world.reflect, iterations=given["iterations"], recorded=first.answers, **run)
    assert again == straight
    assert second.batches == log.batches
    assert first.rollouts + second.rollouts == log.rollouts
    assert len(straight.pool) > 1


@adapter("resume", "finished_run_returns_its_result")
def finished(case: Case) -> None:
    result, log = search(iterations=4)
    again, second = search(iterations=4, recorded=log.answers)
    assert second.rollouts == case["expect"]["evaluator_calls"]
    assert again == result


@adapter("minibatch")
def minibatch(case: Case) -> None:
    given, expect = case["given"], case["expect"]
    iterations = given.get("iterations", 2)
    batches = search(
        lambda skill, request: 0.5,
        dataset=cases(given["feedback"], 2),
        minibatch=given["batch"],
        iterations=iterations,
    )[1].minibatches()
    slots = [case_id for batch in batches for case_id in batch]
    assert len(batches) == iterations
    assert all(len(batch) == len(set(batch)) == given["batch"] for batch in batches)
    if "each_exactly_once" in expect:
        assert sorted(slots) == sorted(cases(given["feedback"], 2).feedback)
    if "total_slots" in expect:
        assert len(slots) == expect["total_slots"]
        assert {slots.count(case_id) for case_id in cases(given["feedback"], 2).feedback} <= {1, 2}


# Stops, events, results.


def stopped(reason: StopReason) -> SearchResult:
    """A search that is stopped from outside in iteration 4."""
    engine = Engine(seed_skill(), cases(6, 4), SearchSettings(iterations=9))

    def before(engine: Engine, log: Any) -> None:
        if engine.ask()[0].id.startswith("search/it004/child"):
            engine.stop(reason)

    drive(engine, by_length, always_better, before_batch=before)
    return engine.result()


@adapter("stop", "reasons_are_named")
def named(case: Case) -> None:
    runs = [
        search(iterations=1)[0],
        search(max_rollouts=10)[0],
        search(lambda skill, request: 0.9 if "Check number" in skill.text else 0.5, threshold=0.9)[0],
        search(lambda skill, request: 0.5, patience=2)[0],
        stopped(StopReason.TIME_LIMIT),
        stopped(StopReason.STOP_REQUESTED),
        stopped(StopReason.INTERRUPTED),
    ]
    assert [result.stop_reason for result in runs] == case["expect"]["values"]


@adapter("stop", "interrupt_returns_the_best_so_far")
def interrupted(case: Case) -> None:
    result = stopped(StopReason.INTERRUPTED)
    assert result.stop_reason == case["expect"]["stop_reason"]
    assert [entry.iteration for entry in result.pool] == [0, 1, 2, 3]
    assert result.winner == result.pool[3].digest
    assert result.stop_reason is not None
    assert result.stop_reason.resumable


@adapter("events", "budget_ledger_adds_up")
def ledger(case: Case) -> None:
    result, log = search(iterations=7, dataset=cases(6, 4))
    used = [event.rollouts for event in result.events]
    assert used == sorted(used)
    assert used[-1] == result.rollouts == log.rollouts


@adapter("events", "iterations_are_numbered_from_one")
def numbered(case: Case) -> None:
    result = search(iterations=case["given"]["max_iterations"])[0]
    seed, *others = [event.iteration for event in result.events]
    assert seed == case["expect"]["seed_validation_is_iteration"]
    assert others == case["expect"]["numbers"]


@adapter("result")
def round_trip(case: Case) -> None:
    def reflect(request: Any) -> ReflectionAnswer | str:
        return "broken" if request.id == "search/it002/reflection" else always_better(request)

    result = search(reflect=reflect, iterations=4)[0]
    assert (SearchResult.from_json(json.loads(json.dumps(result.to_json()))) == result) is case["expect"]["equal"]
