"""Adapters for conformance cases of merges, proposals side by side, caps on cost, cache, identity and records."""

from __future__ import annotations

import json
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pytest_skillevo import wiring
from pytest_skillevo.core.errors import ConfigError
from pytest_skillevo.core.gates.redaction import redactor
from pytest_skillevo.core.gepa import (
    Brief,
    Engine,
    ReflectionAnswer,
    SearchDataset,
    SearchSettings,
    StopReason,
    Strategy,
)
from pytest_skillevo.core.gepa.acceptance import strictly_better
from pytest_skillevo.core.gepa.merge import Merger
from pytest_skillevo.core.gepa.methods import best_gains
from pytest_skillevo.core.gepa.pool import Pool
from pytest_skillevo.core.records import Case as SkillCase
from pytest_skillevo.core.records import Evaluation, Outcome, RolloutRequest, Usage
from pytest_skillevo.core.skill import Skill
from pytest_skillevo.stages.cache import SearchCache
from pytest_skillevo.stages.dataset import Dataset
from pytest_skillevo.stages.experiment import Setting
from pytest_skillevo.stages.recorder import Recorder
from pytest_skillevo.stages.search import Proposer, Search, TimeLimit
from pytest_skillevo.stages.settings import Settings
from pytest_skillevo.store import Store

from .case_register import Case, adapter, mentions
from .driver import cases, search, seed_skill

# Merge.

VALIDATION = tuple(f"v-{n}" for n in range(5))


def merge_pool(means: dict[str, float], changed: dict[str, str]) -> Pool:
    """The first name is the seed; the others are its children."""
    pool, seed = Pool(VALIDATION), seed_skill(pitfalls=["Never guess."])
    for place, (name, mean) in enumerate(means.items()):
        skill = seed
        if place:
            old = seed.components[changed[name]]
            line = "- Never stop." if changed[name] == "pitfalls" else "3. Look again."
            skill = seed.with_component(changed[name], f"{old}\n{line}")
        # Each child is best on cases of its own, so that both survive the pruning.
        row = [mean] * 5
        if place:
            row[place] += 0.2
            row[0] -= 0.2
        pool.add(skill, dict(zip(VALIDATION, row, strict=True)), iteration=place, parent=0 if place else None)
    return pool


@adapter("merge", "ancestor_better_than_a_descendant_is_skipped", "zero_score_ancestor_does_not_crash")
def merge(case: Case) -> None:
    means = case["given"]["means"]
    names = list(means)[1:]
    changed = case["given"].get("components_changed", dict(zip(names, ("steps", "pitfalls"), strict=True)))
    pool = merge_pool(means, changed)
    found = Merger(5).find(pool, seed=1, iteration=3, known=lambda digest: False)
    assert (found is not None) is case["expect"]["proposed"]


@adapter("merge", "same_pair_is_not_tried_twice")
def merge_twice(case: Case) -> None:
    pool, merger = merge_pool({"seed": 0.2, "c1": 0.5, "c2": 0.5}, {"c1": "steps", "c2": "pitfalls"}), Merger(5)
    first, second = (merger.find(pool, seed=1, iteration=i, known=lambda digest: False) for i in (3, 4))
    assert first is not None
    assert (second is not None) is case["expect"]["proposed"]


# Proposals, frontier, cost.


@adapter("proposals")
def best_of_round(case: Case) -> None:
    gains = case["given"]["improvements"]
    passed = [gain for gain in gains if strictly_better([0.5], [0.5 + gain])]
    kept = [passed[place] for place in best_gains(passed, 2)]
    assert kept == case["expect"]["accepted"]

    def score(skill: Skill, request: RolloutRequest) -> float:
        born = next((n for n in range(4) if f"Check number {n + 1}." in skill.text), None)
        return 0.1 if born is None else 0.1 + max(gains[born], -0.1)

    events = search(score, iterations=4, width=4, keep=2, dataset=cases(12, 2))[0].events[1:]
    verdicts = {gains[event.iteration - 1]: event.verdict for event in events}
    assert "not selected" in verdicts[0.2]
    assert "no improvement" in verdicts[-0.1]


