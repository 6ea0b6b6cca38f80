"""A Python function as an agent."""

from __future__ import annotations

import pytest

from pytest_skillevo.agents.function import FunctionAgent
from pytest_skillevo.core.errors import EvaluationError
from pytest_skillevo.core.records import Usage
from pytest_skillevo.core.skill import Skill

SKILL = Skill.from_bytes("demo", b"---\nname: demo\ndescription: Shows.\n---\n# Demo\n", {})


def test_a_function_gets_prompt_skills_and_seed_and_answers_with_text():
    run = FunctionAgent(lambda prompt, *, skills, tools, seed: f"{prompt} {skills[0].name} {seed}").run(
        "Hello", skills=[SKILL, Skill.absent("other")], seed=3
    )
    assert (run.answer, run.skills_offered) == ("Hello demo 3", ("demo",))
    assert [message["content"] for message in run.messages] == ["Hello", "Hello demo 3"]
    assert run.usage.tokens is None


def test_a_mapping_may_tell_more():
    told = {"answer": "x", "usage": Usage(1, 2), "turns": 4, "skills_loaded": ["demo"]}
    run = FunctionAgent(lambda prompt, **_: told).run("Hello", skills=[SKILL])
    assert (run.usage.tokens, run.turns, run.skills_loaded) == (3, 4, ("demo",))


@pytest.mark.parametrize("answer", [None, 3, {"text": "x"}, {"answer": None}])
def test_another_answer_is_refused(answer):
    with pytest.raises(EvaluationError, match="must give text"):
        FunctionAgent(lambda prompt, **_: answer).run("Hello")


def test_a_wrong_usage_is_refused():
    with pytest.raises(EvaluationError, match="must be a Usage"):
        FunctionAgent(lambda prompt, **_: {"answer": "x", "usage": {"input_tokens": 1}}).run("Hello")
