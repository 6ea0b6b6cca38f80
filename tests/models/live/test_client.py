"""A client with the shape of OpenAI's as a ChatModel, over HTTP."""

from __future__ import annotations

from decimal import Decimal

import pytest
from openai import OpenAI

from pytest_skillevo.agents import LoopAgent
from pytest_skillevo.core.errors import ConfigError, InfrastructureError, TaskError
from pytest_skillevo.core.protocols import ChatModel, ToolCall
from pytest_skillevo.models.live import ClientModel
from pytest_skillevo.models.prices import Price, Rates

HELLO = [{"role": "user", "content": "Hello?"}]


@pytest.fixture
def ask(chat_server):
    with OpenAI(api_key="none", base_url=chat_server.url, max_retries=0) as client:
        yield lambda *steps, **more: ClientModel(client, chat_server.model(*steps).removeprefix("openai/"), **more)


def test_a_client_answers_with_text_calls_and_usage(ask):
    usage = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
    model = ask({"calls": [["look_up", '{"dish": "soup"}']], "usage": usage})
    reply = model.complete(HELLO, seed=1)
    assert reply.tool_calls == (ToolCall("call_0", "look_up", '{"dish": "soup"}'),)
    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.usd) == (10, 2, None)
    assert isinstance(model, ChatModel)
    assert not model.priced


def test_a_price_makes_the_cost_known(ask):
    usage = {"prompt_tokens": 1_000_000, "completion_tokens": 0, "total_tokens": 1_000_000}
    model = ask({"text": "x", "usage": usage}, price=Price((Rates(Decimal("2.5"), Decimal(10)),), "mine"))
    assert model.complete(HELLO, seed=1).usage.usd == Decimal("2.5")


def test_the_built_in_loop_runs_on_it(ask):
    assert LoopAgent(ask({"text": "fine"})).run("Hello?").answer == "fine"


def test_a_parameter_that_the_provider_refuses_is_left_out_from_then_on(ask, chat_server):
    refusal = {
        "status": 400,
        "message": "Unsupported parameter: seed",
        "code": "unsupported_parameter",
        "param": "seed",
    }
    model = ask(refusal, {"text": "one"}, {"text": "two"})
    assert model.complete(HELLO, seed=1).text == "one"
    assert model.complete(HELLO, seed=1).text == "two"
    assert ["seed" in request for request in chat_server.requests(model.name)] == [True, False, False]


@pytest.mark.parametrize(
    ("step", "error", "words"),
    [
        ({"status": 401, "message": "wrong key"}, ConfigError, "HTTP 401.*wrong key"),
        ({"status": 500, "message": "on fire"}, InfrastructureError, "in 1 attempt .*on fire"),
        ({"status": 400, "code": "context_length_exceeded", "message": "too long"}, TaskError, "too long for"),
    ],
)
def test_errors_say_what_they_mean(ask, step, error, words):
    with pytest.raises(error, match=words):
        ask(step).complete(HELLO, seed=1)


def test_something_else_than_a_client_is_refused():
    with pytest.raises(ConfigError, match=r"chat\.completions\.create"):
        ClientModel(object(), "x")
