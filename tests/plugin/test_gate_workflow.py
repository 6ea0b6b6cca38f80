"""The workflow in docs/merge-gate.md, its `run:` steps run in a real shell as a runner would run them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from .gate_project import GateProject

DOCUMENT = Path(__file__).parents[2] / "docs" / "merge-gate.md"
#: What the runner puts in the place of its expressions.
CONTEXT = {"github.base_ref": "main", "github.token": "token", "github.event.pull_request.number": "7"}


def blocks() -> list[str]:
    return re.findall(r"```yaml\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)


def value(text: str) -> str:
    return re.sub(r"\$\{\{\s*([\w.]+)\s*\}\}", lambda match: CONTEXT.get(match[1], ""), text)


@pytest.fixture
def runner(pytester: pytest.Pytester, tmp_path: Path) -> tuple[GateProject, dict[str, str]]:
    """A checkout with its origin, and stand-ins for what a test must not do: install, and post to GitHub."""
    project = GateProject(pytester)
    project.git("clone", "-q", "--bare", ".", str(tmp_path / "origin.git"))
    project.git("remote", "add", "origin", str(tmp_path / "origin.git"))
    project.git("fetch", "-q", "origin")
    project.git("branch", "-q", "-D", "main")
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("pip", "gh"):
        (tools / name).write_text(f'#!/bin/sh\necho "{name} $*" >> "{tmp_path}/called"\n', encoding="utf-8")
        (tools / name).chmod(0o755)
    path = os.pathsep.join([str(tools), str(Path(sys.executable).parent), os.environ["PATH"]])
    return project, {**os.environ, "PATH": path, "PYTEST_ADDOPTS": "--evolve-repeats=1"}


def run(project: GateProject, step: dict[str, Any], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    assert "${{" not in step["run"], "an expression in a command is an injection"
    own = {name: value(text) for name, text in step.get("env", {}).items()}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=project.path,
        env={**environment, **own},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_workflow_judges_comments_and_leaves_evidence_that_verifies(
    runner: tuple[GateProject, dict[str, str]], tmp_path: Path
) -> None:
    project, environment = runner
    workflow = yaml.safe_load(blocks()[0])
    steps = workflow["jobs"]["gate"]["steps"]
    assert steps[0]["with"]["fetch-depth"] == 0
    project.skill("demo", " Be kind.")
    project.commit("kind")
    done = [run(project, step, environment) for step in steps if "run" in step]
    assert [one.returncode for one in done] == [0, 0, 0], "".join(one.stdout + one.stderr for one in done)
    assert "skill gate: PASS" in done[1].stdout
    called = (tmp_path / "called").read_text(encoding="utf-8").splitlines()
    assert called == ["pip install pytest-skillevo[litellm,sign]", "gh pr comment 7 --body-file skillevo-report.md"]
    (check,) = yaml.safe_load(blocks()[1])
    verified = run(project, check, environment)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    project.skill("demo", " Be kind, later.")
    assert run(project, check, environment).returncode == 1


def test_a_branch_name_with_a_command_in_it_runs_nothing(runner: tuple[GateProject, dict[str, str]]) -> None:
    project, environment = runner
    judge = next(
        step for step in yaml.safe_load(blocks()[0])["jobs"]["gate"]["steps"] if "BASE_REF" in step.get("env", {})
    )
    hostile = {**judge, "env": {"BASE_REF": "main; touch pwned; $(touch pwned)"}}
    assert run(project, hostile, environment).returncode == 4
    assert not (project.path / "pwned").exists()
