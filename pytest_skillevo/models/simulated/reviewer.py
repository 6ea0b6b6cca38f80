"""The Reviewer: reads the real review prompt and decides to skip, to update a skill or to create one.

Error rates, besides those of EditMix: of sessions that teach something it skips MISSED, of flawless sessions it
still edits NEEDLESS.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ...core.canonical import digest
from ...core.draws import draw, pick
from ...core.protocols import Reply
from ...core.records import NO_USAGE, Message
from . import bank, edits
from .attention import VERSION
from .complaints import read_complaints
from .edits import EditMix
from .loading import stems
from .prompts import json_section, last_user, section
from .reflection import Place, broken, edited, topics

MISSED: Final = 0.10
NEEDLESS: Final = 0.03

#: How a session went from a failed call to a successful one, and what that teaches.
_RECOVERIES: Final = (("TIMEOUT", "retry"), ("RATE_LIMITED", "rate limit"), ("NO_DATA", "gap"))


def recognises(messages: Sequence[Message]) -> bool:
    """Whether this is a finished session to review."""
    text = last_user(messages)
    return all(section(text, tag) is not None for tag in ("outcome", "skills", "transcript"))


def reply(messages: Sequence[Message], *, seed: int, mix: EditMix) -> Reply:
    """The answer: JSON with the decision."""
    text = last_user(messages)
    outcome = json_section(text, "outcome", {})
    skills = [skill for skill in json_section(text, "skills", []) if isinstance(skill, dict)]
    transcript = [entry for entry in json_section(text, "transcript", []) if isinstance(entry, dict)]
    key = (VERSION, seed, digest(text), "review")
    feedback = str(outcome.get("feedback") or "")
    taught = bool(read_complaints(feedback))
    idle = draw(*key, "missed") < MISSED if taught else draw(*key, "needless") >= NEEDLESS
    if idle:
        return _answer("skip", "nothing new was learned")
    record = {"case": "this session", "feedback": feedback, "input": _task(transcript)}
    kind = mix.kind(*key, "kind")
    chosen = _skill_to_update(skills, record["input"])
    if chosen is None:
        return _created(record, transcript, kind, key)
    return _updated(chosen, record, kind, key)


def _updated(skill: Mapping[str, Any], record: Mapping[str, Any], kind: str, key: tuple[str | int, ...]) -> Reply:
    components = skill["components"]
    teaching = [name for name in components if name not in ("description", "when_to_use")]
    component = pick(teaching or ["steps"], *key, "component")
    known = "\n\n".join(map(str, components.values()))
    place = Place(str(components.get(component) or ""), numbered=component != "pitfalls")
    text, why = edited(place, known, [record], (), kind, key)
    answer = {
        "action": "update",
        "reason": why,
        "skill": skill["name"],
        "component": component,
        "text": text,
        "spec": None,
    }
    return broken(answer, key) if kind == edits.INVALID else Reply(_json(answer), (), "stop", NO_USAGE)


def _created(
    record: Mapping[str, Any], transcript: Sequence[Mapping[str, Any]], kind: str, key: tuple[str | int, ...]
) -> Reply:
    about = topics([record], {})
    rules = [bank.RULES[name][0] for name in _recovered(transcript)]
    steps, _ = edited(Place("", numbered=True), "", [record], (), kind, key)
    spec = {
        "description": pick(bank.DESCRIPTIONS, *key, "description").format(topics=about),
        "when_to_use": pick(bank.WHEN_TO_USE, *key, "when").format(topics=about),
        "steps": [re.sub(r"^\d+\. ", "", line) for line in steps.splitlines()],
        "pitfalls": rules,
    }
    name = "-".join(sorted(stems(about))[:3]) or "learned-skill"
    answer = {
        "action": "create",
        "reason": "no skill covers this kind of task",
        "skill": name,
        "component": None,
        "text": None,
        "spec": spec,
    }
    return broken(answer, key) if kind == edits.INVALID else Reply(_json(answer), (), "stop", NO_USAGE)


def _skill_to_update(skills: Sequence[Mapping[str, Any]], task: str) -> Mapping[str, Any] | None:
    """The loaded skill; else the one whose description has most in common with the task, if it has anything."""
    usable = [
        skill for skill in skills if isinstance(skill.get("components"), dict) and isinstance(skill.get("name"), str)
    ]
    loaded = [skill for skill in usable if skill.get("loaded")]
    if loaded:
        return loaded[0]
    shared = [len(stems(f"{s['name']} {s.get('description') or ''}".replace("-", " ")) & stems(task)) for s in usable]
    best = max(range(len(usable)), key=lambda place: shared[place], default=None)
    return usable[best] if best is not None and shared[best] else None


def _recovered(transcript: Sequence[Mapping[str, Any]]) -> list[str]:
    """Remedies for the failures that the session met and overcame."""
    answers = [str(entry.get("content") or "") for entry in transcript if entry.get("role") == "tool"]
    found = []
    for code, remedy in _RECOVERIES:
        failed = next((place for place, answer in enumerate(answers) if f'"{code}"' in answer), None)
        if failed is not None and any(
            '"success": true' in answer or '"success":true' in answer for answer in answers[failed:]
        ):
            found.append(remedy)
    return found


def _task(transcript: Sequence[Mapping[str, Any]]) -> str:
    return next((str(entry.get("content") or "") for entry in transcript if entry.get("role") == "user"), "")


def _answer(action: str, reason: str) -> Reply:
    empty = {"skill": None, "component": None, "text": None, "spec": None}
    return Reply(_json({"action": action, "reason": reason, **empty}), (), "stop", NO_USAGE)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
