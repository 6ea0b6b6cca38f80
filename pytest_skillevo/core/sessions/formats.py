"""From the formats that people have to messages in the OpenAI shape. Every refusal is a ValueError in one sentence."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ..records import Message
from .records import nanoseconds

#: Kinds of parts that were never part of what was said. Others without a text leave their kind, such as [image].
_UNSAID: Final = ("thinking", "redacted_thinking", "reasoning")
ROLES: Final = ("system", "developer", "user", "assistant", "tool", "function")


def openai_message(data: Any) -> Message:
    """One OpenAI chat message, checked and reduced to what a review reads."""
    if not isinstance(data, Mapping):
        raise ValueError(f"a message must be an object, not {type(data).__name__}")
    role = data.get("role")
    if role not in ROLES:
        raise ValueError(f"the role of a message must be one of {', '.join(ROLES)}, not {role!r}")
    content = _content(data.get("content")) or _content(data.get("refusal"))
    message: Message = {"role": "tool" if role == "function" else role, "content": content}
    calls = data.get("tool_calls")
    if calls is None and data.get("function_call") is not None:
        calls = [{"function": data["function_call"]}]  # the shape before there were several calls
    if calls is not None:
        if not isinstance(calls, Sequence) or isinstance(calls, str):
            raise ValueError("tool_calls must be a list")
        message["tool_calls"] = [_call(call) for call in calls]
    for key in ("tool_call_id", "name"):
        if isinstance(data.get(key), str):
            message[key] = data[key]
    return message


def _content(value: Any) -> str:
    """The text of a content: itself, or the text parts of a list."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, Sequence):
        return "\n".join(filter(None, map(_part, value)))
    raise ValueError(f"content must be text or a list of parts, not {type(value).__name__}")


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping):
        raise ValueError("a part of a content must be an object")
    kind = part.get("type")
    text = part.get("text", part.get("content") if kind == "text" else part.get("refusal"))
    if isinstance(text, str) or kind in _UNSAID:
        return text or ""
    return "" if kind in (None, "text", "refusal") else f"[{kind}]"


def _call(data: Any) -> dict[str, Any]:
    function = data.get("function", data.get("custom")) if isinstance(data, Mapping) else None
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        raise ValueError("a tool call must have function.name")
    return tool_call(str(data.get("id") or ""), function["name"], function.get("arguments", function.get("input")))


def tool_call(id: str, name: str, arguments: Any) -> dict[str, Any]:
    """A tool call in the OpenAI shape; arguments that are no text become JSON."""
    text = arguments if isinstance(arguments, str) else "" if arguments is None else _json(arguments)
    return {"id": id, "type": "function", "function": {"name": name, "arguments": text}}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def anthropic_messages(data: Mapping[str, Any]) -> Iterator[Message]:
    """The messages of an Anthropic request, or of one response, in the OpenAI shape."""
    system = data.get("system")
    if system:
        yield {"role": "system", "content": _content(system)}
    messages = [data] if data.get("type") == "message" else data.get("messages")
    if not isinstance(messages, Sequence) or isinstance(messages, str):
        raise ValueError("messages must be a list")
    for message in messages:
        if not isinstance(message, Mapping) or message.get("role") not in ("system", "user", "assistant"):
            raise ValueError("an Anthropic message must have the role user, assistant or system")
        yield from _anthropic_message(message["role"], message.get("content"))


def _anthropic_message(role: str, content: Any) -> Iterator[Message]:
    if isinstance(content, str):
        yield {"role": role, "content": content}
        return
    if not isinstance(content, Sequence):
        raise ValueError("content must be text or a list of blocks")
    texts: list[str] = []
    calls: list[dict[str, Any]] = []
    for block in content:
        kind = block.get("type") if isinstance(block, Mapping) else None
        if not isinstance(kind, str):
            raise ValueError("a block of a content must be an object with a type")
        if kind.endswith("tool_use"):  # also those of tools that the provider runs
            calls.append(tool_call(str(block.get("id") or ""), str(block.get("name") or ""), block.get("input")))
        elif kind.endswith("tool_result"):
            yield from _spoken(role, texts, calls)
            texts, calls = [], []
            answer = _result(block.get("content"))
            answer = _json({"error": answer}) if block.get("is_error") is True else answer
            yield {"role": "tool", "content": answer, "tool_call_id": str(block.get("tool_use_id") or "")}
        elif kind not in _UNSAID:
            texts.append(_part(block))
    yield from _spoken(role, texts, calls)


def _spoken(role: str, texts: list[str], calls: list[dict[str, Any]]) -> Iterator[Message]:
    if texts or calls:
        yield {"role": role, "content": "\n".join(texts), **({"tool_calls": calls} if calls else {})}


def _result(content: Any) -> str:
    """What a tool answered; the tools of the provider answer with objects of their own."""
    own = isinstance(content, Mapping) or (
        isinstance(content, list) and any(isinstance(one, Mapping) and "url" in one for one in content)
    )
    return _json(content) if own else _content(content)


def litellm_messages(data: Mapping[str, Any]) -> Iterator[tuple[Message, int | None]]:
    """The messages of a LiteLLM response, or of its logging payload (request messages and response), with times."""
    response = data.get("response", data)
    started = nanoseconds(data.get("startTime"))
    for message in data.get("messages") or ():
        yield openai_message(message), started
    choices = response.get("choices") if isinstance(response, Mapping) else None
    if not isinstance(choices, Sequence) or isinstance(choices, str):
        raise ValueError("a LiteLLM response must have choices")
    ended = nanoseconds(data.get("endTime", response.get("created")))
    for choice in choices[:1]:  # the others were never part of the conversation
        message = choice.get("message") if isinstance(choice, Mapping) else None
        if message is None:
            part = " (a chunk of a stream holds only a part; record the whole response)"
            chunk = isinstance(choice, Mapping) and "delta" in choice
            raise ValueError(f"a choice must have a message{part * chunk}")
        yield openai_message(message), ended
