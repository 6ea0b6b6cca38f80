"""Whatever the tools answer and whatever the skill says, the simulated agent goes on or ends; it never breaks."""

from __future__ import annotations

import json
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_skillevo.agents import LoopAgent
from pytest_skillevo.core.skill import Skill
from pytest_skillevo.families.registry import load_behaviour, load_family, tasks
from pytest_skillevo.families.scenario import Scenario
from pytest_skillevo.models import resolve_model

from .conftest import DESCRIPTION, ROOT

SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.floats(allow_nan=False)
COMMON = ("success", "code", "content", "id", "name", "summary", "plan", "total_x", "retry_after_calls")
CODES = st.sampled_from(["TIMEOUT", "RATE_LIMITED", "NO_DATA", "NOT_FOUND", "ODD", None])


def keys_in(value):
    """All keys of a JSON value."""
    if isinstance(value, dict):
        return {*value, *(key for inner in value.values() for key in keys_in(inner))}
    return {key for inner in value for key in keys_in(inner)} if isinstance(value, list) else set()


@cache
def answers_of(family):
    """Strategy for odd answers in which the family's own keys occur."""
    scenario = Scenario(family, "h1", "feedback", 0, "lean")
    keys = set(COMMON)
    for call in family.route(scenario):
        keys |= keys_in(json.loads(scenario.open().call(*call)))
    named = st.sampled_from(sorted(keys))
    json_values = st.recursive(
        SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(named, inner, max_size=6), max_leaves=20
    )
    return st.one_of(
        st.text(max_size=20),
        json_values.map(json.dumps),
        st.dictionaries(named, json_values, max_size=8).map(lambda data: json.dumps({**data, "success": True})),
        CODES.map(lambda code: json.dumps({"success": False, "code": code, "retry_after_calls": 2})),
    )


class Odd:
    """A tool that answers with the next of the prepared texts."""

    def __init__(self, tool, answers):
        self.name, self.description, self.parameters, self.final = (
            tool.name,
            tool.description,
            tool.parameters,
            tool.final,
        )
        self._answers = answers

    def __call__(self, arguments):
        self._answers.append(self._answers.pop(0))
        return self._answers[-1]


@pytest.mark.parametrize("file", sorted((ROOT / "suites").glob("*/family.py")), ids=lambda file: file.parent.name)
@settings(max_examples=100, deadline=None)
@given(st.data())
def test_odd_answers_never_break_the_agent(file, data):
    family = load_family(file)
    model = resolve_model("simulated", behaviours=[load_behaviour(family)])
    task = data.draw(st.sampled_from(tasks(family, split="feedback")))
    answers = data.draw(st.lists(answers_of(family), min_size=1, max_size=6))
    run = LoopAgent(model, max_turns=30).run(
        task.prompt, tools=[Odd(tool, answers) for tool in task.tools], seed=data.draw(st.integers(0, 50))
    )
    assert run.stop_reason in ("answered", "finished", "turn_limit")


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=500), st.integers(0, 9))
def test_odd_skills_never_break_the_cook(kitchen, text, seed):
    body = "".join(char for char in text if not "\ud800" <= char <= "\udfff" and char != "\0")
    document = f"---\nname: odd\ndescription: '{DESCRIPTION}'\n---\n{body}\n"
    task = next(iter(kitchen.tasks.values()))
    run = kitchen.agent.run(
        task.prompt, tools=task.tools, skills=[Skill.from_bytes("odd", document.encode())], seed=seed
    )
    assert run.turns >= 1


def test_truncated_replies_never_break_the_cook(kitchen, good_skill):
    class Short:
        """The simulated model with a small limit on its replies."""

        name, kind, priced = "short", "simulated", True

        def __init__(self, limit):
            self._model = resolve_model("simulated", behaviours=[kitchen.behaviour])
            self._limit = limit

        def complete(self, messages, tools=(), **settings):
            return self._model.complete(messages, tools, **{**settings, "max_tokens": self._limit})

    task = next(iter(kitchen.tasks.values()))
    for limit in (1, 5, 20, 60, 200):
        run = LoopAgent(Short(limit), max_turns=12).run(task.prompt, tools=task.tools, skills=[good_skill], seed=1)
        assert run.turns >= 1
