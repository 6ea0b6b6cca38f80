"""Lines, code blocks and headings of a Markdown text, as CommonMark sees them where it matters for sections."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_FENCE: Final = re.compile(r"(?P<lead>[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*)(?P<run>`{3,}|~{3,})(?P<info>.*)", re.S)
_ATX: Final = re.compile(r" {0,3}(#{1,6})(?=[ \t]|\Z)")
_RULE: Final = re.compile(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*\Z")
_UNDERLINE: Final = re.compile(r" {0,3}(={3,}|-{3,})[ \t]*\Z")
#: First characters that make a line something else than the one-line paragraph of an underlined heading.
_NO_PARAGRAPH: Final = re.compile(r" {4}| {0,3}(?:\t|[>|<]|[-*+](?:[ \t]|\Z)|\d{1,9}[.)](?:[ \t]|\Z))")
_COMMENT: Final = re.compile(r" {0,3}<!--")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading outside code: its first line (0-based), how many lines it takes (1 or 2), level 1-6 and plain title."""

    line: int
    size: int
    level: int
    title: str


@dataclass(frozen=True, slots=True)
class Scan:
    """What one pass over the lines found. `code[i]` is True for lines in code fences and HTML comments."""

    headings: tuple[Heading, ...]
    code: tuple[bool, ...]
    #: The kind of block that the text leaves open at its end, "" if none.
    unclosed: str


def split_lines(text: str) -> list[str]:
    """The lines with their ends (LF, CRLF or CR and nothing else), so that joining them gives the text back."""
    return list(io.StringIO(text, newline=""))


def is_blank(line: str) -> bool:
    """Whether a line holds only spaces and tabs."""
    return not line.strip(" \t\r\n")


def universal(text: str) -> str:
    """The text with LF line ends."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def trimmed(lines: Sequence[str], start: int, end: int) -> tuple[int, int]:
    """The range without blank lines at its edges and without rules at its end; nothing left gives (start, start).

    A rule after a blank line at the end separates a section from the next one; it is no part of either.
    """
    first = start
    while first < end and is_blank(lines[first]):
        first += 1
    while end > first and (is_blank(lines[end - 1]) or _is_last_rule(lines, first, end - 1)):
        end -= 1
    return (first, end) if first < end else (start, start)


def _is_last_rule(lines: Sequence[str], first: int, i: int) -> bool:
    return (i == first or is_blank(lines[i - 1])) and _RULE.match(lines[i].rstrip("\r\n")) is not None


def normal_block(text: str) -> str:
    """The normal form of a block of Markdown: LF line ends, edges trimmed as by `trimmed`, no final line end."""
    lines = universal(text).split("\n")
    first, end = trimmed(lines, 0, len(lines))
    return "\n".join(lines[first:end])


def common_newline(text: str) -> str:
    """The most frequent line end of the text; LF when there is none."""
    crlf = text.count("\r\n")
    counts = {"\n": text.count("\n") - crlf, "\r\n": crlf, "\r": text.count("\r") - crlf}
    return max(counts, key=lambda end: counts[end])


def line_end(line: str) -> str:
    """The line end of a line, "" if it has none."""
    return line[len(line.rstrip("\r\n")) :]


def scan(lines: Sequence[str]) -> Scan:
    """Find headings, code fences and HTML comments in one pass.

    Follows CommonMark with one leniency: a fence in a list item (indented by four or more, or after a bullet) may
    close at any indent, and counts only if it is closed at all.
    """
    bare = [line.rstrip("\r\n") for line in lines]
    code = [False] * len(bare)
    headings: list[Heading] = []
    closers: list[tuple[int, int]] | None = None
    fence: _Fence | None = None
    comment = False
    for i, line in enumerate(bare):
        if fence is not None:
            code[i] = True
            fence = None if fence.closed_by(line) else fence
        elif comment:
            code[i] = True
            comment = "-->" not in line
        elif opened := _opened(line):
            if opened.nested:
                closers = closers or _closers(bare)
                if closers[i + 1][opened.char == "~"] < opened.length:
                    continue
            fence, code[i] = opened, True
        elif _COMMENT.match(line):
            comment, code[i] = "-->" not in line.split("<!--", 1)[1], True
        elif heading := _heading(bare, code, headings, i):
            headings.append(heading)
    unclosed = "a code fence" if fence else "an HTML comment" if comment else ""
    return Scan(tuple(headings), tuple(code), unclosed)


@dataclass(frozen=True, slots=True)
class _Fence:
    char: str
    length: int
    nested: bool

    def closed_by(self, line: str) -> bool:
        text = line.strip(" \t")
        indent = len(line) - len(line.lstrip(" \t"))
        return len(text) >= self.length and not text.strip(self.char) and (self.nested or indent <= 3)


def _opened(line: str) -> _Fence | None:
    match = _FENCE.match(line) if "```" in line or "~~~" in line else None
    if match is None:
        return None
    lead, run = match["lead"], match["run"]
    if run[0] == "`" and "`" in match["info"]:
        return None
    return _Fence(run[0], len(run), bool(lead.strip(" ")) or len(lead) > 3)


def _closers(bare: Sequence[str]) -> list[tuple[int, int]]:
    """For each line index, the longest closing run of backticks and of tildes from there on."""
    longest = [(0, 0)] * (len(bare) + 1)
    for i in range(len(bare) - 1, -1, -1):
        text = bare[i].strip(" \t")
        ticks, tildes = longest[i + 1]
        if text[:3] == "```" and not text.strip("`"):
            ticks = max(ticks, len(text))
        elif text[:3] == "~~~" and not text.strip("~"):
            tildes = max(tildes, len(text))
        longest[i] = ticks, tildes
    return longest


def _heading(bare: Sequence[str], code: Sequence[bool], found: Sequence[Heading], i: int) -> Heading | None:
    line = bare[i]
    first = line.lstrip(" ")[:1]
    if first == "#" and (match := _ATX.match(line)):
        title = line[match.end() :].strip(" \t")
        open_title = title.rstrip("#")
        if not open_title or open_title[-1] in " \t":
            title = open_title.rstrip(" \t")
        return Heading(i, 1, len(match[1]), title)
    if first in ("=", "-") and (match := _UNDERLINE.match(line)) and _lone_paragraph(bare, code, found, i - 1):
        return Heading(i - 1, 2, 1 if match[1][0] == "=" else 2, bare[i - 1].strip(" \t"))
    return None


def _lone_paragraph(bare: Sequence[str], code: Sequence[bool], found: Sequence[Heading], i: int) -> bool:
    """Whether line i is a paragraph of one line: only such a line is taken as an underlined heading."""
    taken = found[-1].line + found[-1].size if found else 0
    if i < taken or code[i] or is_blank(bare[i]) or _NO_PARAGRAPH.match(bare[i]) or _UNDERLINE.match(bare[i]):
        return False
    return i == taken or code[i - 1] or is_blank(bare[i - 1])
