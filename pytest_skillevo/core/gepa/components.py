"""Which component a proposal may change, and the form of the components that are lists."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from ..errors import ConfigError
from ..records import Evaluation
from ..skill import Skill
from ..skill.markdown import scan
from ..skill.spec import read_pitfalls
from ..suggest import did_you_mean
from .prompt import Attempt

#: The reference's order (spec/gepa.md 1.6).
STRUCTURED_ORDER: Final = ("steps", "pitfalls", "when_to_use", "description")
#: Components of a structured skill that hold a list.
LISTS: Final = ("steps", "pitfalls")

_BARE_MARKER: Final = re.compile(r"[ \t]*(?:[-*+•]|\d{1,9}[.)])[ \t]*")
_NUMBERED: Final = re.compile(r"(?P<number>\d{1,9})(?P<sign>[.)])[ \t]+")
_BULLET: Final = re.compile(r"(?P<lead>[ \t]*[-*+•])[ \t]+")


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of a parent when a component has to be chosen."""

    #: (case id, evaluation) of the parent on the minibatch.
    records: Sequence[tuple[str, Evaluation]]
    #: Latest rejected proposals of the parent, oldest first.
    rejected: Sequence[Attempt]


class ComponentSelector(Protocol):
    """Chooses the component to change, or several."""

    def __call__(self, skill: Skill, cursor: int, evidence: Evidence) -> str | Sequence[str]:
        """Names of components; `cursor` counts the proposals made so far from this skill and its ancestors."""


def component_cycle(skill: Skill) -> tuple[str, ...]:
    """The components in the order in which they are tried, then again from the start.

    Structured skills and those that do not exist yet: STRUCTURED_ORDER. Free-form ones: what the body holds in document
    order, then the description. Other fields of the frontmatter are no components and never change.
    """
    if skill.spec is not None:
        return STRUCTURED_ORDER
    body = tuple(name for name in skill.components if name != "description")
    return (*(body or ("preamble",)), "description")


def check_frozen(skill: Skill, frozen: Collection[str]) -> None:
    """Raise ConfigError for names of no component, and when nothing is left to change."""
    known = dict.fromkeys((*component_cycle(skill), *skill.components))
    for name in frozen:
        if name not in known:
            hint = did_you_mean(name, known) or f"It has {', '.join(known)}."
            raise ConfigError(f"the skill '{skill.name}' has no component '{name}' that could be frozen. {hint}")
    if all(name in frozen for name in component_cycle(skill)):
        raise ConfigError(f"every component of the skill '{skill.name}' is frozen: nothing is left to improve")


def round_robin(skill: Skill, cursor: int, evidence: Evidence | None = None) -> str:
    """The component at a cursor that counts the proposals made from this skill and, before it, from its ancestors."""
    cycle = component_cycle(skill)
    return cycle[cursor % len(cycle)]


def all_components(skill: Skill, cursor: int, evidence: Evidence | None = None) -> tuple[str, ...]:
    """Every component, each in a reflection of its own."""
    return component_cycle(skill)


def blamed_component(skill: Skill, cursor: int, evidence: Evidence) -> str:
    """The component that the feedback of failing cases speaks of most, by its name and by shared words.

    Every rejected proposal for a component halves its share, so that a search does not insist; when the feedback blames
    none, or several alike, the order of `round_robin` decides.
    """
    cycle = component_cycle(skill)
    start = cursor % len(cycle)
    feedback = " ".join(evaluation.feedback for _, evaluation in evidence.records if evaluation.score < 1)
    words = _long_words(feedback)
    best, share = cycle[start], 0.0
    for name in (*cycle[start:], *cycle[:start]):
        named = 3 * len(words & _long_words(name.replace("_", " ").replace(":", " ")))
        blame = (named + len(words & _long_words(skill.components.get(name, "")))) * 0.5 ** sum(
            attempt.component == name for attempt in evidence.rejected
        )
        if blame > share:
            best, share = name, blame
    return best


def _long_words(text: str) -> set[str]:
    # Without a final s, so that "pitfall" and "pitfalls" are one word.
    return {word.rstrip("s") for word in re.findall(r"\w{4,}", text.casefold())}


def is_list(skill: Skill, component: str) -> bool:
    """Whether the component holds list items that the engine may tidy and count."""
    return skill.spec is not None and component in LISTS


def tidy_list(text: str) -> str:
    """A list as a model wrote it, without items that are blank, and with single spaces after the markers.

    Numbers are given anew when an item was dropped. Code blocks stay as they are.
    """
    lines = text.split("\n")
    code = scan(lines).code
    kept: list[str] = []
    dropped = False
    number = 0
    for i, line in enumerate(lines):
        if code[i]:
            kept.append(line)
            continue
        if _BARE_MARKER.fullmatch(line) and not _continues(lines, i):
            dropped = True
            continue
        if match := _NUMBERED.match(line):
            number += 1
            shown = str(number) if dropped else match["number"]
            line = f"{shown}{match['sign']} {line[match.end() :]}"
        kept.append(_BULLET.sub(r"\g<lead> ", line.rstrip(), count=1) if _BULLET.match(line) else line.rstrip())
    return "\n".join(kept)


def dropped_items(before: str, after: str) -> tuple[str, ...]:
    """The items of a pitfalls list that no item of the new list holds; case, blanks and the last stop do not count."""
    new = [_plain(item) for item in read_pitfalls(after)]
    return tuple(item for item in read_pitfalls(before) if not any(_plain(item) in candidate for candidate in new))


def _continues(lines: list[str], marker: int) -> bool:
    """Whether the text of an item starts on the line below its marker."""
    below = lines[marker + 1] if marker + 1 < len(lines) else ""
    indent = len(lines[marker]) - len(lines[marker].lstrip())
    return bool(below.strip()) and len(below) - len(below.lstrip()) > indent and not _BARE_MARKER.fullmatch(below)


def _plain(item: str) -> str:
    return " ".join(item.casefold().split()).rstrip(".!;")
