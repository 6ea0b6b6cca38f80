"""Which worker runs which rollout, without any process."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pytest_skillevo.core.errors import ConfigError, InfrastructureError
from pytest_skillevo.core.records import Evaluation, Outcome, RolloutRequest
from pytest_skillevo.core.skill import Skill
from pytest_skillevo.execution import messages
from pytest_skillevo.execution.cleaning import CleanOutcome
from pytest_skillevo.execution.scheduling import MOST_SKILLS, RolloutScheduling, Task, compare_cases

SKILL = Skill.absent("demo")


class Wire:
    """The end of a channel that a test looks at."""

    def __init__(self, name: str) -> None:
        self.gateway = SimpleNamespace(id=name)
        self.sent: list[dict[str, Any]] = []
        self.broken = False

    def send(self, data: bytes) -> None:
        if self.broken:
            raise OSError("gone")
        self.sent.append(messages.decode(data))

    @property
    def rollouts(self) -> list[str]:
        return [one["request"]["id"] for one in self.sent if one["kind"] == messages.RUN]


class Stage:
    """A scheduling with workers that say hello."""

    def __init__(self, workers: int, capacity: int = 1) -> None:
        self.retries: list[tuple[str, int, str]] = []
        self.scheduling = RolloutScheduling(
            lambda node: node,
            lambda worker, hello: None,
            capacity,
        )
        self.scheduling.begin(
            "ex-1", lambda request, attempt, reason: self.retries.append((request.id, attempt, reason))
        )
        self.nodes = [self.join(f"gw{number}") for number in range(workers)]

    def join(self, name: str) -> Wire:
        node = Wire(name)
        self.scheduling.add_node(node)
        self.say(node, messages.HELLO, cases=[])
        return node

    def say(self, node: Wire, kind: str, **fields: Any) -> None:
        self.scheduling.remove_pending_tests_from_node(node, messages.encode(kind, **fields))

    def answer(self, node: Wire, id: str, score: float = 1.0) -> None:
        outcome = CleanOutcome(Outcome("scored", Evaluation(score, trace={"by": id})))
        self.say(node, messages.OUTCOME, id=id, **messages.outcome_to_json(outcome))

    def add(self, *names: str, place: str = "m.py", skill: Skill = SKILL) -> None:
        requests = [RolloutRequest(name, f"{place}::{name}", skill.digest, 1, 0, "search") for name in names]
        self.scheduling.add([Task(index, request, skill, place) for index, request in enumerate(requests)])

    def taken(self) -> dict[int, Outcome]:
        return dict(iter(self.scheduling.take, None))


def test_a_worker_gets_its_next_rollout_when_it_has_answered() -> None:
    stage = Stage(2)
    stage.add("a", "b", "c", "d", "e")
    first, second = stage.nodes
    for id in ("a", "c", "d"):  # the second one is slow with b
        stage.answer(first, id)
    assert (first.rollouts, second.rollouts) == (["a", "c", "d", "e"], ["b"])
    assert sorted(stage.taken()) == [0, 2, 3]


def test_an_outcome_comes_back_whole() -> None:
    stage = Stage(1)
    stage.add("a")
    stage.answer(stage.nodes[0], "a", 0.25)
    outcome = stage.taken()[0]
    assert outcome == Outcome("scored", Evaluation(0.25, trace={"by": "a"}))


def test_workers_keep_to_their_modules_and_help_out_at_the_end() -> None:
    stage = Stage(2)
    first, second = stage.nodes
    stage.add("warm-a", place="a.py")
    stage.add("warm-b", place="b.py")
    stage.add("a1", "a2", "a3", "a4", place="a.py")
    stage.add("b1", place="b.py")
    stage.answer(first, "warm-a")
    stage.answer(second, "warm-b")
    assert (first.rollouts[1:], second.rollouts[1:]) == (["a1"], ["b1"])
    stage.answer(second, "b1")  # nothing of its own module is left
    stage.answer(first, "a1")
    assert (first.rollouts[1:], second.rollouts[1:]) == (["a1", "a3"], ["b1", "a2"])


def test_nothing_is_sent_before_the_worker_has_said_hello() -> None:
    stage = Stage(0)
    node = Wire("gw0")
    stage.scheduling.add_node(node)
    stage.add("a")
    assert node.sent == []
    stage.say(node, messages.HELLO, cases=[])
    assert node.rollouts == ["a"]


def test_a_dead_workers_rollout_runs_once_more_on_another_and_is_then_named_as_errored() -> None:
    stage = Stage(2)
    first, second = stage.nodes
    stage.add("poison", "good")
    assert stage.scheduling.remove_node(first) is None
    stage.answer(second, "good")
    assert second.rollouts == ["good", "poison"]
    assert stage.retries == [("poison", 2, "worker gw0 died")]
    stage.scheduling.remove_node(second)
    outcomes = stage.taken()
    assert outcomes[1].status == "scored"
    assert (outcomes[0].status, outcomes[0].reason) == ("errored", "the worker process died while it ran, 2 times")
    assert stage.scheduling.unanswered == 0


def test_what_killed_a_worker_runs_alone_so_that_no_neighbour_is_blamed() -> None:
    stage = Stage(1, capacity=3)
    (node,) = stage.nodes
    stage.add("poison", "x", "y", "z")
    assert node.rollouts == ["poison", "x", "y"]
    stage.scheduling.remove_node(node)
    fresh = stage.join("gw1")
    assert fresh.rollouts == ["poison"]
    stage.scheduling.remove_node(fresh)
    last = stage.join("gw2")
    for id in ("x", "y", "z"):
        stage.answer(last, id)
    statuses = {index: outcome.status for index, outcome in stage.taken().items()}
    assert statuses == {0: "errored", 1: "scored", 2: "scored", 3: "scored"}


def test_a_worker_that_leaves_between_two_rollouts_loses_none() -> None:
    stage = Stage(2)
    stage.add("a", "b")
    stage.nodes[0].broken = True
    stage.answer(stage.nodes[0], "a")
    stage.add("c")
    stage.scheduling.remove_node(stage.nodes[0])
    stage.answer(stage.nodes[1], "b")
    assert stage.nodes[1].rollouts == ["b", "c"]


@pytest.mark.parametrize("id", ["b", "never-asked"])
def test_an_answer_that_nobody_waits_for_is_a_fault(id: str) -> None:
    stage = Stage(2)
    stage.add("a", "b")
    with pytest.raises(InfrastructureError, match="does not have"):
        stage.answer(stage.nodes[0], id)


def test_an_answer_is_taken_once() -> None:
    stage = Stage(1)
    stage.add("a")
    stage.answer(stage.nodes[0], "a")
    with pytest.raises(InfrastructureError, match="does not have"):
        stage.answer(stage.nodes[0], "a")


def test_a_skill_travels_once_to_each_worker_and_workers_keep_a_bounded_number() -> None:
    stage = Stage(1)
    (node,) = stage.nodes
    for number in range(MOST_SKILLS + 1):
        grown = SKILL.with_component("steps", f"1. Step {number}.")
        for name in ("first", "second"):
            stage.add(f"{name}{number}", skill=grown)
            stage.answer(node, f"{name}{number}")
    skills = [one for one in node.sent if one["kind"] == messages.SKILL]
    assert len({one["digest"] for one in skills}) == len(skills) == MOST_SKILLS + 1
    assert [one["alone"] for one in skills] == [False] * MOST_SKILLS + [True]


def test_a_worker_with_other_cases_is_refused_with_the_difference() -> None:
    compare_cases("gw0", ["a", "b"], ["b", "a"])
    with pytest.raises(ConfigError, match=r"gw1 has collected other.*it lacks a; it alone has c, d, e and 1 more"):
        compare_cases("gw1", ["a", "b"], ["b", "c", "d", "e", "f"])
