"""A file as passages: paragraphs, list items, table rows, headings and code, each with what announces it.

Lines of a passage are joined so that a command or a sentence that goes over several lines is one; every replacement
keeps its length, so that a position still tells its line.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from ...skill.markdown import Heading, is_blank, scan, universal

Kind: TypeAlias = Literal["prose", "item", "row", "code", "title"]

_ITEM: Final = re.compile(r"(?P<indent>[ \t]*)(?:[-*+•]|\d{1,9}[.)、．])[ \t]+(?:\[[ xX]\][ \t]+)?")
_FENCE: Final = re.compile(r"[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(?:`{3,}|~{3,})")
_QUOTE: Final = re.compile(r"[ \t]{0,3}>[ \t]?")
_RULER: Final = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-*:?[ \t]*)+\Z")
# Code spans hold their pipes together; "\|" is a pipe that belongs to a cell.
_CELL: Final = re.compile(r"(?:`[^`]*`|\\\||[^|])+")
_CONTINUED: Final = re.compile(r"(?:\\\n|(?<=[|&])[ \t]*\n|\n(?=[ \t]*(?:\||&&)))")
_MARKDOWN: Final = (".md", ".markdown", ".mdx", ".txt", ".rst", ".adoc", ".text", "")


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a file that is judged as a whole."""

    kind: Kind
    text: str
    #: Positions in the text where a line of the file begins, and the 1-based numbers of these lines.
    starts: tuple[int, ...]
    lines: tuple[int, ...]
    #: Titles of the headings above it, outermost first.
    headings: tuple[str, ...] = ()
    #: What announces it: the paragraph or item before it, the head of its table.
    lead: str = ""

    def line_at(self, position: int) -> int:
        """The number of the file's line that holds this position of the text."""
        return self.lines[max(bisect_right(self.starts, position) - 1, 0)]


def passages(text: str, path: str) -> Iterator[Passage]:
    """The passages of a file. Anything that is no plain or Markdown text is one passage of code."""
    lines = universal(text).split("\n")
    name = path.rpartition("/")[2].lower()
    suffix = name[name.rfind(".") :] if "." in name[1:] else ""
    if suffix in _MARKDOWN and not text.startswith("#!"):
        yield from _Reader(lines).read()
    else:
        yield _joined("code", list(enumerate(lines, 1)))


def _joined(
    kind: Kind, numbered: Sequence[tuple[int, str]], headings: tuple[str, ...] = (), lead: str = ""
) -> Passage:
    starts, position = [], 0
    for _, line in numbered:
        starts.append(position)
        position += len(line) + 1
    text = "\n".join(line for _, line in numbered)
    if kind == "code":
        text = _CONTINUED.sub(lambda match: " " * len(match[0]), text)
    elif kind != "row":
        # A backslash at the end of a line continues a command in prose too.
        text = text.replace("\\\n", "  ").replace("\n", " ")
    return Passage(kind, text, tuple(starts), tuple(number for number, _ in numbered), headings, lead)


class _Reader:
    """One pass over the lines of a Markdown text."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.found: list[Passage] = []
        self._lines = lines
        marked = scan(lines)
        self._code = marked.code
        self._headings = {heading.line: heading for heading in marked.headings}
        self._above: list[Heading] = []
        self._paragraph = ""
        #: Indent and text of the list items that are open, outermost first.
        self._items: list[tuple[int, str]] = []

    def read(self) -> list[Passage]:
        i = 0
        while i < len(self._lines):
            if heading := self._headings.get(i):
                i = self._title(i, heading)
            elif is_blank(self._lines[i]):
                i += 1
            elif self._code[i]:
                i = self._block(i)
            elif i + 1 < len(self._lines) and "|" in self._lines[i] and _RULER.match(self._lines[i + 1]):
                i = self._table(i)
            else:
                i = self._text(i)
        return self.found

    def _add(self, kind: Kind, numbered: Sequence[tuple[int, str]], lead: str = "") -> Passage:
        passage = _joined(kind, numbered, tuple(heading.title for heading in self._above), lead)
        self.found.append(passage)
        return passage

    def _title(self, i: int, heading: Heading) -> int:
        self._above = [one for one in self._above if one.level < heading.level]
        self._add("title", [(i + 1, heading.title)])
        self._above.append(heading)
        self._paragraph, self._items = "", []
        return i + heading.size

    def _block(self, start: int) -> int:
        """A fenced block, or an HTML comment, which is read as prose because agents read it too."""
        fenced = _FENCE.match(self._lines[start]) is not None
        end = start + 1
        while end < len(self._lines) and self._code[end] and not (fenced and _FENCE.match(self._lines[end - 1])):
            end += 1
        if not fenced:
            self._add("prose", self._numbered(start, end), self._paragraph)
            return end
        while end < len(self._lines) and self._code[end - 1] and not _closes(self._lines[end - 1], start, end):
            end += 1
        self._add("code", self._numbered(start + 1, end - 1), self._announcement())
        return end
