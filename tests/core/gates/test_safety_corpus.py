"""The labelled corpus: how many dangerous snippets the gate refuses, and how many harmless ones it lets pass."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[3]
CORPUS = ROOT / "tests" / "data" / "safety_corpus"


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    """The script that measures and reports."""
    spec = importlib.util.spec_from_file_location("safety_corpus", ROOT / "benchmarks" / "safety_corpus.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up by name
    spec.loader.exec_module(module)
    return module


#: The goal is 0.97 each, met on texts that the rules were made from; reports/safety-corpus.md has the unseen figures.
FLOORS = {"own": (0.97, 0.97), "blind": (0.97, 0.97), "second": (0.97, 0.97), "sealed": (0.96, 0.96)}


@pytest.mark.parametrize("half", FLOORS)
def test_precision_and_recall_stay_above_their_floors(half, benchmark, capsys):
    score = benchmark.Score.of(benchmark.read(half))
    with capsys.disabled():
        print(f"\nsafety corpus, {half} half: precision {score.precision:.3f}, recall {score.recall:.3f}")
    precision, recall = FLOORS[half]
    assert score.precision >= precision
    assert score.recall >= recall


@pytest.mark.parametrize("half", FLOORS)
def test_the_corpus_is_large_varied_and_well_formed(half):
    entries = [json.loads(line) for line in (CORPUS / f"{half}.jsonl").read_text("utf-8").splitlines()]
    assert {frozenset(entry) for entry in entries} == {frozenset({"id", "label", "kind", "lang", "text"})}
    assert len({entry["id"] for entry in entries}) == len(entries)
    assert len({entry["text"] for entry in entries}) == len(entries)
    labels = [entry["label"] for entry in entries]
    assert set(labels) == {"dangerous", "harmless"}
    assert labels.count("dangerous") >= 80
    assert labels.count("harmless") >= (90 if half in ("second", "sealed") else 160)
    assert len({entry["lang"] for entry in entries}) >= 8


def test_the_report_in_the_repository_is_the_one_that_the_script_writes(benchmark, tmp_path):
    committed = ROOT / "reports" / "safety-corpus.md"
    halves = {half: benchmark.read(half) for half in benchmark.HALVES}
    assert benchmark.report(halves, benchmark.notes_of(committed)) == committed.read_text("utf-8")
    assert re.search(r"`python benchmarks/safety_corpus\.py`", committed.read_text("utf-8"))
