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
from .prompts import json_section, section
from .reflection import Place, edited, topics
from .words import Terms

MISSED: Final = 0.10
NEEDLESS: Final = 0.03
#: Messages of a review that was asked for once.
FIRST_ROUND: Final = 2

_EMPTY: Final[dict[str, Any]] = {"skip_reason": None, "updates": [], "skills": [], "deletions": []}

#: How a session went from a failed call to a successful one, and what that teaches.
_RECOVERIES: Final = (("TIMEOUT", "retry"), ("RATE_LIMITED", "rate limit"), ("NO_DATA", "gap"))


def recognises(messages: Sequence[Message]) -> bool:
    """Whether this is a finished session to review."""
    return _request(messages) is not None


def reply(messages: Sequence[Message], *, seed: int, mix: EditMix, terms: Terms = ()) -> Reply:
    """The answer: JSON with the decision. Asked again after an answer that could not be used, it draws anew."""
    text = _request(messages) or ""
    outcome = json_section(text, "outcome", {})
    skills = [skill for skill in json_section(text, "skills", []) if isinstance(skill, dict)]
    transcript = [entry for entry in json_section(text, "transcript", []) if isinstance(entry, dict)]
    again = (len(messages),) if len(messages) > FIRST_ROUND else ()
    key = (VERSION, seed, digest(text), "review", *again)
    feedback = str(outcome.get("feedback") or "")
    taught = bool(read_complaints(feedback))
    idle = draw(*key, "missed") < MISSED if taught else draw(*key, "needless") >= NEEDLESS
    if idle:
        return _answer({"skip_reason": "nothing new was learned"})
    record = {"case": "this session", "feedback": feedback, "input": _task(transcript)}
    kind = mix.kind(*key, "kind")
    chosen = _skill_to_update(skills, record["input"])
    if chosen is None:
        return _created(record, transcript, kind, key, terms)
    return _updated(chosen, record, kind, key, terms)


def _request(messages: Sequence[Message]) -> str | None:
    """The message that holds the session; a demand to mend an answer may come after it."""
    texts = (str(message.get("content") or "") for message in messages if message.get("role") == "user")
    return next(
        (text for text in texts if all(section(text, tag) is not None for tag in ("skills", "transcript"))), None
    )


def _updated(
    skill: Mapping[str, Any], record: Mapping[str, Any], kind: str, key: tuple[str | int, ...], terms: Terms
) -> Reply:
    components = skill["components"]
    teaching = [name for name in components if name not in ("description", "when_to_use")]
    component = pick(teaching or ["steps"], *key, "component")
    known = "\n\n".join(map(str, components.values()))
    place = Place(str(components.get(component) or ""), numbered=component != "pitfalls")
    text, why = edited(place, known, [record], (), kind, key, terms)
    update = {"name": skill["name"], "reason": why, "component": component, "text": text}
    answer = {"updates": [update]}
    return _broken(answer, key) if kind == edits.INVALID else _answer(answer)


def _created(
    record: Mapping[str, Any],
    transcript: Sequence[Mapping[str, Any]],
    kind: str,
    key: tuple[str | int, ...],
    terms: Terms,
) -> Reply:
    about = topics([record], {})
    rules = [bank.RULES[name][0] for name in _recovered(transcript)]
    steps, _ = edited(Place("", numbered=True), "", [record], (), kind, key, terms)
    spec = {
        "name": "-".join(about.split(", ")[:3]) if stems(about) else "learned-skill",
        "description": pick(bank.DESCRIPTIONS, *key, "description").format(topics=about),
        "when_to_use": pick(bank.WHEN_TO_USE, *key, "when").format(topics=about),
        "steps": [_workflow(transcript), *(re.sub(r"^\d+\. ", "", line) for line in steps.splitlines())],
        "pitfalls": rules,
    }
    answer = {"skills": [spec]}
    return _broken(answer, key) if kind == edits.INVALID else _answer(answer)


def _workflow(transcript: Sequence[Mapping[str, Any]]) -> str:
    """The first step of a new skill: the tools of the session in the order of their first calls."""
    calls = [call for entry in transcript for call in entry.get("tool_calls") or () if isinstance(call, dict)]
    tools = list(dict.fromkeys(str(call.get("name")) for call in calls if call.get("name")))
    return f"The tools, in the order of the work: {', '.join(tools)}." if tools else "Read the whole task first."


def _skill_to_update(skills: Sequence[Mapping[str, Any]], task: str) -> Mapping[str, Any] | None:
    """The loaded skill; else the one whose description has most in common with the task, if it has anything."""
    usable = [
        skill
        for skill in skills
        if isinstance(skill.get("components"), dict)
        and isinstance(skill.get("name"), str)
        and not skill.get("read_only")
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


def _answer(decision: Mapping[str, Any]) -> Reply:
    return Reply(_json(_EMPTY | dict(decision)), (), "stop", NO_USAGE)


def _broken(decision: Mapping[str, Any], key: tuple[str | int, ...]) -> Reply:
    """Invalid output: broken JSON, two decisions, or an answer cut off at the length limit."""
    text = _json(_EMPTY | dict(decision))
    how = pick(("broken", "two decisions", "cut off"), *key, "invalid")
    if how == "two decisions":
        return Reply(f"{text}\n{_json({'skip_reason': 'or perhaps nothing'})}", (), "stop", NO_USAGE)
    if how == "cut off":
        return Reply(text[: 2 * len(text) // 3], (), "length", NO_USAGE)
    return Reply(text.rstrip("}"), (), "stop", NO_USAGE)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
