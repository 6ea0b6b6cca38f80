"""The Reviewer's answer: parsed strictly, refused with a reason, applied to the skills it was shown."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NoReturn, TypeAlias, cast

from ..errors import SkillError
from ..skill import Skill, SkillSpec, slug

Action: TypeAlias = Literal["skip", "create", "update"]

#: Characters; longer answers and parts are refused, never cut: half a rule may say the opposite.
MAX_REPLY: Final = 60_000
MAX_TEXT: Final = 20_000
MAX_LINE: Final = 2_000
MAX_ITEMS: Final = 60

_FENCE: Final = re.compile(r"\A```(?:json)?[ \t]*\n(.*?)\n?```\Z", re.DOTALL | re.IGNORECASE)

#: What a structured answer must look like; given to models that take a response schema.
SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "action": {"type": "string", "enum": ["skip", "create", "update"]},
        "reason": {"type": "string"},
        "skill": {"type": ["string", "null"]},
        "component": {"type": ["string", "null"]},
        "text": {"type": ["string", "null"]},
        "spec": {
            "type": ["object", "null"],
            "properties": {
                "description": {"type": "string"},
                "when_to_use": {"type": "string"},
                "steps": {"type": "array", "items": {"type": "string"}},
                "pitfalls": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["description", "when_to_use", "steps", "pitfalls"],
            "additionalProperties": False,
        },
    },
    "required": ["action", "reason", "skill", "component", "text", "spec"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class ReviewDecision:
    """What the Reviewer wants: nothing, one component of one skill replaced by a text, or a new skill."""

    action: Action
    reason: str
    skill: str = ""
    component: str = ""
    text: str = ""
    spec: SkillSpec | None = None


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why an answer of the Reviewer is no decision; one sentence."""

    reason: str


class _Invalid(Exception):
    """The sentence of a Rejection."""


def parse(reply: str, finish_reason: str = "stop") -> ReviewDecision | Rejection:
    """The decision in a reply: one JSON object, bare or in one code fence, with nothing around it and nothing repaired.

    A reply that was cut off is refused even if it happens to parse.
    """
    try:
        if finish_reason in ("length", "content_filter"):
            raise _Invalid(f"the answer was cut off ({finish_reason})")
        return _decision(_object(reply))
    except _Invalid as problem:
        return Rejection(str(problem))


def _object(reply: str) -> Mapping[str, Any]:
    if len(reply) > MAX_REPLY:
        raise _Invalid(f"the answer has {len(reply)} characters; at most {MAX_REPLY} are read")
    text = reply.strip()
    fenced = _FENCE.match(text)
    try:
        value = json.loads(fenced[1] if fenced else text, parse_constant=_no_constant, object_pairs_hook=_no_repeats)
    except (ValueError, RecursionError):
        raise _Invalid("the answer is not one JSON object") from None
    if not isinstance(value, dict):
        raise _Invalid("the answer is not one JSON object")
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) != len(pairs):
        raise _Invalid("the answer gives a key twice")
    return dict(pairs)


def _decision(data: Mapping[str, Any]) -> ReviewDecision:
    if strange := sorted(set(data) - set(SCHEMA["properties"])):
        raise _Invalid(f"the answer has unknown keys: {', '.join(strange)[:200]}")
    action = data.get("action")
    reason = _text(data, "reason", MAX_LINE, blank=True)
    if action == "skip":
        _absent(data, "component", "text", "spec")
        return ReviewDecision("skip", reason)
    if action not in ("create", "update"):
        raise _Invalid("the action must be skip, create or update")
    skill = _text(data, "skill", MAX_LINE)
    if action == "update":
        _absent(data, "spec")
        text = _text(data, "text", MAX_TEXT, blank=True)
        return ReviewDecision("update", reason, skill, _text(data, "component", MAX_LINE), text)
    _absent(data, "component", "text")
    return ReviewDecision("create", reason, skill, spec=_spec(slug(skill), data.get("spec")))


def _absent(data: Mapping[str, Any], *keys: str) -> None:
    for key in keys:
        if data.get(key) is not None:
            raise _Invalid(f"{data['action']} takes no {key}")


def _text(data: Mapping[str, Any], key: str, limit: int, *, blank: bool = False) -> str:
    value = data.get(key)
    if value is None and blank and key == "reason":
        return ""
    if not isinstance(value, str):
        raise _Invalid(f"{key} must be text")
    if not blank and not value.strip():
        raise _Invalid(f"{key} is empty")
    if len(value) > limit:
        raise _Invalid(f"{key} has {len(value)} characters; at most {limit} are allowed")
    return value if key == "text" else value.strip()


def _spec(name: str, value: Any) -> SkillSpec:
    if not isinstance(value, dict):
        raise _Invalid("create needs a spec")
    description = _text(value, "description", MAX_LINE)
    when = _text(value, "when_to_use", MAX_LINE)
    steps, pitfalls = _items(value, "steps"), _items(value, "pitfalls")
    if not steps:
        raise _Invalid("a new skill needs at least one step")
    return SkillSpec(name, description, when, steps, pitfalls)


def _items(value: Mapping[str, Any], key: str) -> tuple[str, ...]:
    items = value.get(key)
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise _Invalid(f"{key} must be a list of texts")
    if len(items) > MAX_ITEMS or any(len(item) > MAX_LINE for item in items):
        raise _Invalid(f"{key} is too long: at most {MAX_ITEMS} items of {MAX_LINE} characters")
    return tuple(item.strip() for item in cast("list[str]", items) if item.strip())


def apply(decision: ReviewDecision, skills: Sequence[Skill]) -> Skill | None:
    """The changed or new skill; None when nothing changes.

    Raises SkillError when the decision does not fit the skills: unknown or existing name, unknown component, a text
    that the component cannot hold.
    """
    if decision.action == "skip":
        return None
    named = {skill.name: skill for skill in skills}
    if decision.action == "create":
        return _created(decision, named)
    if decision.skill not in named:
        raise SkillError(f"the Reviewer wants to update {decision.skill!r}, which it was not shown")
    before = named[decision.skill]
    after = before.with_component(decision.component, decision.text)
    return None if after.digest == before.digest else after


def _created(decision: ReviewDecision, named: Mapping[str, Skill]) -> Skill:
    assert decision.spec is not None
    taken = named.get(decision.spec.name)
    if taken is not None and taken.exists:
        raise SkillError(f"the Reviewer wants to create {decision.spec.name!r}, which exists already")
    return Skill.create(decision.spec)
