"""OpenTelemetry GenAI spans: chat spans carry the conversation so far, execute_tool spans what a tool answered.

https://opentelemetry.io/docs/specs/semconv/gen-ai/ in its two shapes: messages as attributes (JSON text), and messages
as span events. Every refusal is a ValueError in one sentence.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ..canonical import canonical_json
from ..records import Message
from .formats import openai_message, tool_call

_IN: Final = "gen_ai.input.messages"
_OUT: Final = "gen_ai.output.messages"
_SYSTEM: Final = "gen_ai.system_instructions"
_CONVERSATION: Final = ("gen_ai.conversation.id", "session.id")
_USER: Final = ("user.id", "enduser.id")


@dataclass(slots=True)
class Conversation:
    """What the spans of one conversation add up to."""

    id: str
    app: str = ""
    user: str = ""
    messages: list[tuple[Message, int | None]] = field(default_factory=list)


def conversations(data: Any) -> list[Conversation]:
    """The conversations in OTLP JSON, a list of spans, or one span; those without an id are told apart by trace."""
    spans = sorted(_spans(data), key=lambda span: _time(span[0], "startTimeUnixNano", "start_time") or 0)
    found: dict[str, Conversation] = {}
    for span, resource in spans:
        attributes = {**resource, **_attributes(span.get("attributes"))}
        id = _first(attributes, _CONVERSATION) or str(span.get("traceId") or span.get("trace_id") or "")
        one = found.setdefault(id, Conversation(id))
        one.app = one.app or str(attributes.get("gen_ai.agent.name") or attributes.get("service.name") or "")
        one.user = one.user or _first(attributes, _USER)
        _add(one, span, attributes)
    return [one for one in found.values() if one.messages]


def is_spans(data: Any) -> bool:
    """Whether this looks like OTLP JSON, a span, or a list of spans."""
    if isinstance(data, Mapping):
        return "resourceSpans" in data or ("name" in data and ("spanId" in data or "span_id" in data))
    return isinstance(data, list) and bool(data) and all(is_spans(one) for one in data)


def _spans(data: Any) -> Iterator[tuple[Mapping[str, Any], dict[str, Any]]]:
    for whole in data if isinstance(data, list) else [data]:
        if "resourceSpans" not in whole:
            yield whole, {}
            continue
        for group in whole["resourceSpans"]:
            resource = _attributes((group.get("resource") or {}).get("attributes"))
            for scope in group.get("scopeSpans") or ():
                for span in scope.get("spans") or ():
                    yield span, resource


def _attributes(value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    if isinstance(value, Mapping):
        return dict(value)
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise ValueError("the attributes of a span must be an object or a list of key and value")
    return {str(one["key"]): _value(one.get("value")) for one in value if isinstance(one, Mapping) and "key" in one}


def _value(value: Any) -> Any:
    """The value of an OTLP AnyValue."""
    if not isinstance(value, Mapping):
        return value
    if "arrayValue" in value:
        return [_value(one) for one in value["arrayValue"].get("values") or ()]
    if "kvlistValue" in value:
        return _attributes(value["kvlistValue"].get("values"))
    return next(iter(value.values()), None)


def _add(one: Conversation, span: Mapping[str, Any], attributes: Mapping[str, Any]) -> None:
    began = _time(span, "startTimeUnixNano", "start_time")
    ended = _time(span, "endTimeUnixNano", "end_time")
    if attributes.get("gen_ai.operation.name") == "execute_tool":
        id, result = str(attributes.get("gen_ai.tool.call.id") or ""), attributes.get("gen_ai.tool.call.result")
        if result is not None and not any(message.get("tool_call_id") == id for message, _ in one.messages if id):
            name = str(attributes.get("gen_ai.tool.name") or "")
            one.messages.append(({"role": "tool", "content": _text(result), "tool_call_id": id, "name": name}, ended))
        return
    said = [*_listed(attributes.get(_SYSTEM), "system"), *_listed(attributes.get(_IN)), *_events(span, False)]
    _extend(one, said, began)
    answered = [*_listed(attributes.get(_OUT)), *_events(span, True)]
    one.messages += [(message, ended) for message in answered]


def _extend(one: Conversation, messages: Sequence[Message], at: int | None) -> None:
    """Add what is new: most instrumentations repeat the whole conversation as the input of every call."""
    known = [canonical_json(message) for message, _ in one.messages]
    given = [canonical_json(message) for message in messages]
    fresh = given[: len(known)] != known
    one.messages += [(message, at) for message in (messages if fresh else messages[len(known) :])]


def _listed(value: Any, role: str = "") -> list[Message]:
    if value is None:
        return []
    try:
        entries = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        raise ValueError("the messages of a span are not valid JSON") from None
    if not isinstance(entries, list):
        raise ValueError("the messages of a span must be a list")
    if role:
        return [{"role": role, "content": "\n".join(_text(part.get("content")) for part in entries)}]
    return [message for entry in entries for message in _message(entry)]


def _message(entry: Any) -> Iterator[Message]:
    """A message of parts; answers of tools are messages of their own in the OpenAI shape."""
    if not isinstance(entry, Mapping):
        raise ValueError("a message of a span must be an object")
    if "parts" not in entry:
        yield openai_message(entry)
        return
    texts, calls = [], []
    for part in entry["parts"]:
        kind = part.get("type")
        if kind == "text":
            texts.append(_text(part.get("content")))
        elif kind == "tool_call":
            calls.append(tool_call(str(part.get("id") or ""), str(part.get("name") or ""), part.get("arguments")))
        elif kind == "tool_call_response":
            answer = part.get("response", part.get("result"))
            yield {"role": "tool", "content": _text(answer), "tool_call_id": str(part.get("id") or "")}
    if texts or calls:
        told = {"role": entry.get("role"), "content": "\n".join(texts), **({"tool_calls": calls} if calls else {})}
        yield openai_message(told)


def _events(span: Mapping[str, Any], answers: bool) -> Iterator[Message]:
    """The messages of the older shape, one span event each; answers are the events gen_ai.choice."""
    for event in span.get("events") or ():
        name, body = str(event.get("name") or ""), _attributes(event.get("attributes"))
        if answers and name == "gen_ai.choice":
            message = body.get("message", body)
            message = json.loads(message) if isinstance(message, str) else message
            yield openai_message({"role": "assistant", **message})
        elif not answers and name.startswith("gen_ai.") and name.endswith(".message"):
            role = name.split(".")[1]
            told = {"role": role, **body}
            if role == "tool" and "id" in body:
                told["tool_call_id"] = str(body["id"])
            yield openai_message(told)


def _time(span: Mapping[str, Any], *keys: str) -> int | None:
    for key in keys:
        value = span.get(key)
        if isinstance(value, int) or (isinstance(value, str) and value.isdecimal()):
            return int(value)
    return None


def _first(attributes: Mapping[str, Any], keys: Sequence[str]) -> str:
    return next((str(attributes[key]) for key in keys if attributes.get(key)), "")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
