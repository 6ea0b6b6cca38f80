"""The workspace fixture: a breach scores 0 with its paths, and the run goes on; the skill that was seen is attested."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from pytest_skillevo.store import Store

Evolve = Callable[..., pytest.RunResult]

BODY = """
import pytest

pytestmark = [pytest.mark.skill("demo"), pytest.mark.split("feedback")]


def test_inside(skill, rollout, workspace):
    workspace.write("in.md", "question")
    workspace.allow("out/*.md")
    (workspace.root / "out").mkdir()
    (workspace.root / "out/answer.md").write_text("42", encoding="utf-8")
    rollout.check("answered", not workspace.check("out/answer.md", "text", "42"))


def test_outside(skill, rollout, workspace):
    (workspace.root / "stray.txt").write_text("x", encoding="utf-8")
    rollout.record(score=1.0)


def test_after(skill, rollout, workspace):
    assert list(workspace.root.iterdir()) == []
"""


def test_a_breach_fails_a_plain_run_with_its_paths(project):
    project.makepyfile(BODY)
    result = project.runpytest()
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["*the agent changed what it must not change in its workspace: stray.txt (added)*"])


def test_a_breach_scores_0_in_an_experiment_and_the_run_goes_on(evolve: Evolve, suite: pytest.Pytester) -> None:
    with (suite.path / "conftest.py").open("a", encoding="utf-8") as file:
        file.write(
            "\n\n@pytest.fixture(autouse=True)\n"
            "def trespass(skill, workspace, request):\n"
            "    if 'tip' in skill.text:\n"
            "        (workspace.root / 'stray.txt').write_text('x', encoding='utf-8')\n"
        )
    text = (suite.path / "conftest.py").read_text(encoding="utf-8")
    (suite.path / "conftest.py").write_text("import pytest\n" + text, encoding="utf-8")
    assert evolve().ret == 0
    report = json.loads((suite.path / "report.json").read_text(encoding="utf-8"))
    assert report["decision"]["verdict"] == "NO_CHANGE"
    with Store.open(suite.path / ".skillevo") as store:
        told = " ".join(str(entry.payload) for entry in store.entries(report["experiment"]["id"]))
    assert "in its workspace: stray.txt (added)" in told


def test_an_agent_that_saw_another_version_is_a_usage_error_not_a_score(project):
    project.makepyfile(
        """
        import pytest

        @pytest.mark.skill("demo")
        @pytest.mark.split("feedback")
        def test_it(skill, rollout):
            rollout.attest(skill, text=skill.text)
            rollout.attest(skill, digest=skill.digest)
            rollout.attest(skill, text=skill.text + "more")
        """
    )
    result = project.runpytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*the agent saw another version of demo than the one on trial*"])
