"""OpenTelemetry GenAI spans: chat spans carry the conversation so far, execute_tool spans what a tool answered.

https://opentelemetry.io/docs/specs/semconv/gen-ai/ in its shapes: messages as attributes of the span or of one event
(JSON text), messages as span events each, and numbered attributes (gen_ai.prompt.0.role). Every refusal is a ValueError
in one sentence.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ..records import Message
from .formats import openai_message, tool_call
from .joining import Timed, extend

_IN: Final = "gen_ai.input.messages"
_OUT: Final = "gen_ai.output.messages"
_SYSTEM: Final = "gen_ai.system_instructions"
#: The shape before: the same, named otherwise, and numbered attributes below these names.
_PROMPT: Final = "gen_ai.prompt"
_COMPLETION: Final = "gen_ai.completion"
#: Events that carry messages as a span does.
_CARRIERS: Final = (
    "gen_ai.client.inference.operation.details",
    "gen_ai.content.prompt",
    "gen_ai.content.completion",
)
_CONVERSATION: Final = ("gen_ai.conversation.id", "session.id")
_USER: Final = ("user.id", "enduser.id")


@dataclass(slots=True)
class Conversation:
    """What the spans of one conversation add up to."""

    id: str
    app: str = ""
    user: str = ""
    messages: list[Timed] = field(default_factory=list)


def conversations(data: Any) -> list[Conversation]:
    """The conversations in OTLP JSON, a list of spans, or one span; those without an id are told apart by trace."""
    read = [(span, {**resource, **_attributes(span.get("attributes"))}) for span, resource in _spans(data)]
    found: dict[str, Conversation] = {}
    for span, attributes in sorted(read, key=lambda one: _order(*one)):
        id = _first(attributes, _CONVERSATION) or str(span.get("traceId") or span.get("trace_id") or "")
        one = found.setdefault(id, Conversation(id))
        one.app = one.app or str(attributes.get("gen_ai.agent.name") or attributes.get("service.name") or "")
        one.user = one.user or _first(attributes, _USER)
        _add(one, span, attributes)
    return [one for one in found.values() if one.messages]


def _order(span: Mapping[str, Any], attributes: Mapping[str, Any]) -> tuple[bool, int]:
    """By time; the span of a whole agent is last, because it only tells again what its calls have told."""
    agent = attributes.get("gen_ai.operation.name") == "invoke_agent"
    return agent, _time(span, "startTimeUnixNano", "start_time") or 0


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
    if attributes.get("gen_ai.operation.name") == "invoke_agent" and one.messages:
        return
    for event in _named(span):
        if event.get("name") in _CARRIERS:
            attributes = {**attributes, **_attributes(event.get("attributes"))}
    said = [*_listed(attributes.get(_SYSTEM), "system"), *_listed(attributes.get(_IN)), *_events(span, False)]
    said += _older(attributes, _PROMPT, "user")
    extend(one.messages, [(message, began) for message in said])
    answered = [*_listed(attributes.get(_OUT)), *_events(span, True), *_older(attributes, _COMPLETION, "assistant")]
    one.messages += [(message, ended) for message in answered]


def _older(attributes: Mapping[str, Any], name: str, role: str) -> Iterator[Message]:
    """Messages below an older name: JSON text or plain text, or numbered attributes such as gen_ai.prompt.0.content."""
    whole = attributes.get(name)
    parsed = _unpacked(whole)
    if isinstance(parsed, list):
        yield from (message for entry in parsed for message in _message(_with_role(entry, role)))
    elif whole:
        yield {"role": role, "content": _text(whole)}
    for entry in _numbered(attributes, f"{name}."):
        calls = [{"id": call.get("id"), "function": call} for call in _numbered(entry, "tool_calls.")]
        yield openai_message(_with_role({**entry, "tool_calls": calls} if calls else entry, role))


def _numbered(attributes: Mapping[str, Any], prefix: str) -> Iterable[dict[str, Any]]:
    """The attributes prefix + number + "." + name, by number."""
    found: dict[int, dict[str, Any]] = {}
    for key, value in attributes.items():
        number, _, name = key.removeprefix(prefix).partition(".")
        if key.startswith(prefix) and name and number.isascii() and number.isdecimal() and len(number) < 10:
            found.setdefault(int(number), {})[name] = value
    return [found[number] for number in sorted(found)]


def _with_role(entry: Any, role: str) -> Any:
    return {"role": role, **entry} if isinstance(entry, Mapping) else entry


def _unpacked(value: Any) -> Any:
    """The value that a JSON text holds; any other text as it is."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value


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
    if not isinstance(entry["parts"], list):
        raise ValueError("the parts of a message must be a list")
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
        elif kind != "reasoning":
            texts.append(f"[{kind}]")  # a picture, a file
    if texts or calls:
        told = {"role": entry.get("role"), "content": "\n".join(texts), **({"tool_calls": calls} if calls else {})}
        yield openai_message(told)


def _named(span: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    return [event for event in span.get("events") or () if isinstance(event, Mapping)]


def _events(span: Mapping[str, Any], answers: bool) -> Iterator[Message]:
    """The messages of the older shape, one span event each; answers are the events gen_ai.choice."""
    for event in _named(span):
        name, body = str(event.get("name") or ""), _attributes(event.get("attributes"))
        if answers and name == "gen_ai.choice":
            message = _unpacked(body.get("message", body))
            if isinstance(message, Mapping):
                message = {"role": "assistant", **message, "tool_calls": _unpacked(message.get("tool_calls"))}
            yield openai_message(message)
        elif not answers and name.startswith("gen_ai.") and name.endswith(".message"):
            role = name.split(".")[1]
            told = {"role": role, **body, "tool_calls": _unpacked(body.get("tool_calls"))}
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
