"""The structured view of a skill: description, when to use, steps and pitfalls as plain data."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from .frontmatter import REMEMBERED
from .markdown import is_blank, normal_block, scan, split_lines

_NUMBERED: Final = re.compile(r"[ \t]*(?:\d{1,9}(?:[.)](?=[ \t]|\Z)|[、．])|[①-⑳❶-❿])[ \t]*")
_BULLET: Final = re.compile(r"[ \t]*[-*+•](?:[ \t]+|\Z)")
_COUNT: Final = r"(?:#?\d+(?:\.\d+)*|(?:one|two|three|four|five|six|seven|eight|nine|ten|[a-h])\b)"
#: The start of a title that makes it a step: "Step 2: Check", "Phase 1 - Plan", "3. Write", "第一步".
_STEP_TITLE: Final = re.compile(
    rf"(?:(?:step|phase|stage)\s*{_COUNT}|\d+(?:\.\d+)*(?=[.)])|(?:步骤|阶段)\s*[\d一二三四五六七八九十]+"
    r"|第\s*[\d一二三四五六七八九十]+\s*(?:步|阶段))[\s*_:.)、：–—-]*",
    re.I,
)
_DECORATION: Final = re.compile(r"\A[\W_]+")


@dataclass(frozen=True, slots=True)
class SkillSpec:
    """What a structured skill says, without its layout. Steps and pitfalls are Markdown texts without list markers."""

    name: str
    description: str
    when_to_use: str
    steps: tuple[str, ...]
    pitfalls: tuple[str, ...]


def spec_of(name: str, components: Mapping[str, str]) -> SkillSpec:
    """The spec of the components of a structured skill."""
    return SkillSpec(
        name,
        components["description"],
        components["when_to_use"],
        read_steps(components["steps"]),
        read_pitfalls(components["pitfalls"]),
    )


def numbered_list(items: Sequence[str]) -> str:
    """The items as a numbered list; read_steps reads them back."""
    return "\n".join(_item(f"{n}. ", item) for n, item in enumerate(items, 1))


def bullet_list(items: Sequence[str]) -> str:
    """The items as a bullet list; read_pitfalls reads them back."""
    return "\n".join(_item("- ", item) for item in items)


@lru_cache(maxsize=REMEMBERED)
def read_steps(text: str) -> tuple[str, ...]:
    """Numbered items, else headings such as "Step 2", else bullets, else nothing (spec/landscape.md part 4).

    Nested lists and continuation lines belong to their step.
    """
    page = _Page(text)
    return page.items(_NUMBERED) or page.step_sections() or page.items(_BULLET)


@lru_cache(maxsize=REMEMBERED)
def read_pitfalls(text: str) -> tuple[str, ...]:
    """Top-level list items, bullets or numbers, whichever come first; else sub-sections; else paragraphs."""
    page = _Page(text)
    bullets, numbers = page.item_lines(_BULLET), page.item_lines(_NUMBERED)
    if bullets and numbers:
        return page.items(_BULLET if bullets[0] < numbers[0] else _NUMBERED)
    return page.items(_BULLET) or page.items(_NUMBERED) or page.sections() or tuple(page.paragraphs())


def _item(marker: str, item: str) -> str:
    first, *rest = normal_block(item).split("\n")
    return "\n".join([marker + first, *(" " * len(marker) + line if line else "" for line in rest)])


class _Page:
    """The lines of one component with its headings and code marked."""

    def __init__(self, text: str) -> None:
        self.lines = [line.rstrip("\r\n") for line in split_lines(text)]
        found = scan(self.lines)
        self.code = found.code
        self.headings = found.headings
        self._heading_lines = {heading.line for heading in found.headings}

    def item_lines(self, pattern: re.Pattern[str]) -> list[int]:
        """The lines that start a top-level list item of this kind; deeper ones are nested in some other item."""
        every = [i for i, line in enumerate(self.lines) if _is_item(line) and not self._inside_code(i)]
        top = min((_indent(self.lines[i]) for i in every), default=0)
        return [i for i in every if _indent(self.lines[i]) < top + 2 and pattern.match(self.lines[i])]

    def items(self, pattern: re.Pattern[str]) -> tuple[str, ...]:
        """The texts of the top-level list items of this kind, without their markers."""
        starts = self.item_lines(pattern)
        cuts = sorted({*starts, *self._heading_lines, len(self.lines)})
        following = dict(pairwise(cuts))
        texts = []
        for start in starts:
            end = following[start]
            if end not in following or end in self._heading_lines:
                end = self._end_of_last_item(start, end)
            marker = pattern.match(self.lines[start])
            width = marker.end() if marker else 0
            first = self.lines[start]
            # A wide numeral takes two columns or more, so that texts below it stand further right than it is long.
            cut = width if first[:width].isascii() else max(width, self._shared_indent(start + 1, end))
            rest = [line[min(cut, len(line) - len(line.lstrip(" \t"))) :] for line in self.lines[start + 1 : end]]
            texts.append(normal_block("\n".join([first[width:], *rest])))
        return tuple(text for text in texts if text)

    def step_sections(self) -> tuple[str, ...]:
        """The sections under headings such as "Step 2: Check", else the texts below bold lines of that form."""
        steps = [(heading, _after_step(heading.title)) for heading in self.headings]
        numbered = [(heading, title) for heading, title in steps if title is not None]
        if numbered:
            level = numbered[0][0].level
            ends = [heading.line for heading in self.headings if heading.level <= level]
            starts = [(h.line, h.line + h.size, title) for h, title in numbered if h.level == level]
            return self._sections(starts, ends)
        bold = [
            (i, i + 1, title.replace("**", "", 1))
            for i, line in enumerate(self.lines)
            if not self.code[i] and line.lstrip(" ").startswith("**") and (title := _after_step(line)) is not None
        ]
        return self._sections(bold, [i for i, _, _ in bold] + [heading.line for heading in self.headings])

    def sections(self) -> tuple[str, ...]:
        """Each heading with what stands below it."""
        starts = [(heading.line, heading.line + heading.size, heading.title) for heading in self.headings]
        return self._sections(starts, [heading.line for heading in self.headings])

    def paragraphs(self) -> Iterator[str]:
        """The texts between blank lines; code with blank lines in it stays whole."""
        part: list[str] = []
        for i, line in enumerate([*self.lines, ""]):
            if is_blank(line) and not self._inside_code(i):
                if part:
                    yield "\n".join(part)
                part = []
            else:
                part.append(line)

    def _inside_code(self, i: int) -> bool:
        """Whether line i is code and not its first line, which may be a list item that opens a fence."""
        return 0 < i < len(self.lines) and self.code[i] and self.code[i - 1]

    def _shared_indent(self, start: int, end: int) -> int:
        """The indent that all lines of text in the range have in common; code may stand further left."""
        texts = [self.lines[i] for i in range(start, end) if not self.code[i] and not is_blank(self.lines[i])]
        return min((len(text) - len(text.lstrip(" ")) for text in texts), default=0)

    def _end_of_last_item(self, start: int, end: int) -> int:
        """Where the last item of a list ends: at the first paragraph after a blank line that is not indented."""
        for i in range(start + 1, end):
            if (
                is_blank(self.lines[i - 1])
                and not is_blank(self.lines[i])
                and not self.code[i]
                and not _indent(self.lines[i])
            ):
                return i
        return end

    def _sections(self, starts: Sequence[tuple[int, int, str]], ends: Sequence[int]) -> tuple[str, ...]:
        stops = sorted({*ends, len(self.lines)})
        texts = []
        for line, content, title in starts:
            end = stops[bisect_right(stops, line)]
            texts.append(normal_block("\n".join([title, *self.lines[content:end]])))
        return tuple(text for text in texts if text)


def _is_item(line: str) -> bool:
    return bool(_NUMBERED.match(line) or _BULLET.match(line))


def _indent(line: str) -> int:
    wide = line[: len(line) - len(line.lstrip(" \t"))].expandtabs(4)
    return len(wide)


def _after_step(title: str) -> str | None:
    """What follows "Step n" in a title; None if it does not start so."""
    bare = _DECORATION.sub("", title, count=1)
    match = _STEP_TITLE.match(bare)
    return bare[match.end() :] if match else None