@adapter("frontier")
def frontier(case: Case) -> None:
    calls: list[str] = []
    with pytest.raises(ConfigError) as error:
        search(lambda skill, request: calls.append(request.id) or 0.5, frontier="hybrid", cost="calls")
    assert mentions(str(error.value), case["expect"]["message_mentions"])
    assert len(calls) <= case["expect"]["evaluator_calls_at_most"]


@adapter("cost")
def reflection_cost(case: Case) -> None:
    from decimal import Decimal

    price = Decimal(str(case["given"]["cost_per_reflection_usd"]))
    result, log = search(
        reflect=lambda request: ReflectionAnswer(request.id, "no json", "stop", Usage(1, 1, 0, 0, price)),
        iterations=9,
        max_reflection_usd=Decimal(str(case["given"]["cap_usd"])),
    )
    assert log.reflections == case["expect"]["reflection_calls"]
    assert result.stop_reason == case["expect"]["stop_reason"]


# Cache, identity, records.


class Runs:
    """An executor that takes its outcomes from a list, or scores 0.5."""

    def __init__(self, outcomes: Sequence[Outcome] = ()) -> None:
        self._outcomes = list(outcomes)
        self.retried, self.at_once = 0, 1
        self.count = 0

    def run(self, work: Sequence[tuple[RolloutRequest, Skill]]) -> Iterator[tuple[int, Outcome]]:
        for index, (request, _) in enumerate(work):
            self.count += 1
            told = Outcome(
                "scored",
                Evaluation(0.5, trace={"seen": request.case_id}, feedback="OPENAI_API_KEY=sk-live-abcdefgh1234"),
            )
            yield index, self._outcomes.pop(0) if self._outcomes else told


def recorders(folder: Path, runs: Runs, count: int = 2) -> Iterator[Recorder]:
    """Recorders of several experiments in one store, with one cache."""
    with Store.open(folder) as store:
        for number in range(count):
            store.create_experiment(f"ex-{number}", "demo", "f", {})
            cache = SearchCache(store.answers, {"evaluator": "e"}, {"x0": "content x", "y0": "content y"})
            yield Recorder(store, f"ex-{number}", runs, lambda text: text, 99, cache)


def request(case_id: str, name: str = "search/it001/child/0") -> RolloutRequest:
    return RolloutRequest(name, case_id, seed_skill().digest, 7, 0, "feedback-child")


@adapter("cache", "splits_never_share_by_position")
def by_position(case: Case) -> None:
    runs = Runs()
    with tempfile.TemporaryDirectory() as folder:
        for recorder in recorders(Path(folder), runs, 1):
            recorder.run([(request("x0"), seed_skill())])
            before = runs.count
            recorder.run([(request("y0", "search/it001/validation/0"), seed_skill())])
            assert runs.count - before == case["expect"]["validation_rollouts"]


@adapter("cache", "infrastructure_failures_are_not_cached")
def no_failures(case: Case) -> None:
    runs = Runs([Outcome("errored", None, "timeout"), Outcome("scored", Evaluation(1.0))])
    told = []
    with tempfile.TemporaryDirectory() as folder:
        for recorder in recorders(Path(folder), runs):
            told += recorder.run([(request("x0"), seed_skill())])
    assert told[1].evaluation is not None
    assert told[1].evaluation.score == case["expect"]["second_score"]
    assert runs.count == case["expect"]["rollouts"]


def setting(skill: Skill, content: str) -> Setting:
    dataset = Dataset("demo", (SkillCase("t.py::f", "demo", "feedback", content=content),))
    return Setting(
        dataset, skill, "demo", Settings(), {}, lambda: "evaluator", {}, "pytest", redactor(()),
        lambda: datetime.now(UTC), time.monotonic, "me",
    )  # fmt: skip


@adapter("resume", "changed_dataset_is_refused", "changed_seed_skill_is_refused")
def changed(case: Case) -> None:
    old, new = setting(seed_skill(), "1"), setting(seed_skill(), "2")
    if "first_seed_hash" in case["given"]:
        new = setting(seed_skill(["Other."]), "1")
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder)) as store:
        about = {**old.settings.to_json(), "identity": old.identity}
        store.create_experiment("ex-1", "demo", old.fingerprint, about)
        assert wiring.resumable(store, "last", old) == "ex-1"
        with pytest.raises(ConfigError) as error:
            wiring.resumable(store, "ex-1", new)
    assert mentions(str(error.value), "dataset version" if "2" in str(case["given"]) else "seed")


