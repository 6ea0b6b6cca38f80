"""Answers of the search: recorded small, served again under the very same conditions only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_skillevo.core.protocols import Reply
from pytest_skillevo.core.records import Evaluation, Outcome, RolloutRequest, Usage
from pytest_skillevo.core.skill import Skill
from pytest_skillevo.stages.cache import SearchCache
from pytest_skillevo.stages.packing import packed, unpacked
from pytest_skillevo.stages.recorder import Recorder
from pytest_skillevo.store import Store

SKILL = Skill.from_bytes("demo", b"---\nname: demo\ndescription: d\n---\n# Demo\n")
REQUEST = RolloutRequest("search/it001/child/0", "t.py::a", SKILL.digest, 7, 0, "feedback-child")

usages = st.builds(
    Usage, *[st.none() | st.integers(0, 10**6)] * 4, st.none() | st.decimals(0, 99, places=4), st.booleans()
)
evaluations = st.builds(
    Evaluation,
    st.floats(0, 1),
    st.none() | st.booleans(),
    st.text(max_size=9),
    st.dictionaries(st.text(max_size=5), st.floats(-9, 9), max_size=2),
    st.none(),
    st.dictionaries(st.sampled_from(["agent", "judge"]), usages, max_size=2),
)


scored = st.builds(lambda one: Outcome("scored", one), evaluations)
others = st.builds(lambda s, r: Outcome(s, None, r), st.sampled_from(["skipped", "errored"]), st.text(max_size=9))


@given(scored | others)
def test_an_outcome_survives_packing(outcome: Outcome) -> None:
    assert unpacked(packed(outcome)) == outcome


def test_a_plain_outcome_is_small() -> None:
    usage = Usage(1200, 300, 0, 0, Decimal("0.0123"))
    assert len(str(packed(Outcome("scored", Evaluation(1.0, True, "", usage={"agent": usage}))))) < 100


class Runs:
    def __init__(self) -> None:
        self.retried, self.at_once = 0, 1
        self.asked: list[str] = []

    def run(self, work: Sequence[tuple[RolloutRequest, Skill]]) -> Iterator[tuple[int, Outcome]]:
        for index, (request, _) in enumerate(work):
            self.asked.append(request.id)
            usage = {"agent": Usage(10, 5, 0, 0, Decimal("0.5"))}
            yield index, Outcome("scored", Evaluation(0.5, False, "it failed", trace={"calls": [1, 2]}, usage=usage))


def told(store: Store, runs: Runs, id: str, request: RolloutRequest, **facts: Any) -> tuple[Outcome, Recorder]:
    store.create_experiment(id, "demo", "f", {})
    cache = SearchCache(store.answers, facts or {"evaluator": "e"}, {"t.py::a": "content", "t.py::b": "content"})
    recorder = Recorder(store, id, runs, lambda text: text, 99, cache)
    return recorder.run([(request, SKILL)])[0], recorder


def test_an_answer_is_served_again_with_feedback_and_trace_and_is_nobodys_expense(tmp_path: Path) -> None:
    runs = Runs()
    with Store.open(tmp_path) as store:
        first, _ = told(store, runs, "ex-1", REQUEST)
        second, recorder = told(store, runs, "ex-2", REQUEST._replace(id="search/it009/child/3"))
        assert second == first
        assert second.evaluation is not None
        assert (second.evaluation.feedback, second.evaluation.trace) == ("it failed", {"calls": [1, 2]})
        assert (recorder.cached, recorder.used, recorder.usage) == (1, 1, {})
        resumed = Recorder(store, "ex-2", runs, lambda text: text, 99)
        assert resumed.run([(REQUEST._replace(id="search/it009/child/3"), SKILL)]) == [first]
        assert (resumed.cached, resumed.usage) == (1, {})
    assert len(runs.asked) == 1


@pytest.mark.parametrize(
    "change",
    [{"variant": "other"}, {"seed": 8}, {"repeat": 1}, {"case_id": "t.py::b"}, {"case_id": "t.py::unknown"}],
    ids=str,
)
def test_whatever_decides_a_rollout_is_in_its_key(tmp_path: Path, change: dict[str, Any]) -> None:
    runs = Runs()
    with Store.open(tmp_path) as store:
        told(store, runs, "ex-1", REQUEST)
        told(store, runs, "ex-2", REQUEST._replace(**change))
    assert len(runs.asked) == 2


def test_another_evaluator_agent_or_skill_beside_it_is_asked_anew(tmp_path: Path) -> None:
    runs = Runs()
    with Store.open(tmp_path) as store:
        told(store, runs, "ex-1", REQUEST)
        told(store, runs, "ex-2", REQUEST, evaluator="other")
        told(store, runs, "ex-3", REQUEST, evaluator="e", conditions={"agent": ["LoopAgent", {"max_turns": 3}]})
    assert len(runs.asked) == 3


@pytest.mark.parametrize("stage", ["confirm", "rerun", "replay"])
def test_confirmation_reruns_and_replay_are_never_served(tmp_path: Path, stage: str) -> None:
    runs = Runs()
    with Store.open(tmp_path) as store:
        told(store, runs, "ex-1", REQUEST)
        told(store, runs, "ex-2", REQUEST._replace(id=f"{stage}/0"))
        told(store, runs, "ex-3", REQUEST._replace(id=f"{stage}/0"))
    assert len(runs.asked) == 3


class Model:
    name, kind, priced = "live", "live", True

    def __init__(self, finish: str = "stop") -> None:
        self.calls = 0
        self.finish = finish

    def complete(self, messages: Any, tools: Any = (), **settings: Any) -> Reply:
        self.calls += 1
        return Reply(f"answer {self.calls}", (), self.finish, Usage(1, 1, 0, 0, Decimal("0.1")))


def chat(store: Store, model: Model, id: str, key: str = "search/it001/reflection", seed: int = 1) -> Reply:
    store.create_experiment(id, "demo", "f", {})
    recorder = Recorder(store, id, Runs(), lambda text: text, 9, SearchCache(store.answers, {}, {}))
    question = recorder.question(key, "reflection", model, [{"role": "user", "content": "why"}], seed=seed)
    return recorder.answer(question)


def test_a_reflection_is_served_again_for_the_same_messages_and_seed_only(tmp_path: Path) -> None:
    model = Model()
    with Store.open(tmp_path) as store:
        texts = [
            chat(store, model, "ex-1").text,
            chat(store, model, "ex-2").text,
            chat(store, model, "ex-3", seed=2).text,
        ]
        assert texts == ["answer 1", "answer 1", "answer 2"]
        assert chat(store, model, "ex-4", key="replay/review/1").text == "answer 3"


def test_a_truncated_answer_is_not_kept(tmp_path: Path) -> None:
    model = Model("length")
    with Store.open(tmp_path) as store:
        assert chat(store, model, "ex-1").text != chat(store, model, "ex-2").text
