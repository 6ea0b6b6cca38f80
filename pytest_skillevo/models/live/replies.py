"""From LiteLLM's response to a Reply: text, tool calls, and only such usage as the provider itself reported."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from ...core.protocols import Reply, ToolCall
from ...core.records import Usage
from ..prices import Price

#: More tokens than any model takes: a figure beyond is a mistake.
_MOST: Final = 10**9
_FINISH: Final = {"stop": "stop", "length": "length", "tool_calls": "tool_calls", "content_filter": "content_filter"}


class BrokenAnswer(Exception):
    """An answer that is none: no choice, a stream that ends early."""


async def gathered(stream: Any, library: Any) -> tuple[Any, Any]:
    """The whole response of a stream, and the usage that its chunks reported (None: none did).

    LiteLLM makes up the usage of a stream that reports none, so the chunks are looked at before it sees them.
    """
    seen: list[Any] = []
    inner: Any = getattr(stream, "completion_stream", None)
    if hasattr(inner, "__aiter__"):
        stream.completion_stream = _watched(inner, seen)
    chunks = [chunk async for chunk in stream]
    if getattr(stream, "received_finish_reason", None) is None or not chunks:
        raise BrokenAnswer("the stream ended before the answer did")
    return library.stream_chunk_builder(chunks), seen[-1] if seen else None


async def _watched(chunks: AsyncIterator[Any], seen: list[Any]) -> AsyncIterator[Any]:
    async for chunk in chunks:
        usage = chunk.get("usage") if isinstance(chunk, dict) else getattr(chunk, "usage", None)
        if usage is not None:
            seen.append(usage)
        yield chunk


def reply_of(response: Any, reported: Any, price: Price | None) -> Reply:
    """The Reply in a response; `reported` is its usage. Raises BrokenAnswer when there is no answer in it."""
    choices = getattr(response, "choices", None)
    if not choices:
        raise BrokenAnswer("the answer has no choice in it")
    message = choices[0].message
    calls = tuple(
        ToolCall(str(call.id or f"call_{index}"), str(call.function.name or ""), str(call.function.arguments or ""))
        for index, call in enumerate(message.tool_calls or ())
    )
    finish = _FINISH.get(str(choices[0].finish_reason), "stop")
    if calls and finish == "stop":
        finish = "tool_calls"
    usage = usage_of(reported)
    if price is not None:
        usage = replace(usage, usd=price.of(usage))
    return Reply(str(message.content or ""), calls, finish, usage)


def usage_of(reported: Any) -> Usage:
    """Tokens by kind. What cannot be (negative, more cached than sent, nothing sent) makes the whole unknown."""
    new, out = _count(reported, "prompt_tokens"), _count(reported, "completion_tokens")
    cached = _count(_part(reported, "prompt_tokens_details"), "cached_tokens")
    reasoning = _count(_part(reported, "completion_tokens_details"), "reasoning_tokens")
    # LiteLLM says 0 for what no provider reported, and no request is empty.
    if not new or out is None or (cached or 0) > new or (reasoning or 0) > out:
        return Usage(provider_usd=_money(reported))
    return Usage(new, out, cached, reasoning, None, provider_usd=_money(reported))


def _part(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


def _count(usage: Any, name: str) -> int | None:
    value = _part(usage, name)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST else None


def _money(usage: Any) -> Decimal | None:
    """What the provider says that the call cost; some say so in the usage."""
    value = _part(usage, "cost")
    if value is None or isinstance(value, bool):
        return None
    try:
        money = Decimal(str(value))
    except InvalidOperation:
        return None
    return money if money.is_finite() and 0 <= money < _MOST else None
