"""A project under git with skills whose cases read them, for tests of the merge gate."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

#: Scores fall with the word "slow" and rise with "tip"; the critical case is lost by "careless". Noise by the seed.
SUITE = """
import random
import pytest

pytestmark = pytest.mark.skill("demo")


@pytest.mark.parametrize("n", range({cases}))
@pytest.mark.split("holdout")
def test_it(skill, rollout, n):
    noise = random.Random(f"{{n}}/{{rollout.seed}}").uniform(-0.05, 0.05)
    rollout.usage("agent", input_tokens=100, output_tokens=10)
    base = 0.5 + 0.2 * ("tip" in skill.text) - 0.3 * ("slow" in skill.text)
    rollout.record(score=base + noise if skill.exists else 0.1, feedback="")


@pytest.mark.critical
@pytest.mark.split("holdout")
def test_critical(skill, rollout):
    rollout.check("careful", "careless" not in skill.text)
"""

TEXT = """\
---
name: {name}
description: Answers questions about the demo.
---
# Demo

## When to use

For every demo question.

## Steps

1. Read the question.
2. Answer it.{more}

## Pitfalls

- Do not guess.
"""


class GateProject:
    """A git repository with one commit on `main`, and the branch `change` checked out."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        self.path = pytester.path
        self.skill("demo")
        self.suite()
        pytester.makeini("[pytest]\naddopts = --strict-markers\n")
        (self.path / ".gitignore").write_text(
            ".skillevo/\n__pycache__/\n.pytest_cache/\nskillevo-*\n", encoding="utf-8"
        )
        self.git("init", "-q", "-b", "main")
        self.commit("begin")
        self.git("checkout", "-q", "-b", "change")

    def suite(self, cases: int = 30, old: str = "", new: str = "") -> None:
        """Write the tests, with one text replaced."""
        text = SUITE.format(cases=cases)
        assert old in text
        (self.path / "test_suite.py").write_text(text.replace(old, new) if old else text, encoding="utf-8")

    def skill(self, name: str, more: str = "") -> Path:
        """Write a skill with something more in its second step."""
        folder = self.path / "skills" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "SKILL.md").write_text(TEXT.format(name=name, more=more), encoding="utf-8")
        return folder

    def git(self, *arguments: str) -> str:
        """Run git in the project."""
        identity = {
            "GIT_AUTHOR_NAME": "a",
            "GIT_AUTHOR_EMAIL": "a@b",
            "GIT_COMMITTER_NAME": "a",
            "GIT_COMMITTER_EMAIL": "a@b",
        }
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.path,
            env={**os.environ, **identity},
            capture_output=True,
            check=True,
            text=True,
        )
        return done.stdout.strip()

    def commit(self, message: str) -> None:
        """Commit everything."""
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)

    def gate(self, *arguments: str, baseline: str = "main") -> pytest.RunResult:
        """Run the gate."""
        return self.pytester.runpytest(
            "-p", "no:randomly", "--evolve-gate", f"--evolve-baseline={baseline}", *arguments
        )
