"""The reflection model: reads the real reflection prompt and edits one component of the skill.

Its shares of good and bad edits are those of EditMix: 55 % a good general rule, 15 % vague, 10 % for one item only,
10 % bloated, 5 % harmful, 5 % invalid output.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ...core.canonical import digest
from ...core.draws import draw, pick
from ...core.protocols import Reply
from ...core.records import NO_USAGE, Message
from . import bank, edits
from .attention import VERSION
from .complaints import Complaint, read_complaints
from .edits import EditMix
from .loading import stems
from .practices import STATED, read_statements
from .prompts import json_section, last_user, section
from .words import Terms

#: A complaint that the skill already answers, or whose remedy was refused before, is taken up less readily.
ANSWERED: Final = 0.15
REFUSED: Final = 0.5
#: How a prompt says that nothing may be taken out of a list of pitfalls.
_KEEP: Final = "keep every existing pitfall"
#: How many words of the tasks go into a description.
TOPICS: Final = 5


def recognises(messages: Sequence[Message]) -> bool:
    """Whether this is a request to improve one component."""
    text = last_user(messages)
    return all(section(text, tag) is not None for tag in ("component", "skill", "records"))


def reply(messages: Sequence[Message], *, seed: int, mix: EditMix, terms: Terms = ()) -> Reply:
    """The answer: JSON with the whole new text of the component."""
    text = last_user(messages)
    component = section(text, "component") or ""
    skill = json_section(text, "skill", {})
    records = [record for record in json_section(text, "records", []) if isinstance(record, dict)]
    refused = [item for item in json_section(text, "rejected", []) if isinstance(item, dict)]
    components = skill.get("components")
    current = str(components.get(component) or "") if isinstance(components, dict) else ""
    key = (VERSION, seed, digest(text), "reflection")
    kind = mix.kind(*key, "kind")
    if component in ("description", "when_to_use"):
        new, why = _about(component, topics(records, skill), records, kind, key)
    else:
        known = "\n\n".join(map(str, components.values())) if isinstance(components, dict) else ""
        add_only = component == "pitfalls" and _KEEP in str(messages[0].get("content") or "")
        place = Place(current, numbered=component != "pitfalls", add_only=add_only)
        new, why = edited(place, known, records, refused, kind, key, terms)
    answer = {"component": component, "text": new, "rationale": why}
    return broken(answer, key) if kind == edits.INVALID else Reply(_json(answer), (), "stop", NO_USAGE)


@dataclass(frozen=True, slots=True)
class Place:
    """Where an edit goes: the component's text, whether a new list is numbered, whether all that is there must stay."""

    text: str
    numbered: bool
    add_only: bool = False

    def adding(self, rule: str) -> str:
        """The text with one more rule."""
        return edits.add_rule(self.text, rule, numbered=self.numbered)


def edited(
    place: Place,
    known: str,
    records: Sequence[Mapping[str, Any]],
    refused: Sequence[Mapping[str, Any]],
    kind: str,
    key: tuple[str | int, ...],
    terms: Terms = (),
) -> tuple[str, str]:
    """The new text of a component that teaches the method, and why. `known` is all that the skill says so far."""
    complaint = choose(records, known, refused, key, terms)
    if complaint is None:
        return place.adding(pick(bank.VAGUE, *key, "vague")), "nothing went wrong"
    why = f"the feedback complains of: {complaint.practice.name}"
    if kind == edits.VAGUE:
        return place.adding(pick(bank.VAGUE, *key, "vague")), why
    if kind == edits.ENTITY:
        return place.adding(edits.entity_for(complaint, _fallback(records), *key)), why
    harmful = kind == edits.HARMFUL
    make = edits.harmful_for if harmful else edits.bloated_for if kind == edits.BLOATED else edits.rule_for
    rule = make(complaint, *key)
    # A good rule takes the place of its opposite, a harmful one the place of the good rule.
    replaced = (
        None
        if place.add_only
        else edits.replace_rule(place.text, complaint.practice, rule, stated=harmful, terms=terms)
    )
    return place.adding(rule) if replaced is None else replaced, why


