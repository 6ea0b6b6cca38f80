"""Real models, asked through LiteLLM over HTTP: a server on loopback answers, refuses, stalls and breaks off."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal

import pytest

from pytest_skillevo.core.errors import ConfigError, InfrastructureError, TaskError
from pytest_skillevo.core.gates.redaction import redact
from pytest_skillevo.core.protocols import ChatModel, ToolCall
from pytest_skillevo.core.records import Usage
from pytest_skillevo.models.live import LiveModel, LiveSettings
from pytest_skillevo.models.prices import Price, Rates

HELLO = [{"role": "user", "content": "Hello?"}]
FINE = {"text": "fine"}
FAST = LiveSettings(first_wait=0.01, longest_wait=0.2, attempts=3)


@pytest.fixture(params=[False, True], ids=["whole", "stream"])
def ask(request, chat_server):
    """Make a model that gives these answers, whole or as a stream."""

    def make(*steps: dict, settings: LiveSettings = FAST, **changes) -> LiveModel:
        settings = replace(settings, api_base=chat_server.url, stream=request.param, **changes)
        return LiveModel(chat_server.model(*steps), settings, redact)

    return make


def test_an_answer_has_text_and_usage_by_kind(ask):
    details = {"prompt_tokens_details": {"cached_tokens": 30}, "completion_tokens_details": {"reasoning_tokens": 5}}
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    model = ask({"text": "Hello, you.", "usage": usage | details})
    reply = model.complete(HELLO, seed=1)
    assert (reply.text, reply.finish_reason, reply.tool_calls) == ("Hello, you.", "stop", ())
    assert reply.usage == Usage(100, 20, 30, 5, None)
    assert isinstance(model, ChatModel)
    assert model.kind == "live"


def test_tool_calls_keep_their_arguments_as_the_model_wrote_them(ask):
    reply = ask({"calls": [["look_up", '{"dish": "soup"}'], ["broken", '{"dish": ']]}).complete(HELLO, seed=1)
    assert reply.finish_reason == "tool_calls"
    assert reply.tool_calls == (
        ToolCall("call_0", "look_up", '{"dish": "soup"}'),
        ToolCall("call_1", "broken", '{"dish": '),
    )


def test_every_parameter_reaches_the_provider(ask, chat_server):
    model = ask(FINE)
    tool = {"type": "function", "function": {"name": "t", "description": "d", "parameters": {"type": "object"}}}
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    model.complete(HELLO, [tool], seed=7, temperature=0.25, max_tokens=99, response_schema=schema)
    (asked,) = chat_server.requests(model.name)
    assert asked["messages"] == HELLO
    assert asked["tools"] == [tool]
    assert (asked["seed"], asked["temperature"], asked["max_tokens"]) == (7, 0.25, 99)
    assert asked["response_format"]["json_schema"]["schema"] == schema


@pytest.mark.parametrize(
    "step",
    [
        {"status": 429, "headers": {"Retry-After": "0.05"}},
        {"status": 500},
        {"status": 503, "headers": {"Retry-After": "nonsense"}},
        {"text": "a whole sentence", "cut": 3},
        {"raw": "<html>a proxy is in the way</html>"},
        {"raw": '{"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": []}'},
    ],
    ids=["429", "500", "503", "truncated", "no JSON", "no choice"],
)
def test_a_passing_failure_is_tried_again(ask, chat_server, step):
    model = ask(step, FINE)
    assert model.complete(HELLO, seed=1).text == "fine"
    assert len(chat_server.requests(model.name)) == 2


def test_the_attempts_end_and_the_last_failure_is_told(ask, chat_server):
    model = ask(*[{"status": 500, "message": "the cluster is on fire"}] * 4)
    with pytest.raises(InfrastructureError, match=r"no answer in 3 attempts \(HTTP 500\): the cluster is on fire"):
        model.complete(HELLO, seed=1)
    assert len(chat_server.requests(model.name)) == 3


def test_a_provider_that_asks_to_wait_longer_than_the_call_may_take_is_not_asked_again(ask, chat_server):
    model = ask({"status": 429, "headers": {"Retry-After": "86400"}}, FINE)
    with pytest.raises(InfrastructureError, match=r"in 1 attempt .*asks to wait 86400 seconds"):
        model.complete(HELLO, seed=1)
    assert len(chat_server.requests(model.name)) == 1


def test_the_wait_that_a_provider_asks_for_is_bounded(ask):
    model = ask({"status": 429, "headers": {"Retry-After": "500"}}, FINE)  # FAST waits 0.2 seconds at most
    assert model.complete(HELLO, seed=1).text == "fine"


def test_an_answer_that_drips_in_is_cut_at_the_deadline_and_asked_again(ask, chat_server):
    model = ask({"text": "drop by drop " * 20, "drip": 0.05}, FINE, attempt_seconds=0.5)
    assert model.complete(HELLO, seed=1).text == "fine"
    assert len(chat_server.requests(model.name)) == 2


def test_a_call_has_a_deadline_for_all_its_attempts(ask):
    model = ask(*[{"delay": 5, **FINE}] * 3, attempt_seconds=5, call_seconds=0.3)
    with pytest.raises(InfrastructureError, match="gave no answer"):
        model.complete(HELLO, seed=1)


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ({"status": 401, "message": "wrong key"}, "HTTP 401.*wrong key.*Check the key"),
        ({"status": 404, "message": "no such model"}, "HTTP 404.*no such model.*Check the name"),
        ({"status": 400, "message": "tools must be objects"}, "refuses the request.*tools must be objects"),
    ],
)
def test_wrong_usage_is_told_at_once(ask, chat_server, step, words):
    model = ask(step, FINE)
    with pytest.raises(ConfigError, match=words):
        model.complete(HELLO, seed=1)
    assert len(chat_server.requests(model.name)) == 1


def test_an_account_without_credit_is_an_outage_that_is_not_tried_again(ask, chat_server):
    model = ask({"status": 429, "code": "insufficient_quota", "message": "You exceeded your current quota"}, FINE)
    with pytest.raises(InfrastructureError, match="exceeded your current quota"):
        model.complete(HELLO, seed=1)
    assert len(chat_server.requests(model.name)) == 1


def test_a_conversation_that_is_too_long_is_a_matter_of_the_task(ask):
    message = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."
    with pytest.raises(TaskError, match="too long"):
        ask({"status": 400, "code": "context_length_exceeded", "message": message}).complete(HELLO, seed=1)


def test_content_that_the_provider_refuses_is_an_empty_answer(ask):
    reply = ask({"status": 400, "code": "content_policy_violation", "message": "rejected"}).complete(HELLO, seed=1)
    assert (reply.text, reply.finish_reason, reply.usage.tokens) == ("", "content_filter", None)


def test_a_parameter_that_the_model_does_not_take_is_left_out_and_told(ask, chat_server):
    refusal = {"status": 400, "code": "unsupported_value", "param": "temperature", "message": "no temperature here"}
    model = ask(refusal, FINE, FINE)
    for _ in range(2):
        assert model.complete(HELLO, seed=1, temperature=0.5).text == "fine"
    assert ["temperature" in asked for asked in chat_server.requests(model.name)] == [True, False, False]
    assert "takes no temperature" in model.notes[0]


def test_a_limit_that_must_hold_is_never_left_out(ask):
    refusal = {"status": 400, "code": "unsupported_parameter", "param": "max_tokens", "message": "no max_tokens here"}
    with pytest.raises(ConfigError, match="no max_tokens here"):
        ask(refusal, FINE).complete(HELLO, seed=1, max_tokens=5)


@pytest.mark.parametrize(
    "usage",
    [
        False,
        {"prompt_tokens": -5, "completion_tokens": 3, "total_tokens": 3},
        {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
        {
            "prompt_tokens": 10,
            "completion_tokens": 3,
            "total_tokens": 13,
            "prompt_tokens_details": {"cached_tokens": 11},
        },
    ],
    ids=["none", "negative", "zero", "more cached than sent"],
)
def test_usage_that_cannot_be_is_unknown_and_never_zero(ask, usage):
    model = ask({"text": "fine", "usage": usage}, prices={})
    assert model.complete(HELLO, seed=1).usage == Usage()


def test_a_call_is_priced_by_the_table_and_the_providers_own_figure_stands_beside_it(ask):
    usage = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100, "cost": 0.0125}
    model = ask({"text": "fine", "usage": usage})
    model.price = Price((Rates(Decimal(2), Decimal(10)),), "test")
    reply = model.complete(HELLO, seed=1)
    assert (reply.usage.usd, reply.usage.provider_usd) == (Decimal("0.003"), Decimal("0.0125"))


def test_errors_carry_no_key(ask):
    key = "sk-proj-" + "a1B2" * 10
    with pytest.raises(ConfigError) as caught:
        ask({"status": 401, "message": f"Incorrect API key provided: {key}"}).complete(HELLO, seed=1)
    assert key not in str(caught.value)


def test_many_threads_may_ask_at_once(ask, chat_server):
    model = ask(*[{"text": "fine", "delay": 0.2}] * 16)
    together = threading.Barrier(16)

    def one(seed: int) -> str:
        together.wait()
        return model.complete(HELLO, seed=seed).text

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(one, range(16))) == ["fine"] * 16
    assert sorted(asked["seed"] for asked in chat_server.requests(model.name)) == list(range(16))
