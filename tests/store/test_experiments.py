from __future__ import annotations

import pytest

from pytest_skillevo.core.errors import StoreError

EVERY_DATABASE = True


def test_an_experiment_is_found_by_id_and_the_newest_is_listed_first(store):
    assert store.experiments() == ()
    store.create_experiment("e1", "recipe-cookbook", "f1", {"seed": 3, "goal": "quality"})
    store.create_experiment("e0", "cat-facts", "f2", {})
    assert store.experiment("e1").settings == {"seed": 3, "goal": "quality"}
    assert store.experiment("e1").finished_at is None
    assert [one.id for one in store.experiments()] == ["e0", "e1"]


def test_an_id_is_used_once(store):
    store.create_experiment("e1", "s", "f1", {})
    with pytest.raises(StoreError, match="already is an experiment e1"):
        store.create_experiment("e1", "s", "f1", {})


def test_an_unknown_experiment_is_an_error(store):
    with pytest.raises(StoreError, match="no experiment 'nope'"):
        store.experiment("nope")


def test_a_repetition_gets_the_verdict_that_was_recorded_first(store):
    for id in ("e1", "e2", "e3"):
        store.create_experiment(id, "s", "same", {})
    assert store.find_finished("same") is None
    store.finish_experiment("e2", {"verdict": "REJECT"}, {"b": 1, "a": 2})
    store.finish_experiment("e3", {"verdict": "ACCEPT"}, {})
    found = store.find_finished("same")
    assert (found.id, found.verdict) == ("e2", {"verdict": "REJECT"})
    assert list(found.report) == ["b", "a"]
    assert found.finished_at > found.created_at
    assert store.find_finished("other") is None


def test_a_verdict_stays_as_it_is(store):
    store.create_experiment("e1", "s", "f", {})
    store.finish_experiment("e1", {"verdict": "REJECT"}, {})
    with pytest.raises(StoreError, match="already finished"):
        store.finish_experiment("e1", {"verdict": "ACCEPT"}, {})
    assert store.experiment("e1").verdict == {"verdict": "REJECT"}
    with pytest.raises(StoreError, match="no experiment 'e9'"):
        store.finish_experiment("e9", {}, {})


def test_an_experiment_is_run_by_one_process_at_a_time(store, project):
    with project.open() as other:
        with store.running("e1"):
            with pytest.raises(StoreError, match="e1 is being run by another process"), other.running("e1"):
                pass
            with other.running("e2"):
                pass
        with other.running("e1"):
            pass


def test_openings_count_experiments_and_know_the_first(store):
    assert store.openings(["c1", "c2"]).count == 0
    assert store.openings([]).first is None
    store.record_opening(["c1", "c2"], "e1", "s", "confirmation")
    store.record_opening(["c2", "c3"], "e2", "s", "gate")
    store.record_opening(["c2"], "e2", "s", "replay")
    found = store.openings(["c1", "c2"])
    assert [(one.experiment, one.cases) for one in found.openings] == [("e1", 2), ("e2", 1)]
    assert found.count == 2
    assert found.first == found.openings[0].at < found.openings[1].at
    assert store.openings(["c3"]).count == 1
    assert store.openings(["c1", "c2"], besides="e1").count == 1
    assert store.openings(["c9"]).count == 0


def test_a_resumed_experiment_does_not_open_twice(store):
    store.record_opening(["c1"], "e1", "s", "confirmation")
    first = store.openings(["c1"])
    store.record_opening(["c1"], "e1", "s", "confirmation")
    assert store.openings(["c1"]) == first


def test_many_cases_are_asked_in_pieces(store):
    cases = [f"c{n}" for n in range(1_200)]
    store.record_opening(cases, "e1", "s", "confirmation")
    assert store.openings(cases).openings[0].cases == 1_200
