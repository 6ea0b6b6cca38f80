"""Token counts for models that report none: the size of what was really sent and returned."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from ..core.protocols import Reply
from ..core.records import Message, Usage


def text_bytes(text: str) -> int:
    """UTF-8 bytes of a text; a lone surrogate counts like any other three-byte character."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def message_bytes(message: Message) -> int:
    """UTF-8 bytes of what a message carries: its content and the names and arguments of its tool calls."""
    content = message.get("content") or ""
    size = text_bytes(content if isinstance(content, str) else json.dumps(content, ensure_ascii=False))
    for call in message.get("tool_calls") or ():
        function = call.get("function", {})
        size += text_bytes(function.get("name", "")) + text_bytes(function.get("arguments", ""))
    return size


def request_bytes(messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]) -> int:
    """UTF-8 bytes of one request: the whole history, which is sent again every turn, and the tool schemas."""
    schemas = text_bytes(json.dumps(tools, ensure_ascii=False, separators=(",", ":"))) if tools else 0
    return schemas + sum(map(message_bytes, messages))


def reply_bytes(reply: Reply) -> int:
    """UTF-8 bytes of one reply: its text and the names and arguments of its tool calls."""
    calls = sum(text_bytes(call.name) + text_bytes(call.arguments) for call in reply.tool_calls)
    return text_bytes(reply.text) + calls


def tokens_of(size: int) -> int:
    """Estimated tokens of a number of UTF-8 bytes: a quarter, rounded up (spec/suites.md 3.7)."""
    return -(-size // 4)


def estimated_usage(messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], reply: Reply) -> Usage:
    """Usage of one free call, labelled as estimated; nothing is cached and nothing is spent on reasoning."""
    return Usage(
        tokens_of(request_bytes(messages, tools)), tokens_of(reply_bytes(reply)), 0, 0, Decimal(0), estimated=True
    )
