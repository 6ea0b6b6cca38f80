"""Reading the reflection model's answer strictly: a doubtful answer is rejected with its reason, never repaired.

A truncated answer that is adopted becomes the next parent, and its damage is inherited (spec/gepa.md part 5, 7).
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

from ..canonical import no_constant

#: Bytes of an answer; more means a runaway stream.
MAX_ANSWER_BYTES: Final = 262_144

_FENCE: Final = re.compile(r"[ \t]*(`{3,}|~{3,})[^`\n]*", re.ASCII)


class Rejection(Exception):
    """A proposal that is not taken, with the reason as a sentence. It never leaves the engine."""

    def __init__(self, reason: str, text: str = "", rationale: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        #: The proposed text and its rationale, as far as they could be read.
        self.text = text
        self.rationale = rationale


@dataclass(frozen=True, slots=True)
class Proposal:
    """A new text for one component."""

    component: str
    text: str
    rationale: str


def parse_answer(text: str, finish_reason: str, component: str, components: Collection[str]) -> Proposal:
    """The proposal in an answer for `component`, one of the skill's `components`. Raises Rejection."""
    if finish_reason != "stop":
        raise Rejection(f"the answer did not come to its end (finish reason '{finish_reason}')")
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_ANSWER_BYTES:
        raise Rejection(f"the answer has {size} bytes, more than {MAX_ANSWER_BYTES}")
    answer = _read_object(_unfenced(text))
    named = answer.get("component")
    if isinstance(named, list) or any(name in components for name in answer):
        raise Rejection(f"the answer changes several components, but only '{component}' was asked for")
    if named != component:
        raise Rejection(f"the answer is for the component {named!r}, but '{component}' was asked for")
    new = answer.get("text")
    if not isinstance(new, str):
        raise Rejection(f"the answer's 'text' is no string but {_kind(new)}")
    rationale = answer.get("rationale", "")
    if not isinstance(rationale, str):
        raise Rejection(f"the answer's 'rationale' is no string but {_kind(rationale)}", new)
    if not new.strip():
        raise Rejection("the answer's 'text' is empty", "", rationale)
    return Proposal(component, new, rationale)


def _unfenced(text: str) -> str:
    """The text inside the one code fence around the answer, or the whole text when there is none.

    JSON strings hold no line ends, so a line that starts with a fence is never part of a string.
    """
    lines = text.strip().split("\n")
    fences = [i for i, line in enumerate(lines) if _FENCE.match(line)]
    if not fences:
        return "\n".join(lines)
    if len(fences) % 2:
        raise Rejection("a code fence around the answer is not closed: the answer may be cut off")
    if fences != [0, len(lines) - 1]:
        raise Rejection("the answer is not one JSON object: there is text or a second block around it")
    return "\n".join(lines[1:-1])


def _read_object(text: str) -> dict[str, Any]:
    try:
        answer = json.loads(text, object_pairs_hook=_unique, parse_constant=no_constant)
    except (ValueError, RecursionError):
        raise Rejection("the answer is not one JSON object") from None
    if not isinstance(answer, dict):
        raise Rejection(f"the answer is no JSON object but {_kind(answer)}")
    return answer


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Rejection("the answer gives a key twice")
    return found


def _kind(value: Any) -> str:
    names = {bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "a list", dict: "an object"}
    return "missing" if value is None else names[type(value)]
