"""How a SKILL.md body divides into components, and how one of them is replaced while all other lines stay.

Rules (design, "Structured or free-form"): a skill is structured when, among the headings of one level, one is
recognised as when-to-use and one as steps; pitfalls are optional. Sections reach to the next heading of that level or
higher; deeper headings belong to the section. In a free-form body the sections are those of the level below the title,
or of the highest level if there is no title. The title is no part of any component.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from .markdown import Heading, is_blank, line_end, scan, trimmed, universal
from .roles import ROLES, TITLES, Role, find_roles

PREAMBLE: Final = "preamble"
#: Level of the sections in documents that this project creates; the title is level 1.
OWN_LEVEL: Final = 2


@dataclass(frozen=True, slots=True)
class Part:
    """One component's lines: from `start` up to `end` (exclusive), without heading, with blank lines at the edges."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Outline:
    """The components of a body. `parts` holds the preamble first, then the sections in document order."""

    lines: tuple[str, ...]
    parts: tuple[Part, ...]
    #: Headings of this level or higher start a section.
    level: int
    structured: bool

    @property
    def texts(self) -> dict[str, str]:
        """Text by component name, LF line ends, in component order; an empty preamble beside sections is left out."""
        found = {part.name: self._text(part) for part in self.parts}
        if not found[PREAMBLE] and len(found) > 1:
            del found[PREAMBLE]
        if not self.structured:
            return found
        roles: dict[str, str] = {role: found.pop(role, "") for role in ROLES}
        return {**roles, **found}

    def replaced(self, name: str, text: str, newline: str) -> list[str]:
        """The lines with the text (LF, normal form) in place of the component; new lines get the given line end."""
        lines = list(self.lines)
        new = [line + newline for line in text.split("\n")] if text else []
        part = self._part(name)
        if part is None:
            return self._with_pitfalls(lines, new, newline)
        first, end = trimmed(lines, part.start, part.end)
        if first == end:
            return _filled(lines, part, new, newline)
        if new:
            new[-1] = new[-1].removesuffix(newline) + line_end(lines[end - 1])
        return lines[:first] + new + lines[end:]

    def _part(self, name: str) -> Part | None:
        return next((part for part in self.parts if part.name == name), None)

    def _text(self, part: Part) -> str:
        first, end = trimmed(self.lines, part.start, part.end)
        text = universal("".join(self.lines[first:end]))
        return text.removesuffix("\n")

    def _with_pitfalls(self, lines: list[str], new: list[str], newline: str) -> list[str]:
        """Insert a new pitfalls section after the steps."""
        steps = self._part("steps")
        assert steps is not None, "only a structured outline can lack pitfalls"
        heading = f"{'#' * self.level} {TITLES['pitfalls']}{newline}"
        before, after = lines[: steps.end], lines[steps.end :]
        before[-1] = _ended(before[-1], newline)
        gap = [] if is_blank(before[-1]) else [newline]
        return [*before, *gap, heading, newline, *new, *([newline] if after else []), *after]


def outline(lines: Sequence[str], *, own: bool = False) -> Outline:
    """The outline of a body. With `own`, sections may be missing although the body counts as structured."""
    headings = scan(lines).headings
    level, roles = (OWN_LEVEL, _roles_at(headings, OWN_LEVEL)) if own else _structure(headings)
    structured = bool(roles) or own
    title = _title(headings, level, structured)
    level = level or _free_level(headings, title)
    starts = [heading for heading in headings if heading.level <= level and heading is not title]
    first = starts[0].line if starts else len(lines)
    parts = [Part(PREAMBLE, _below_title(lines, title), first)]
    ends = [heading.line for heading in starts[1:]] + [len(lines)]
    for name, heading, end in zip(_names(starts, roles), starts, ends, strict=False):
        parts.append(Part(name, heading.line + heading.size, end))
    return Outline(tuple(lines), tuple(parts), level, structured)


def _structure(headings: Sequence[Heading]) -> tuple[int, dict[int, Role]]:
    """The highest level that has both needed sections, and the roles by heading line; (0, {}) for free form."""
    for level in sorted({heading.level for heading in headings}):
        roles = _roles_at(headings, level)
        if {"when_to_use", "steps"} <= set(roles.values()):
            return level, roles
    return 0, {}


def _roles_at(headings: Sequence[Heading], level: int) -> dict[int, Role]:
    candidates = [heading for heading in headings if heading.level == level]
    found = find_roles([heading.title for heading in candidates])
    return {candidates[i].line: role for role, i in found.items()}


def _title(headings: Sequence[Heading], level: int, structured: bool) -> Heading | None:
    """The first heading, if it stands above the sections."""
    if not headings:
        return None
    first = headings[0]
    if structured:
        return first if first.level < level else None
    deeper = headings[1].level > first.level if len(headings) > 1 else first.level == 1
    return first if deeper else None


def _free_level(headings: Sequence[Heading], title: Heading | None) -> int:
    below = [heading.level for heading in headings if title is None or heading.level > title.level]
    return min(below, default=OWN_LEVEL)


def _below_title(lines: Sequence[str], title: Heading | None) -> int:
    """Where the preamble starts: below the title, or at the top if text precedes the title."""
    if title is None or any(not is_blank(line) for line in lines[: title.line]):
        return 0
    return title.line + title.size


def _names(starts: Sequence[Heading], roles: dict[int, Role]) -> Iterator[str]:
    used: set[str] = set()
    last: dict[str, int] = {}
    for heading in starts:
        base = roles.get(heading.line) or f"section:{section_slug(heading.title)}"
        name, n = base, last.get(base, 1)
        while name in used:
            n += 1
            name = f"{base}-{n}"
        last[base] = n
        used.add(name)
        yield name


def section_slug(title: str) -> str:
    """A heading as a name: lower-case letters and digits of any script, joined by hyphens; "untitled" if none."""
    words = "".join(char if char.isalnum() else " " for char in title.lower()).split()
    return "-".join(words) or "untitled"


def _filled(lines: list[str], part: Part, new: list[str], newline: str) -> list[str]:
    """Put the first text into a component that has none, between its blank lines and above its closing rule."""
    if not new:
        return lines
    before, gap, after = lines[: part.start], lines[part.start : part.end], lines[part.end :]
    if before:
        before[-1] = _ended(before[-1], newline)
    gap = [_ended(line, newline) for line in gap]
    lead = gap.pop(0) if gap and is_blank(gap[0]) else newline
    if (after and not gap) or (gap and not is_blank(gap[0])):
        gap.insert(0, newline)
    return [*before, lead, *new, *gap, *after]


def _ended(line: str, newline: str) -> str:
    return line if line_end(line) else line + newline
