"""The index of skills within its budget, and looking into skills by either name."""

from __future__ import annotations

import json

from pytest_skillevo.agents.disclosure import SkillLoad, index_section
from pytest_skillevo.agents.loop import LoopAgent
from pytest_skillevo.core.protocols import Reply, ToolCall
from pytest_skillevo.core.records import NO_USAGE
from pytest_skillevo.core.skill import Skill, SkillSpec


def skills(count):
    return [
        Skill.create(SkillSpec(f"skill-{n:03d}", f"Does thing {n}. " + "word " * 20, "When.", ("The body.",), ()))
        for n in range(count)
    ]


def test_two_hundred_skills_fit_into_the_budget_and_the_rest_is_counted():
    many = skills(200)
    text = index_section(many)
    assert len(text) <= 12_100
    assert text == index_section(many)
    listed = text.count("\n- ")
    assert f"{200 - listed} more skills are not listed" in text.splitlines()[-1]
    assert "The body." not in text
    assert "more skills" not in index_section(skills(5))


def test_looks_and_uses_are_counted_apart():
    skill = Skill.from_bytes("a", skills(1)[0].document, {"references/x.md": b"x"})
    loader = SkillLoad([skill])
    loader({"name": skill.name, "path": "references/x.md"})
    loader({"name": skill.name})
    loader({"name": skill.name})
    assert (loader.loaded, loader.viewed) == ([skill.name], [skill.name] * 3)


def test_a_wrong_name_is_answered_with_the_nearest_and_no_path_leads_outside():
    loader = SkillLoad(skills(200))
    answer = json.loads(loader({"name": "skil-007"}))
    assert "Did you mean 'skill-" in answer["error"]
    assert len(answer["error"]) < 200
    for path in ("../skill-001/SKILL.md", "/etc/passwd", "references/../../x"):
        assert json.loads(loader({"name": "skill-000", "path": path}))["success"] is False


def test_the_name_of_other_agents_reaches_the_same_tool():
    class Model:
        name = kind = "scripted"
        priced = False

        def complete(self, messages, tools=(), **settings):
            self.tools = [tool["function"]["name"] for tool in tools]
            if len(messages) > 2:
                return Reply("done", (), "stop", NO_USAGE)
            return Reply("", (ToolCall("1", "skill_view", '{"name": "skill-000"}'),), "tool_calls", NO_USAGE)

    model = Model()
    run = LoopAgent(model).run("task", skills=skills(1))
    assert (model.tools, run.skills_loaded, run.skills_viewed) == (["skill_load"], ("skill-000",), ("skill-000",))
