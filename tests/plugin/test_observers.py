"""What plugins are told of an experiment, and that none of them can harm it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_skillevo.cli import main as skillevo
from pytest_skillevo.store import Store

Evolve = Callable[..., pytest.RunResult]

RECORDS = """

import json

def pytest_skillevo_event(event, config):
    with open("events.jsonl", "a", encoding="utf-8") as file:
        file.write(json.dumps([event.kind, event.experiment, event.replayed, event.data]) + "\\n")
"""

BREAKS = """
import pytest

def pytest_skillevo_event(event):
    event.data["verdict"] = "REJECT"
    event.data.clear()
    raise {error}
"""


def add(suite: pytest.Pytester, text: str) -> None:
    file = suite.path / "conftest.py"
    file.write_text(file.read_text() + text)


def told(folder: Path) -> list[list[Any]]:
    file = folder / "events.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines()
    file.unlink()
    return [json.loads(line) for line in lines]


def test_an_observer_is_told_the_whole_experiment_in_order(evolve: Evolve, suite: pytest.Pytester) -> None:
    add(suite, RECORDS)
    evolve()
    events = told(suite.path)
    kinds = [kind for kind, *_ in events]
    assert kinds[:3] == ["search_begun", "seed_validated", "candidate_accepted"]
    assert kinds[-4:] == ["search_ended", "confirmation_begun", "replay_begun", "decided"]
    assert {(experiment[:3], replayed) for _, experiment, replayed, _ in events} == {("ex-", False)}
    accepted = events[2][3]
    assert accepted["changed"]["steps"].endswith("Use the tip.")
    assert accepted["entry"]["mean"] == pytest.approx(0.9)
    assert events[-1][3]["verdict"] == "ACCEPT"
    assert "c14" not in json.dumps(events)


@pytest.mark.parametrize("error", ["ZeroDivisionError('no')", "SystemExit(3)", "pytest.fail.Exception('no')"])
def test_an_observer_that_raises_harms_neither_the_run_nor_another_observer(
    evolve: Evolve, suite: pytest.Pytester, error: str
) -> None:
    add(suite, RECORDS)
    (suite.path / "broken_observer.py").write_text(BREAKS.format(error=error))
    suite.syspathinsert()
    result = evolve("-p", "broken_observer")
    assert result.ret == 0
    assert [kind for kind, *_ in told(suite.path)][-1] == "decided"
    text = result.stdout.str()
    assert text.count("the observer broken_observer failed at 'search_begun'") == 1
    assert "the experiment went on" in text
    report = json.loads((suite.path / "report.json").read_text(encoding="utf-8"))
    assert report["decision"]["verdict"] == "ACCEPT"


STOPS = """
    import os, pathlib
    if n == 2 and not os.path.exists("go"):
        os.system("{python} -m pytest_skillevo.cli experiments stop last")
    rollout.record"""


def test_a_stop_request_ends_the_search_and_belongs_to_the_run_that_heard_it(
    suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    import sys

    add(suite, RECORDS)
    file = suite.path / "test_suite.py"
    file.write_text(file.read_text().replace("    rollout.record", STOPS.format(python=sys.executable)))
    options = ("--evolve", "--evolve-model=scripted", "--evolve-iterations=3", "--evolve-report=report.json")
    stopped = suite.runpytest_subprocess(*options)
    assert stopped.ret == 1
    assert "stopped as asked; nothing is lost: go on with --evolve-resume=ex-" in stopped.stdout.str()
    before = told(suite.path)
    assert before[-1][0] == "search_ended"
    assert before[-1][3]["stop_reason"] == "stop_requested"

    (suite.path / "go").touch()
    with Store.open(suite.path / ".skillevo") as store:
        (experiment,) = store.experiments("demo")
    # A request that nobody heard is none for the next run.
    monkeypatch.chdir(suite.path)
    assert skillevo(["experiments", "stop", "last"]) == 0
    assert "to stop" in capfd.readouterr().out
    resumed = suite.runpytest_subprocess(*options, f"--evolve-resume={experiment.id}")
    assert resumed.ret == 0
    after = told(suite.path)
    assert after[0][:3] == ["search_begun", experiment.id, True]
    assert after[-1][0] == "decided"
    assert skillevo(["experiments", "stop", "last"]) == 4
    assert "is finished" in capfd.readouterr().err
