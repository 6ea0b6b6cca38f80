"""Whatever the tools answer and whatever the skill says, the simulated cook goes on or ends; it never breaks."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_skillevo.agents import LoopAgent
from pytest_skillevo.core.skill import Skill
from pytest_skillevo.models import resolve_model

from .conftest import DESCRIPTION

SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.floats(allow_nan=False)
KEYS = st.sampled_from(
    (
        *("success", "code", "meals", "meal", "analysis", "content", "dishes", "retry_after_calls"),
        *("id", "name", "category", "area", "ingredients", "ingredient_count", "total_time_minutes"),
        *("total_matches", "total_in_category"),
    )
)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=6), max_leaves=20
)
CODES = st.sampled_from(["TIMEOUT", "RATE_LIMITED", "NO_DATA", "NOT_FOUND", "ODD", None])
ANSWERS = st.one_of(
    st.text(max_size=20),
    JSON.map(json.dumps),
    st.dictionaries(KEYS, JSON, max_size=8).map(lambda data: json.dumps({**data, "success": True})),
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


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_odd_answers_never_break_the_cook(kitchen, data):
    task = kitchen.tasks[data.draw(st.sampled_from(sorted(kitchen.tasks)))]
    answers = data.draw(st.lists(ANSWERS, min_size=1, max_size=6))
    run = LoopAgent(kitchen.agent.model, max_turns=30).run(
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
