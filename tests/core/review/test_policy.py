"""When a review happens: both rules, by table, and every decision with its reason."""

from __future__ import annotations

import pytest

from pytest_skillevo.core.review.policy import DEFAULT, HERMES, PolicySettings, decide
from pytest_skillevo.core.review.signals import Delta, scan
from pytest_skillevo.core.sessions import Event, Session, TaskOutcome


def delta(**more):
    return Delta(message_count=2, **more)


@pytest.mark.parametrize(
    ("settings", "found", "status", "trigger"),
    [
        (DEFAULT, {"tool_calls": 4}, "", "tool_calls"),
        (DEFAULT, {"tool_calls": 3, "tool_turns": 30}, "", ""),
        (DEFAULT, {}, "fail", "outcome"),
        (DEFAULT, {}, "Agent_Error ", "outcome"),
        (DEFAULT, {}, "success", ""),
        (DEFAULT, {"events": (Event("e", None, {}),) * 200}, "", "accumulated"),
        (HERMES, {"tool_turns": 10}, "", "tool_turns"),
        (HERMES, {"tool_turns": 9, "tool_calls": 99, "corrections": ["e1"]}, "fail", ""),
        (PolicySettings(min_tool_turns=0), {"tool_turns": 10}, "", "tool_turns"),
        (PolicySettings(recovered_error=False), {"recoveries": ["e1"]}, "", ""),
    ],
)
def test_each_trigger_fires_where_it_should(settings, found, status, trigger):
    decision = decide(delta(**found), TaskOutcome(status) if status else None, settings)
    assert (decision.review, decision.trigger) == (bool(trigger), trigger)
    assert decision.to_json()["figures"]["tool_calls"] == found.get("tool_calls", 0)
    assert decision.explanation


def test_without_a_word_there_is_nothing_to_review():
    assert not decide(Delta(tool_calls=99), TaskOutcome("fail")).review


def talk(*messages):
    return Session.of("s", list(messages))


def call(id, name):
    function = {"name": name, "arguments": "{}"}
    return {"role": "assistant", "content": "", "tool_calls": [{"id": id, "type": "function", "function": function}]}


def answer(id, text):
    return {"role": "tool", "tool_call_id": id, "content": text}


FAILED, GOOD = '{"success": false, "error": "boom"}', '{"success": true}'


@pytest.mark.parametrize(
    ("messages", "outcome", "recovered"),
    [
        ([call("1", "tide"), answer("1", FAILED), call("2", "tide"), answer("2", GOOD)], None, True),
        ([call("1", "tide"), answer("1", FAILED), call("2", "wind"), answer("2", GOOD)], None, False),
        ([call("1", "tide"), answer("1", FAILED), {"role": "assistant", "content": "I give up."}], None, False),
        ([call("1", "tide"), answer("1", FAILED), {"role": "assistant", "content": "It did not work."}], None, False),
        ([call("1", "tide"), answer("1", FAILED), {"role": "assistant", "content": "ok"}], "success", True),
        ([call("1", "tide"), answer("1", FAILED), call("2", "tide"), answer("2", GOOD)], "fail", False),
        ([call("1", "tide"), answer("1", "exit code 0, failed: none")], "", False),
    ],
)
def test_an_error_counts_as_recovered_only_where_it_was(messages, outcome, recovered):
    found = scan(talk({"role": "user", "content": "x"}, *messages), outcome=TaskOutcome(outcome) if outcome else None)
    assert bool(found.recoveries) is recovered


def test_a_skill_write_that_failed_is_none():
    write = {"name": "write_file", "arguments": '{"path": "skills/a/SKILL.md", "text": "x"}'}
    turn = {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "type": "function", "function": write}]}
    assert scan(talk(turn, answer("1", GOOD))).skill_writes == ["e0"]
    assert scan(talk(turn, answer("1", FAILED))).skill_writes == []
    other = {"name": "write_file", "arguments": '{"path": "notes.md", "text": "see SKILL.md"}'}
    turn = {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "type": "function", "function": other}]}
    assert scan(talk(turn)).skill_writes == []
