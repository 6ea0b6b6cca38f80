from __future__ import annotations

import json

import pytest

from pytest_skillevo.agents import LoopAgent
from pytest_skillevo.core.errors import ConfigError, InfrastructureError
from pytest_skillevo.core.protocols import Agent, Reply, ToolCall
from pytest_skillevo.core.records import Usage
from pytest_skillevo.core.skill import Skill

SKILL = Skill.from_bytes(
    "cooking",
    b"---\nname: cooking\ndescription: How\n  to cook.\n---\nStir.\n",
    {"notes/a.md": b"Salt.", "x.bin": b"\xff"},
)
USAGE = Usage(10, 5, 0, 0, None)


class Scripted:
    """A model that gives prepared replies and keeps what it was sent."""

    name, kind, priced = "scripted", "live", False

    def __init__(self, *replies):
        self.replies = list(replies)
        self.seen = []

    def complete(self, messages, tools=(), *, seed, temperature=None, max_tokens=None, response_schema=None):
        self.seen.append((json.loads(json.dumps(messages)), list(tools), seed, temperature))
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(reply, Exception):
            raise reply
        return reply


class Note:
    description = "Take a note."

    def __init__(self, name="note", final=False, answer='{"success": true}'):
        self.parameters = {"type": "object", "properties": {"text": {"type": "string"}}}
        self.name, self.final, self.answer, self.notes = name, final, answer, []

    def __call__(self, arguments):
        self.notes.append(arguments)
        return self.answer


def text(words, finish="stop", usage=USAGE):
    return Reply(words, (), finish, usage)


def calls(*pairs, finish="tool_calls", usage=USAGE, words=""):
    made = tuple(ToolCall(f"c{n}", name, arguments) for n, (name, arguments) in enumerate(pairs))
    return Reply(words, made, finish, usage)


def run(*replies, tools=(), skills=(), **settings):
    model = Scripted(*replies)
    return LoopAgent(model, **settings).run("Do it.", tools=tools, skills=skills, seed=7), model


def answers(result):
    return [json.loads(message["content"]) for message in result.messages if message["role"] == "tool"]


def test_it_is_an_agent():
    agent: Agent = LoopAgent(Scripted(text("x")))
    assert agent.run("p").stop_reason == "answered"


def test_a_text_reply_is_the_answer():
    result, model = run(text("Done."))
    assert (result.answer, result.stop_reason, result.turns) == ("Done.", "answered", 1)
    assert [message["role"] for message in result.messages] == ["system", "user", "assistant"]
    messages, tools, seed, _ = model.seen[0]
    assert messages[1]["content"] == "Do it."
    assert (tools, seed) == ([], 7)


def test_tool_calls_are_answered_in_order_and_usage_adds_up():
    note = Note()
    result, model = run(calls(("note", '{"text": "a"}'), ("note", "")), text("ok"), tools=[note])
    assert note.notes == [{"text": "a"}, {}]
    assert result.usage == USAGE + USAGE
    assert [m["tool_call_id"] for m in model.seen[1][0] if m["role"] == "tool"] == ["c0", "c1"]
    assert model.seen[0][1][0]["function"]["name"] == "note"


def test_the_tools_object_of_the_run_is_handed_back():
    tools = [Note()]
    assert run(text("x"), tools=tools)[0].tools is tools


@pytest.mark.parametrize("broken", ['{"text": ', "[1]", "NaN", '{"a": NaN}', "[" * 100_000])
def test_malformed_arguments_become_an_error_for_the_model(broken):
    note = Note()
    result, _ = run(calls(("note", broken)), text("ok"), tools=[note])
    assert note.notes == []
    (answer,) = answers(result)
    assert (answer["success"], answer["code"]) == (False, "BAD_ARGUMENTS")


def test_an_unknown_tool_becomes_an_error_that_lists_the_tools():
    result, _ = run(calls(("nope", "{}")), text("ok"), tools=[Note()])
    (answer,) = answers(result)
    assert answer["code"] == "UNAVAILABLE"
    assert "note" in answer["error"]


def test_a_final_tool_ends_the_run_and_later_calls_of_the_turn_are_refused():
    done, note = Note("claim_done", final=True), Note()
    result, _ = run(calls(("claim_done", "{}"), ("note", "{}"), words="bye"), tools=[note, done])
    assert (result.stop_reason, result.turns, result.answer) == ("finished", 1, "bye")
    assert note.notes == []
    assert answers(result)[1]["code"] == "UNAVAILABLE"


