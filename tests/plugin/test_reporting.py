"""Where a finished report goes: Markdown beside JSON, and what GitHub Actions is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_skillevo.cli import main

from .gate_project import GateProject


def test_a_markdown_report_is_written_beside_the_json(suite: pytest.Pytester, evolve) -> None:
    result = evolve("--evolve-report=out/report.md")
    assert result.ret == 0
    text = (suite.path / "out" / "report.md").read_text(encoding="utf-8")
    assert text.startswith("**demo: no ground for a merge: the model is simulated** (ACCEPT")
    assert (suite.path / "report.json").exists()
    result.stdout.fnmatch_lines(["  report: report.json", "  report: out/report.md"])


def test_an_html_report_shows_the_search_and_the_validation_runs_and_nothing_of_the_holdout(
    suite: pytest.Pytester, evolve
) -> None:
    result = evolve("--evolve-report=page.html")
    assert result.ret == 0
    text = (suite.path / "page.html").read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert '<span class="added">+3. Use the tip.\n</span>' in text
    assert text.count("Before, repeat 1: 0.40") == 4
    assert text.count("The conversations of holdout cases are closed.") == 8


def test_on_github_actions_the_summary_and_annotations_appear(
    suite: pytest.Pytester, evolve, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    result = evolve()
    assert result.ret == 0
    result.stdout.fnmatch_lines(["::notice title=skill demo%3A ACCEPT*(simulated model)::*"])
    assert summary.read_text(encoding="utf-8").startswith("**demo: ")


def test_a_summary_that_cannot_be_written_takes_no_verdict_back(evolve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "/nowhere/at/all.md")
    result = evolve()
    assert result.ret == 0
    result.stdout.fnmatch_lines(["skillevo: the step summary could not be written: No such file or directory"])


def test_a_gate_on_github_actions_shows_its_answer_once(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = GateProject(pytester)
    project.skill("demo", " Be careless.")
    summary = pytester.path / "summary.md"
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    result = project.gate("--evolve-repeats=1")
    assert result.ret == 1
    lines = [line for line in result.stdout.lines if line.startswith("::")]
    assert 1 <= len(lines) <= 10
    assert lines[0].startswith("::error title=skill gate%3A demo ")
    assert summary.read_text(encoding="utf-8").count("## skill gate: FAIL") == 1
    (report,) = (pytester.path / ".skillevo" / "reports").glob("*.json")
    assert main(["report", str(report), "-o", "page.html"]) == 0
    assert "REJECT" in (pytester.path / "page.html").read_text(encoding="utf-8")


def test_elsewhere_nothing_of_github_is_printed(evolve) -> None:
    assert "::notice" not in evolve().stdout.str()
