"""A small project with one skill, for tests that run pytest in it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

SKILL = """\
---
name: {name}
description: Answers questions about the demo.
---
# Demo

## When to use

For every demo question.

## Steps

1. Read the question.
2. Answer it.

## Pitfalls

- Do not guess.
"""


@pytest.fixture
def write_skill(pytester: pytest.Pytester) -> Callable[..., Path]:
    """Write skills/NAME/SKILL.md with the given text and return the folder."""

    def write(name: str = "demo", text: str | bytes | None = None) -> Path:
        folder = pytester.path / "skills" / name
        folder.mkdir(parents=True, exist_ok=True)
        content = SKILL.format(name=name) if text is None else text
        raw = content if isinstance(content, bytes) else content.encode()
        (folder / "SKILL.md").write_bytes(raw)
        return folder

    return write


@pytest.fixture
def project(pytester: pytest.Pytester, write_skill: Callable[..., Path]) -> pytest.Pytester:
    """A project folder with the skill `demo` and strict markers."""
    write_skill()
    pytester.makeini("[pytest]\naddopts = --strict-markers\n")
    return pytester


MODELS = '''
import json
from pytest_skillevo.core.protocols import Reply
from pytest_skillevo.core.records import NO_USAGE


class Scripted:
    """A stand-in for a reflection model: each call adds the next line of LINES to the component, then repeats itself."""

    kind = "simulated"
    priced = True
    LINES = ["Use the tip.", "Be kind."]

    def __init__(self, name):
        self.name = name
        self.calls = 0

    def complete(self, messages, tools=(), **settings):
        if "<component>" not in messages[-1]["content"]:
            return Reply(json.dumps({"action": "skip", "reason": "nothing new"}), (), "stop", NO_USAGE)
        text = messages[-1]["content"]
        component = text.split("<component>")[1].split("</component>")[0].strip()
        skill = json.loads(text.split("<skill>")[1].split("</skill>")[0])
        old = skill["components"][component].rstrip()
        line = self.LINES[min(self.calls, len(self.LINES) - 1)]
        self.calls += 1
        answer = {"component": component, "text": f"{old}\\n3. {line}", "rationale": "it helps"}
        return Reply(json.dumps(answer), (), "stop", NO_USAGE)


def pytest_skillevo_chat_model(name, role, config):
    return Scripted(name) if name.startswith("scripted") else None
'''

SUITE = """
import pytest

pytestmark = pytest.mark.skill("demo")
SPLITS = ["feedback"] * 3 + ["validation"] * 4 + ["holdout"] * 8

@pytest.mark.parametrize(
    "n", [pytest.param(n, marks=pytest.mark.split(split), id=f"c{n}") for n, split in enumerate(SPLITS)]
)
def test_it(skill, rollout, n):
    rollout.record(score=0.9 if "tip" in skill.text else 0.4, feedback="the tip was not used")
"""


@pytest.fixture
def suite(project: pytest.Pytester) -> pytest.Pytester:
    """A project with 15 cases that a skill wins by saying "tip", and a scripted reflection model."""
    project.makeconftest(MODELS)
    project.makepyfile(test_suite=SUITE)
    return project


@pytest.fixture
def evolve(suite: pytest.Pytester) -> Callable[..., pytest.RunResult]:
    """Run `pytest --evolve` on the scripted model in the suite's project."""

    def run(*arguments: str) -> pytest.RunResult:
        return suite.runpytest(
            "--evolve", "--evolve-model=scripted", "--evolve-iterations=3", "--evolve-report=report.json", *arguments
        )

    return run
