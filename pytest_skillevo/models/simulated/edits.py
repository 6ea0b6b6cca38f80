"""Edits of one component of a skill, good and bad, in Markdown that keeps its list style and numbering."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import Final

from ...core.draws import draw, pick
from . import bank
from .complaints import Complaint
from .language import read_sentence, split_sentences
from .practices import STATED, Practice
from .words import Terms

_ITEM = re.compile(r"^(?P<indent>\s*)(?P<marker>[-*+•]|(?P<number>\d{1,3})(?P<dot>[.)]))(?P<gap>\s+)(?P<text>.*)$")

GOOD: Final = "good"
VAGUE: Final = "vague"
ENTITY: Final = "entity"
BLOATED: Final = "bloated"
HARMFUL: Final = "harmful"
INVALID: Final = "invalid"


@dataclass(frozen=True, slots=True)
class EditMix:
    """Shares of the kinds of edit; they need not add up to 1."""

    good: float = 0.55
    vague: float = 0.15
    entity: float = 0.10
    bloated: float = 0.10
    harmful: float = 0.05
    invalid: float = 0.05

    def kind(self, *key: str | int) -> str:
        """The kind of edit that a keyed draw gives."""
        shares = {field.name: getattr(self, field.name) for field in fields(self)}
        at = draw(*key) * sum(shares.values())
        for name, share in shares.items():
            at -= share
            if at < 0:
                return name
        return GOOD


def rule_for(complaint: Complaint, *key: str | int) -> str:
    """A good general rule against a complaint."""
    return filled(pick(bank.RULES[complaint.remedy], *key, "rule"), complaint)


def harmful_for(complaint: Complaint, *key: str | int) -> str:
    """A rule that makes the complaint worse."""
    return filled(pick(bank.HARMFUL[complaint.remedy], *key, "harmful"), complaint)


def entity_for(complaint: Complaint, fallback: str, *key: str | int) -> str:
    """The good rule, limited to one item of the feedback."""
    entity = complaint.entities[0] if complaint.entities else fallback
    rule = rule_for(complaint, *key)
    lowered = rule if rule[:2].isupper() or not rule[0].isalpha() else rule[0].lower() + rule[1:]
    return pick(bank.ENTITY, *key, "entity").format(entity=entity, rule=lowered)


def bloated_for(complaint: Complaint, *key: str | int) -> str:
    """The good rule in a flood of words."""
    sentences = sorted(bank.PADDING, key=lambda sentence: draw(*key, "padding", sentence))
    return " ".join([*sentences[:5], rule_for(complaint, *key), *sentences[5:], sentences[0]])


def filled(template: str, complaint: Complaint) -> str:
    """A phrase of the bank with the names of the complaint in its slots."""
    words = complaint.field.replace("_", " ") if complaint.field.count("_") > 1 else complaint.field
    text = template
    for slot, value in (("field", complaint.field), ("words", words), ("object", f"{complaint.field.split('_')[0]}s")):
        text = text.replace(f"{{{slot}}}", value)
    # A key keeps its spelling, even at the start of a sentence.
    return text if text.startswith(words) and words else text[0].upper() + text[1:]


def add_rule(text: str, rule: str, *, numbered: bool) -> str:
    """The component's text with one more list item in the style of its last; `numbered` decides if there is none."""
    lines = text.rstrip("\n").split("\n") if text.strip() else []
    tail = text[len(text.rstrip("\n")) :]
    items = [(place, match) for place, line in enumerate(lines) if (match := _ITEM.match(line))]
    top = [(place, match) for place, match in items if len(match["indent"]) == min(len(m["indent"]) for _, m in items)]
    if not top:
        marker = "1. " if numbered and not lines else "- "
        return "\n".join([*lines, *([""] if lines else []), f"{marker}{rule}"]) + tail
    place, last = top[-1]
    number = f"{int(last['number']) + 1}{last['dot']}" if last["number"] else last["marker"]
    end = place + 1
    while end < len(lines) and (lines[end].startswith((" ", "\t")) and lines[end].strip()):
        end += 1
    return "\n".join([*lines[:end], f"{last['indent']}{number}{last['gap']}{rule}", *lines[end:]]) + tail


def replace_rule(text: str, practice: Practice, rule: str, *, stated: bool, terms: Terms = ()) -> str | None:
    """The text with the first sentence that contradicts the practice (or states it) replaced; None if there is none."""
    lines = text.split("\n")
    for place, line in enumerate(lines):
        item = _ITEM.match(line)
        end = place + 1
        while item and end < len(lines) and lines[end].startswith((" ", "\t")) and not _ITEM.match(lines[end]):
            end += 1
        content = " ".join(part.strip() for part in [item["text"] if item else line, *lines[place + 1 : end]])
        sentences = split_sentences(content)
        for number, sentence in enumerate(sentences):
            says = practice.reads(read_sentence(sentence, terms=terms))
            if says is not None and (says == STATED) is stated:
                sentences[number] = rule
                start = line[: item.start("text")] if item else ""
                return "\n".join([*lines[:place], start + " ".join(sentences), *lines[end:]])
    return None