def choose(
    records: Sequence[Mapping[str, Any]],
    known: str,
    refused: Sequence[Mapping[str, Any]],
    key: tuple[str | int, ...],
    terms: Terms = (),
) -> Complaint | None:
    """One complaint by a keyed draw, weighted by how many records raise it."""
    raised: Counter[tuple[str, str]] = Counter()
    first: dict[tuple[str, str], Complaint] = {}
    for record in records:
        for complaint in read_complaints(str(record.get("feedback") or "")):
            raised[complaint.key] += complaint.weight
            first.setdefault(complaint.key, complaint)
    weights = {name: raised[name] * _interest(first[name], known, refused, terms) for name in raised}
    at = draw(*key, "complaint") * sum(weights.values())
    for name, weight in weights.items():
        at -= weight
        if at < 0:
            return first[name]
    return None


def _interest(complaint: Complaint, known: str, refused: Sequence[Mapping[str, Any]], terms: Terms) -> float:
    practice = complaint.practice
    said = [statement.says for statement in read_statements(known, (practice,), terms) if not statement.scope]
    answered = STATED in said and all(says == STATED for says in said)
    before = sum(bool(read_statements(str(item.get("text") or ""), (practice,), terms)) for item in refused)
    return (ANSWERED if answered else 1.0) * REFUSED ** min(before, 3)


def _fallback(records: Sequence[Mapping[str, Any]]) -> str:
    """A name that stands in the evidence, for a rule that holds for one item only."""
    raised = [complaint for record in records for complaint in read_complaints(str(record.get("feedback") or ""))]
    named = (entity for complaint in raised for entity in complaint.entities)
    return next(named, str(records[0].get("case") or "case-1") if records else "case-1")


def topics(records: Sequence[Mapping[str, Any]], skill: Mapping[str, Any]) -> str:
    """Words that the tasks of all records share, the most frequent first; without inputs, words of the skill itself."""
    texts = [text for record in records if (text := str(record.get("input") or ""))]
    if not texts:
        components = skill.get("components")
        own = components if isinstance(components, dict) else {}
        texts = [" ".join(str(own.get(name) or "") for name in ("description", "when_to_use"))]
    shared = frozenset.intersection(*(stems(text) for text in texts))
    words = [word for text in texts for word in re.findall(r"[a-z]{4,}", text.lower()) if stems(word) & shared]
    ranked = [word for word, _ in Counter(words).most_common()]
    return ", ".join(ranked[:TOPICS]) or "such tasks"


def _about(
    component: str, subject: str, records: Sequence[Mapping[str, Any]], kind: str, key: tuple[str | int, ...]
) -> tuple[str, str]:
    """A new description or when-to-use: it says what the tasks are about, or in bad edits too little or too much."""
    if kind in (edits.VAGUE, edits.HARMFUL):
        return pick(bank.VAGUE_DESCRIPTIONS, *key, "about"), "shorter"
    templates = bank.DESCRIPTIONS if component == "description" else bank.WHEN_TO_USE
    text = pick(templates, *key, "about").format(topics=_fallback(records) if kind == edits.ENTITY else subject)
    return (f"{text} {' '.join(bank.PADDING[:4])}" if kind == edits.BLOATED else text), "says what the tasks are about"


def broken(answer: Mapping[str, Any], key: tuple[str | int, ...]) -> Reply:
    """Invalid output: broken JSON, an answer for two components, or an answer cut off at the length limit."""
    text = _json(answer)
    how = pick(("broken", "two components", "cut off"), *key, "invalid")
    if how == "two components":
        other = "pitfalls" if answer["component"] != "pitfalls" else "steps"
        return Reply(_json([answer, {**answer, "component": other}]), (), "stop", NO_USAGE)
    if how == "cut off":
        return Reply(text[: 2 * len(text) // 3], (), "length", NO_USAGE)
    return Reply(text.rstrip("}"), (), "stop", NO_USAGE)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
