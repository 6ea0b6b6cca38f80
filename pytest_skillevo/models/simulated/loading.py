"""Whether a skill of the index is loaded: what its name and description have in common with the task."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from ...core.draws import draw
from ...core.records import Message
from .attention import VERSION
from .language import word_set

LOAD_TOOL: Final = "skill_load"

_ENTRY = re.compile(r"^- (?P<name>[^:\s][^:]*?)(?::\s*(?P<description>.*))?$")
_WORD = re.compile(r"[a-z]{3,}")
_COMMON = word_set(
    "the and for with that this from into when use uses used using skill skills task tasks work works help helps any "
    "all are has have its their them they you your one two other not but can how what which while each every more most "
    "some such than then there these those will would about after before over under out per via also only just very "
    "well things thing various general good better best make makes made need needs get gets do does done write"
)
#: Chance of loading by the number of word stems in common; the last entry holds for more.
CHANCE: Final = (0.03, 0.35, 0.70, 0.90, 0.97, 0.98)


class Entry(NamedTuple):
    """One line of the skill index."""

    name: str
    description: str


def stem(word: str) -> str:
    """A crude stem: plural, gerund and past endings off, enough to compare a description with a task."""
    for ending in ("ations", "ation", "ings", "ing", "ers", "er", "ies", "ied", "es", "ed", "s", "y", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: len(word) - len(ending)]
    return word


@lru_cache(maxsize=512)
def stems(text: str) -> frozenset[str]:
    """The stems of the words that carry meaning."""
    return frozenset(stem(word) for word in _WORD.findall(text.lower()) if word not in _COMMON)


def read_index(messages: Sequence[Message]) -> tuple[Entry, ...]:
    """The skills that the system prompt lists under "## Skills"."""
    entries: list[Entry] = []
    for message in messages:
        if message.get("role") != "system":
            continue
        inside = False
        for line in str(message.get("content") or "").splitlines():
            if line.startswith("#"):
                inside = line.strip() == "## Skills"
            elif inside and (match := _ENTRY.match(line)):
                entries.append(Entry(match["name"].strip(), (match["description"] or "").strip()))
    return tuple(entries)


def chance_of_loading(entry: Entry, prompt: str) -> float:
    """The probability that an agent loads this skill for this task."""
    shared = len(stems(f"{entry.name} {entry.description}".replace("-", " ")) & stems(prompt))
    return CHANCE[min(shared, len(CHANCE) - 1)]


def skills_to_load(index: Sequence[Entry], prompt: str, prompt_digest: str, seed: int) -> tuple[str, ...]:
    """The names of the skills that the agent loads, in the order of the index."""
    return tuple(
        entry.name
        for entry in index
        if draw(VERSION, seed, prompt_digest, "load", entry.name) < chance_of_loading(entry, prompt)
    )


def content_of(answer: Mapping[str, Any]) -> str:
    """The skill text in an answer of skill_load; "" if the call failed."""
    content = answer.get("content")
    return content if answer.get("success") and isinstance(content, str) else ""
