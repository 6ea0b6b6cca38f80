"""The holdout over time: retired cases count as validation, and committed openings count on a fresh machine."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from typing import Any

import pytest

from pytest_skillevo.cli import main as skillevo
from pytest_skillevo.store import Store
from pytest_skillevo.store.committed import Retirement, add_retirements

Evolve = Callable[..., pytest.RunResult]


def _report(suite: pytest.Pytester) -> dict[str, Any]:
    report: dict[str, Any] = json.loads((suite.path / "report.json").read_text(encoding="utf-8"))
    return report


def test_a_fresh_runner_knows_the_committed_openings(
    evolve: Evolve, suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    evolve()
    monkeypatch.chdir(suite.path)
    assert skillevo(["exposure", "export"]) == 0
    shutil.rmtree(suite.path / ".skillevo")
    evolve("--evolve-seed=2")
    decision = _report(suite)["decision"]
    assert (decision["verdict"], decision["rule"]) == ("INCONCLUSIVE", "holdout-exposed")


def test_opened_cases_that_were_retired_count_as_validation(
    evolve: Evolve, suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    evolve()
    monkeypatch.chdir(suite.path)
    assert skillevo(["cases", "retire"]) == 0
    suite.runpytest("--collect-only").stdout.fnmatch_lines(
        ["*15 cases (3 feedback, 12 validation, 0 holdout, 8 retired from the holdout)*"]
    )
    file = suite.path / "test_suite.py"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('["holdout"] * 8', '["holdout"] * 16'), encoding="utf-8")
    result = evolve("--evolve-seed=2")
    result.stdout.fnmatch_lines(["*dataset * 12 validation, 8 holdout*"])
    assert _report(suite)["decision"]["verdict"] == "ACCEPT"


SEALED = """
import pytest

pytestmark = [pytest.mark.skill("demo"), pytest.mark.split("holdout")]

def test_sealed(skill):
    assert skill.text == ""
"""


def test_a_retired_critical_case_is_a_usage_error(project: pytest.Pytester) -> None:
    project.makepyfile(test_it=SEALED)
    project.runpytest("--skillevo-show-holdout")
    with Store.open(project.path / ".skillevo") as store:
        (opening,) = store.opening_records()
    retired = Retirement(opening.at, "demo", "test_it.py::test_sealed", opening.fingerprint, "nina", "")
    add_retirements(project.path / "skillevo-retired.jsonl", [retired])
    project.runpytest("--collect-only").stdout.fnmatch_lines(["*1 validation*1 retired from the holdout*"])
    marked = SEALED.replace('split("holdout")]', 'split("holdout"), pytest.mark.critical]')
    project.makepyfile(test_it=marked)
    result = project.runpytest("--collect-only")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*test_sealed is critical and retired from the holdout*"])


def test_a_broken_retirement_file_is_a_usage_error(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import pytest

        @pytest.mark.skill("demo")
        def test_it(skill):
            pass
        """
    )
    (project.path / "skillevo-retired.jsonl").write_text("<<<<<<< HEAD\n", encoding="utf-8")
    result = project.runpytest()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*skillevo-retired.jsonl:1: expected one JSON object*"])
