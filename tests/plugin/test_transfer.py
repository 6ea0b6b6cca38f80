"""The transfer check: both versions on the holdout with a second model in the agent's place, shown only."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from pytest_skillevo.cli import main as skillevo

Evolve = Callable[..., pytest.RunResult]

DEAF = '''

class Deaf(Scripted):
    """A model that does not heed the skill."""

    def complete(self, messages, tools=(), **settings):
        return Reply("no", (), "stop", NO_USAGE)


def pytest_skillevo_chat_model(name, role, config):
    return Deaf(name) if name == "deaf" else Scripted(name) if name.startswith("scripted") else None
'''
ASK = (
    "    answer = agent.run('Q', skills=[skill], seed=rollout.seed).answer\n"
    "    rollout.record(score=0.9 if 'tip' in skill.text and answer != 'no' else 0.4, "
)


@pytest.fixture
def two_models(suite: pytest.Pytester) -> pytest.Pytester:
    """The suite with an agent that asks its model, and a second model that no skill helps."""
    suite.makeconftest((suite.path / "conftest.py").read_text() + DEAF)
    body = (suite.path / "test_suite.py").read_text().replace("(skill, rollout, n)", "(skill, rollout, agent, n)")
    start = body.index("    rollout.record(")
    suite.makepyfile(test_suite=body[:start] + ASK + body[body.index("feedback=") :])
    return suite


def _report(suite: pytest.Pytester) -> dict[str, Any]:
    report: dict[str, Any] = json.loads((suite.path / "report.json").read_text(encoding="utf-8"))
    return report


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_gain_that_a_second_model_does_not_share_is_told_and_decides_nothing(
    evolve: Evolve, two_models: pytest.Pytester, workers: str, capsys: pytest.CaptureFixture[str]
) -> None:
    result = evolve("--evolve-transfer=deaf", "-n", workers)
    report = _report(two_models)
    assert report["decision"]["verdict"] == "ACCEPT"
    note = (
        "transfer check with deaf, shown only: quality 0.40 -> 0.40 (+0.00), "
        "better on 0 of 8 holdout cases, same on 8, worse on 0"
    )
    assert report["decision"]["notes"] == [note]
    assert "transfer check with deaf, shown only" in " ".join(result.stdout.str().split())
    assert report["rollouts"]["confirmation"] == 2 * 12 * 3 + 2 * 8 * 3
    capsys.readouterr()
    assert skillevo(["rollouts", "list", "last", "--stage", "transfer", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 2 * 8 * 3


def test_the_same_model_shows_the_same_gain(evolve: Evolve, two_models: pytest.Pytester) -> None:
    evolve("--evolve-transfer=scripted-too", "--evolve-stages=search,confirm")
    (note,) = _report(two_models)["decision"]["notes"]
    assert "quality 0.40 -> 0.90 (+0.50), better on 8 of 8 holdout cases" in note


def test_the_plan_counts_the_transfer_check(evolve: Evolve, two_models: pytest.Pytester) -> None:
    evolve("--evolve-plan", "--evolve-transfer=deaf").stdout.fnmatch_lines(["*48 transfer check*"])


def test_cases_with_an_agent_of_their_own_cannot_be_transferred(evolve: Evolve, suite: pytest.Pytester) -> None:
    result = evolve("--evolve-transfer=scripted")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --evolve-transfer=scripted: no case uses the fixture 'agent'*"])


def test_a_transfer_check_belongs_to_a_search(evolve: Evolve, two_models: pytest.Pytester) -> None:
    result = two_models.runpytest("--evolve-aa", "--evolve-model=scripted", "--evolve-transfer=deaf")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --evolve-transfer belongs to a search (--evolve)*"])