def test_a_final_tool_that_fails_does_not_end_the_run():
    done = Note("claim_done", final=True, answer='{"success": false, "error": "no"}')
    assert run(calls(("claim_done", "{}")), text("ok"), tools=[done])[0].stop_reason == "answered"


def test_the_turn_limit_holds():
    result, _ = run(calls(("note", "{}")), tools=[Note()], max_turns=3)
    assert (result.stop_reason, result.turns) == ("turn_limit", 3)


def test_the_token_limit_holds_before_a_call_is_made():
    result, _ = run(calls(("note", "{}")), tools=[Note(answer="x" * 400)], max_tokens=1000)
    assert result.stop_reason == "token_limit"
    assert result.usage.tokens <= 1000


def test_unknown_usage_stays_unknown_and_the_limit_holds_by_estimate():
    result, _ = run(calls(("note", "{}"), usage=Usage()), tools=[Note(answer="x" * 400)], max_tokens=2000)
    assert result.stop_reason == "token_limit"
    assert result.usage.tokens is None


def test_an_empty_reply_is_no_answer():
    assert run(text("  "))[0].stop_reason == "empty_reply"
    assert run(text("", "content_filter"))[0].stop_reason == "empty_reply"


def test_a_reply_that_was_cut_off_gets_one_more_chance():
    result, model = run(text("half an", "length"), text("whole answer"))
    assert (result.answer, result.stop_reason, result.turns) == ("whole answer", "answered", 2)
    assert "cut off" in model.seen[1][0][-1]["content"]
    assert run(text("again and", "length"))[0].turns == 2


def test_a_tool_call_that_was_cut_off_is_an_error_for_the_model():
    result, _ = run(calls(("note", '{"text": "ha'), finish="length"), text("ok"), tools=[Note()])
    assert answers(result)[0]["code"] == "BAD_ARGUMENTS"


def test_skills_are_listed_by_name_and_description_and_loaded_on_demand():
    result, model = run(calls(("skill_load", '{"name": "cooking"}')), text("ok"), skills=[SKILL])
    system = model.seen[0][0][0]["content"]
    assert "## Skills\nLoad a skill with skill_load before you start" in system
    assert system.endswith("- cooking: How to cook.")
    assert answers(result)[0] == {"success": True, "name": "cooking", "content": SKILL.text}
    assert (result.skills_offered, result.skills_loaded) == (("cooking",), ("cooking",))


def test_a_skill_that_does_not_exist_yet_is_not_offered():
    result, model = run(text("ok"), skills=[Skill.absent("cooking")])
    assert "## Skills" not in model.seen[0][0][0]["content"]
    assert model.seen[0][1] == []
    assert result.skills_offered == ()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ({"name": "baking"}, "NOT_FOUND", "cooking"),
        ({"name": "cooking", "path": "none.md"}, "NOT_FOUND", "notes/a.md"),
        ({"name": "cooking", "path": "x.bin"}, "UNAVAILABLE", "not a text file"),
        ({"name": 3}, "BAD_ARGUMENTS", "skill_load"),
        ({"name": "cooking", "other": 1}, "BAD_ARGUMENTS", "skill_load"),
    ],
)
def test_a_wrong_load_is_an_error_that_says_what_there_is(arguments, code, words):
    result, _ = run(calls(("skill_load", json.dumps(arguments))), text("ok"), skills=[SKILL])
    (answer,) = answers(result)
    assert answer["code"] == code
    assert words in answer["error"]
    assert result.skills_loaded == ()


def test_supporting_files_are_read_by_path():
    result, _ = run(calls(("skill_load", '{"name": "cooking", "path": "notes/a.md"}')), text("ok"), skills=[SKILL])
    assert answers(result)[0]["content"] == "Salt."


def test_names_that_meet_are_refused():
    with pytest.raises(ConfigError, match="skill_load"):
        run(text("x"), tools=[Note("skill_load")], skills=[SKILL])
    with pytest.raises(ConfigError, match="cooking"):
        run(text("x"), skills=[SKILL, SKILL])


def test_a_provider_that_cannot_answer_is_no_score():
    with pytest.raises(InfrastructureError):
        run(InfrastructureError("down"))


@pytest.mark.parametrize("settings", [{"max_turns": 0}, {"max_tokens": 0}])
def test_limits_that_allow_nothing_are_refused(settings):
    with pytest.raises(ConfigError):
        LoopAgent(Scripted(text("x")), **settings)
