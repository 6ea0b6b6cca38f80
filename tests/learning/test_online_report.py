"""The report of the online experiment: runaways apart, ratios by pair, and whose figures they are."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "online_skillcraft.py"


@pytest.fixture
def benchmark():
    found = importlib.util.spec_from_file_location("online_skillcraft", BENCHMARK)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def task(number, group, case, tokens, score=0.5):
    good = float(group == "evolution")
    run = {"score": score, "tokens": tokens, "reviewer_tokens": 10 * good, "passed": bool(good), "loaded": bool(good)}
    run |= {"updated": False, "objectives": {"passed70": good, "passed90": 0.0, "official": good}}
    return {"round": number, "group": group, "case": case, "family": "weather", "level": "e1", "run": run}


def figures(*tasks, kind="simulated"):
    return {"model": {"name": "some-model", "kind": kind}, "rounds": 1, "groups": [], "tasks": list(tasks)}


def test_a_runaway_run_decides_the_total_and_not_the_ratio(benchmark):
    pairs = [(100, 50), (100, 50), (100, 50), (9_000, 50)]
    tasks = [
        task(1, group, f"c{n}", tokens)
        for n, pair in enumerate(pairs)
        for group, tokens in zip(("baseline", "evolution"), pair, strict=True)
    ]
    text = benchmark.report(figures(*tasks), "COMMAND", "BEHIND")
    assert "| tokens a task, end to end | 2,325 → 50 (-97.8 %) |" in text
    assert "| tokens a task without runaway pairs | 100 → 50 (-50.0 %) |" in text
    assert "median of family and level | 1 → 0 |" in text
    assert "| passed, official score of 70 | 0.00% → 100.00% | 84.44 % → 87.78 % |" in text
    assert "Families that were run: weather (not there: economy, recipe, cats, creatures)." in text


def test_a_task_that_one_group_did_not_run_is_left_out_in_both_and_told(benchmark):
    tasks = [task(1, "baseline", "a", 100), task(1, "evolution", "a", 100)]
    tasks += [task(1, "baseline", "b", 900), task(1, "evolution", "b", None, score=None)]
    text = benchmark.report(figures(*tasks), "COMMAND", "BEHIND")
    assert "| tokens a task, end to end | 100 → 100 (+0.0 %) |" in text
    assert "1 pairs did not run" in text


@pytest.mark.parametrize(("kind", "told"), [("simulated", True), ("live", False)])
def test_the_first_line_says_which_model_made_the_figures(benchmark, kind, told):
    tasks = [task(1, "baseline", "a", 100), task(1, "evolution", "a", 90)]
    first = benchmark.report(figures(*tasks, kind=kind), "COMMAND", "BEHIND").split("\n\n")[1]
    assert "some-model" in first
    assert ("no result of a language model" in first) is told


def test_unknown_tokens_are_refused_and_never_zero(benchmark):
    tasks = [task(1, "baseline", "a", 100), task(1, "evolution", "a", None)]
    with pytest.raises(SystemExit, match="no token figures"):
        benchmark.report(figures(*tasks), "COMMAND", "BEHIND")
