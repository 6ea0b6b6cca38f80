from __future__ import annotations

import json
from decimal import Decimal

import pytest

from pytest_skillevo.core.errors import ConfigError
from pytest_skillevo.core.protocols import ChatModel, Reply, ToolCall
from pytest_skillevo.core.records import NO_USAGE
from pytest_skillevo.models import resolve_model
from pytest_skillevo.models.simulated import SimulatedModel
from pytest_skillevo.models.tokens import request_bytes, tokens_of


class Echo:
    name = "echo"

    def recognises(self, messages, tools):
        return messages[-1]["content"].startswith("echo")

    def reply(self, messages, tools, *, seed):
        call = ToolCall("c1", "say", json.dumps({"text": "äöü" * 10}, ensure_ascii=False))
        return Reply("héllo", (call,), "tool_calls", NO_USAGE)


ECHO = [{"role": "user", "content": "echo ß"}]


def test_the_name_simulated_gives_the_embedded_model():
    model = resolve_model("simulated")
    assert isinstance(model, ChatModel)
    assert (model.name, model.kind, model.priced) == ("simulated", "simulated", True)


@pytest.mark.parametrize(
    ("name", "words"),
    [("simulate", "Did you mean 'simulated'"), ("", "empty")],
)
def test_any_other_name_is_refused_with_what_to_do(name, words):
    with pytest.raises(ConfigError, match=words):
        resolve_model(name)


def test_usage_is_a_quarter_of_the_bytes_really_sent_and_returned():
    tools = [{"type": "function", "function": {"name": "say", "description": "", "parameters": {}}}]
    reply = SimulatedModel([Echo()]).complete(ECHO, tools, seed=1)
    sent = len("echo ß".encode()) + len(json.dumps(tools, separators=(",", ":")))
    returned = len("héllo".encode()) + len("say") + len(reply.tool_calls[0].arguments.encode())
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (-(-sent // 4), -(-returned // 4))
    assert reply.usage.estimated
    assert reply.usage.usd == Decimal(0)


def test_history_and_tool_calls_count_as_sent():
    call = {"id": "1", "type": "function", "function": {"name": "ab", "arguments": "{}"}}
    messages = [{"role": "assistant", "content": None, "tool_calls": [call]}, {"role": "tool", "content": "xyz"}]
    assert request_bytes(messages, []) == 7
    assert [tokens_of(n) for n in (0, 1, 4, 5)] == [0, 1, 1, 2]


def test_a_conversation_that_nobody_recognises_is_refused_with_its_beginning():
    with pytest.raises(ConfigError, match=r"write a poem about rain.*echo"):
        SimulatedModel([Echo()]).complete([{"role": "user", "content": "write a poem about rain"}], seed=1)


def test_temperature_and_schema_change_nothing():
    model = SimulatedModel([Echo()])
    plain = model.complete(ECHO, seed=1)
    assert model.complete(ECHO, seed=1, temperature=1.0, response_schema={"type": "object"}) == plain


@pytest.mark.parametrize("limit", [0, 1, 2, 3, 10, 1000])
def test_a_reply_is_cut_at_the_limit_and_says_so(limit):
    full = SimulatedModel([Echo()]).complete(ECHO, seed=1)
    reply = SimulatedModel([Echo()]).complete(ECHO, seed=1, max_tokens=limit)
    assert reply.usage.output_tokens <= limit or limit == 1000
    if limit == 1000:
        assert reply == full
    else:
        assert reply.finish_reason == "length"
        assert full.text.startswith(reply.text)
        for call in reply.tool_calls:
            assert full.tool_calls[0].arguments.startswith(call.arguments)