class Silent:
    def __getattr__(self, name: str) -> Any:
        return lambda *arguments, **named: None


def stored_search(folder: Path, accepted: int, feedback: int, validation: int) -> list[Any]:
    """Run a search that accepts every proposal and return its journal."""
    engine = Engine(
        seed_skill(),
        SearchDataset(tuple(f"f-{n}" for n in range(feedback)), tuple(f"v-{n}" for n in range(validation))),
        SearchSettings(iterations=accepted, max_rollouts=None, minibatch=1),
        strategy=Strategy(accept=lambda parent, child: True),
    )
    count = iter(range(10**6))
    markers = {"steps": "1. ", "pitfalls": "- "}

    def propose(brief: Brief, seed: int) -> str:
        return f"{markers.get(brief.component, '')}New text {next(count)}. " + "word " * 550

    author = Proposer("test", propose)
    with Store.open(folder) as store:
        store.create_experiment("ex-1", "demo", "f", {})
        recorder = Recorder(store, "ex-1", Runs(), redactor(()), 10**9)
        limit = TimeLimit(None, time.monotonic)
        progress: Any = Silent()
        Search(engine, author, recorder, progress, limit).run(accepted, 0)
        return list(store.entries("ex-1"))


@adapter("timeouts", "time_limit_covers_a_blocked_model")
def blocked(case: Case) -> None:
    never = threading.Event()
    author = Proposer("test", lambda brief, seed: str(never.wait()))
    settings = SearchSettings(iterations=9, minibatch=1)
    progress: Any = Silent()
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder)) as store:
        store.create_experiment("ex-1", "demo", "f", {})
        results = []
        for seconds in (case["given"]["time_limit_s"], None):
            # The second run resumes the first: it ends at the same place, and asks the model nothing.
            engine = Engine(seed_skill(), SearchDataset(("f-1",), ("v-1", "v-2")), settings)
            recorder = Recorder(store, "ex-1", Runs(), redactor(()), 99)
            limit = TimeLimit(seconds, time.monotonic)
            results.append(Search(engine, author, recorder, progress, limit).run(9, 0))
    assert results[0].stop_reason is StopReason.TIME_LIMIT
    assert results[0].winner == results[0].seed
    assert results[1] == results[0]


@adapter("persistence", "write_volume_is_linear")
def volume(case: Case) -> None:
    given = case["given"]
    few, many = 4, 12
    sizes = []
    for accepted in (few, many):
        with tempfile.TemporaryDirectory() as folder:
            entries = stored_search(Path(folder), accepted, 3, 40)
            records = [entry for entry in entries if entry.kind == "search-event"]
            assert len(records) == accepted + 1
            sizes.append(sum(len(json.dumps(entry.payload)) for entry in entries if entry.kind != "rollout"))
    each = (sizes[1] - sizes[0]) / (many - few)
    # A score of a case takes five bytes at the most.
    per_candidate = each + 5 * (given["validation"] - 40)
    assert per_candidate * given["accepted"] < case["expect"]["bytes_written_below"]
    assert each < 2 * given["candidate_bytes"] + 1500


@adapter("persistence", "secrets_are_redacted_on_disk_too")
def secrets(case: Case) -> None:
    with tempfile.TemporaryDirectory() as folder:
        stored_search(Path(folder), 1, 2, 2)
        for file in Path(folder).rglob("*"):
            if file.is_file():
                assert case["expect"]["absent"].encode() not in file.read_bytes()


@adapter("persistence", "dataset_is_stored_once")
def stored_once(case: Case) -> None:
    with tempfile.TemporaryDirectory() as folder:
        entries = stored_search(Path(folder), case["given"]["iterations"], 3, 4)
    naming = [entry.kind for entry in entries if entry.kind != "rollout" and "v-3" in json.dumps(entry.payload)]
    # The list of cases and the seed's row by case; a rollout names the one case that it ran.
    assert naming == ["search-begin", "search-event"]
