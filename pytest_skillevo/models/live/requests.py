"""What is sent to a chat completions interface, and what its last failure becomes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from ...core.errors import ConfigError, InfrastructureError, SkillevoError, TaskError
from ...core.protocols import Reply
from ...core.records import Message, Usage
from .failures import Failure, Kind

#: The reply of a provider that will not answer this content.
FILTERED: Final = Reply("", (), "content_filter", Usage())


def request_of(
    messages: Sequence[Message],
    tools: Sequence[Mapping[str, Any]],
    seed: int,
    temperature: float | None,
    max_tokens: int | None,
    response_schema: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """The arguments of a request beside the model; what was not asked for is not in it."""
    request: dict[str, Any] = {"messages": list(messages), "seed": seed}
    if tools:
        request["tools"] = [dict(tool) for tool in tools]
    if temperature is not None:
        request["temperature"] = temperature
    if max_tokens is not None:
        request["max_tokens"] = max_tokens
    if response_schema is not None:
        schema = {"name": "reply", "schema": dict(response_schema), "strict": False}
        request["response_format"] = {"type": "json_schema", "json_schema": schema}
    return request


def error_of(name: str, failure: Failure, attempts: int, redact: Callable[[str], str]) -> SkillevoError:
    """The error to raise for a call of the model `name` that failed for good."""
    text = redact(failure.text)
    status = f" (HTTP {failure.status})" if failure.status else ""
    if failure.kind is Kind.TOO_LONG:
        return TaskError(f"the conversation is too long for {name}: {text}")
    if failure.kind in (Kind.REFUSED, Kind.PARAMETER):
        return ConfigError(f"{name} refuses the request{status}: {text}{_advice(failure.status)}")
    if failure.kind is Kind.LASTING:
        return InfrastructureError(f"{name} gives no answer for now{status}: {text}")
    asked = f"; it asks to wait {failure.wait:g} seconds" if failure.wait else ""
    times = "1 attempt" if attempts == 1 else f"{attempts} attempts"
    return InfrastructureError(f"{name} gave no answer in {times}{status}: {text}{asked}")


def _advice(status: int | None) -> str:
    if status in (401, 403):
        return ". Check the key in the environment, and what it may use"
    return ". Check the name of the model" if status == 404 else ""
