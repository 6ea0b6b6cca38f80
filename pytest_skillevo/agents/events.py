"""What a command-line agent says on its standard output: one JSON object a line (docs/agents.md).

    {"type": "message", "role": "assistant", "content": "..."}
    {"type": "tool_call", "name": "...", "arguments": {...}, "id"?: "..."}
    {"type": "tool_result", "content": "...", "id"?: "..."}
    {"type": "skill", "name": "...", "digest": "..." or "text": "..."}      it read a skill
    {"type": "result", "answer": "...", "usage": {"input_tokens": N, "output_tokens": N, "usd": "0.01"}}   once, last

A figure of the usage may be null, which says that it is unknown; leaving it out is an error, as missing is not zero.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from ..core.canonical import no_constant
from ..core.errors import InfrastructureError
from ..core.records import Message, Usage

#: More is no count of tokens.
_MOST: Final = 10**12
_FIGURES: Final = ("input_tokens", "output_tokens", "usd")


@dataclass(slots=True)
class Heard:
    """What was said so far."""

    messages: list[Message] = field(default_factory=list)
    #: (name, digest, text) of every skill that it says to have read.
    skills: list[tuple[str, str | None, str | None]] = field(default_factory=list)
    answer: str | None = None
    usage: Usage = field(default_factory=Usage)
    stop_reason: str = "answered"
    turns: int = 0

    def hear(self, line: bytes, number: int) -> None:
        """Take in one line. Raises InfrastructureError naming the line for anything that is no event."""
        if not line.strip():
            return
        try:
            event = json.loads(line.decode("utf-8"), parse_constant=no_constant)
        except (ValueError, RecursionError) as error:
            raise _broken(
                number, f"is no JSON in UTF-8 ({error}): events only, other output to standard error"
            ) from None
        kind = event.get("type") if isinstance(event, dict) else None
        if self.answer is not None:
            raise _broken(number, "comes after the result, which must be the last event")
        if not isinstance(kind, str) or (take := _TAKES.get(kind)) is None:
            raise _broken(number, f"must be an object with a type of {', '.join(_TAKES)}")
        take(self, event, number)

    def _message(self, event: Mapping[str, Any], number: int) -> None:
        role = _text(event, "role", number)
        if role not in ("system", "user", "assistant"):
            raise _broken(number, "has a role that is none of system, user, assistant")
        self.turns += role == "assistant"
        self.messages.append({"role": role, "content": _text(event, "content", number)})

    def _tool_call(self, event: Mapping[str, Any], number: int) -> None:
        arguments = event.get("arguments", {})
        shown = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        function = {"name": _text(event, "name", number), "arguments": shown}
        call = {"id": str(event.get("id", f"call_{number}")), "type": "function", "function": function}
        self.messages.append({"role": "assistant", "content": "", "tool_calls": [call]})

    def _tool_result(self, event: Mapping[str, Any], number: int) -> None:
        content = event.get("content")
        shown = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        self.messages.append({"role": "tool", "tool_call_id": str(event.get("id", "")), "content": shown})

    def _skill(self, event: Mapping[str, Any], number: int) -> None:
        digest, text = event.get("digest"), event.get("text")
        if not all(value is None or isinstance(value, str) for value in (digest, text)) or (digest or text) is None:
            raise _broken(number, "must tell the skill's digest or the text that was read")
        self.skills.append((_text(event, "name", number), digest, text))

    def _result(self, event: Mapping[str, Any], number: int) -> None:
        usage = event.get("usage")
        if not isinstance(usage, dict) or (missing := [name for name in _FIGURES if name not in usage]):
            lacks = "" if not isinstance(usage, dict) else f" (it lacks {', '.join(missing)})"
            raise _broken(number, f"needs a usage with {', '.join(_FIGURES)}, null where unknown{lacks}")
        counts = [_count(usage, name, number) for name in _FIGURES[:2]]
        self.usage = Usage(counts[0], counts[1], None, None, _money(usage["usd"], number))
        self.stop_reason = str(event.get("stop_reason", "answered"))
        self.answer = _text(event, "answer", number)


_TAKES: Final = {
    "message": Heard._message,
    "tool_call": Heard._tool_call,
    "tool_result": Heard._tool_result,
    "skill": Heard._skill,
    "result": Heard._result,
}


def _broken(number: int, what: str) -> InfrastructureError:
    return InfrastructureError(f"line {number} of its output {what}")


def _text(event: Mapping[str, Any], key: str, number: int) -> str:
    value = event.get(key)
    if not isinstance(value, str):
        raise _broken(number, f"needs the text {key!r}")
    return value


def _count(usage: Mapping[str, Any], key: str, number: int) -> int | None:
    value = usage[key]
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST):
        return value
    raise _broken(number, f"has {key} {value!r}: a whole number of at least 0, or null")


def _money(value: Any, number: int) -> Decimal | None:
    if value is None:
        return None
    try:
        money = Decimal(str(value))
    except InvalidOperation:
        money = Decimal("NaN")
    if isinstance(value, bool) or not money.is_finite() or not 0 <= money < _MOST:
        raise _broken(number, f"has usd {value!r}: an amount of at least 0, or null")
    return money
