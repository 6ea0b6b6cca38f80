"""A file as passages: paragraphs, list items, table rows, headings and code, each with what announces it.

A command that goes over several lines is joined to one; what is replaced keeps its length, so that a position still
tells its line.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final, Literal, TypeAlias

from ...skill.markdown import Heading, is_blank, scan, universal

Kind: TypeAlias = Literal["prose", "item", "row", "code", "title"]

_ITEM: Final = re.compile(r"(?P<indent>[ \t]*)(?:[-*+•]|\d{1,9}[.)、．])[ \t]+(?:\[[ xX]\][ \t]+)?")
_FENCE: Final = re.compile(r"[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(?P<run>`{3,}|~{3,})")
# A redirection at the beginning of a line is no quotation.
_QUOTE: Final = re.compile(r"\A[ \t]{0,3}>(?![ \t]*[/>])[ \t]?")
#: What programs do not have: fences, links, bullets with sentences, tables.
_MARKUP: Final = re.compile(
    r"[ \t]*(?:```|~~~|---\s*\Z|\d{1,3}\.\s|\|.*\|\s*\Z|>\s|#{2,6}\s|[-*+]\s+(?:\*\*|[A-Z][\w']+ \w+ ))"
)
_REMARK: Final = re.compile(r"[ \t]*(?:#(?!#)|//)")
_CODE_LINE: Final = re.compile(
    r"[;{}\[\](,\\]\s*\Z|\)\s*:?\s*\Z|\A\s*(?:import|from|def|class|return|const|let|var|if|elif|else|fi|for|while|do"
    r"|done|then|try|except"
    r"|with|raise|assert|export|function|async|await|echo|set|cd|sudo|trap|case|esac|exit|@|RUN|FROM|COPY|SELECT|it\("
    r"|test\()"
    r"|\A\s*[\w.$\[\]\"']+\s*(?:[+|&-]?=|:=|\()|\A\s*(?:curl|wget|rm|chmod|dd|git|docker|pip|npm|python3?|bash|sh|ssh"
    r"|find|tar|cat)\s"
    r"|\A\s*[\"'][^\"']*[\"'],?\s*\Z|\A\s*(?:-\s)?[a-z_][\w-]*:(?:\s+\S+){0,4}\s*\Z|\A\s*:\s"
)
_KEY: Final = re.compile(r"[\w-]+[ \t]*:")
_RULER: Final = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-*:?[ \t]*)+\Z")
# Code spans hold their pipes together; "\|" is a pipe that belongs to a cell.
_CELL: Final = re.compile(r"(?:`[^`]*`|\\\||[^|])+")
_CONTINUED: Final = re.compile(r"(?:\\\n|(?<=[|&])[ \t]*\n|\n(?=[ \t]*(?:\||&&)))")
_PROSE: Final = (".md", ".markdown", ".mdx", ".txt", ".rst", ".adoc", ".text", "")


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
    #: All of it is a block quotation.
    quoted: bool = False

    def line_at(self, position: int) -> int:
        """The number of the file's line that holds this position of the text."""
        return self.lines[max(bisect_right(self.starts, position) - 1, 0)]


def passages(text: str, path: str) -> list[Passage]:
    """The passages of a file. Anything that is no plain or Markdown text is one passage of code."""
    lines = universal(text).split("\n")
    name = path.rpartition("/")[2].lower()
    suffix = name[name.rfind(".") :] if "." in name[1:] else ""
    if suffix in _PROSE and not text.startswith("#!") and not _all_code(lines):
        return _Reader(lines).read()
    return [_joined("code", list(enumerate(lines, 1)))]


def _all_code(lines: Sequence[str]) -> bool:
    """Whether a text without any Markdown is a program: most lines look like one and none like a sentence."""
    full = [line for line in lines if not (is_blank(line) or _REMARK.match(line))]
    if len(full) < 2 or any(_MARKUP.match(line) for line in full):
        return False
    return sum(_CODE_LINE.search(line) is not None for line in full) > len(full) / 2


def _joined(
    kind: Kind,
    numbered: Sequence[tuple[int, str]],
    headings: tuple[str, ...] = (),
    lead: str = "",
    quoted: bool = False,
) -> Passage:
    starts, position = [], 0
    for _, line in numbered:
        starts.append(position)
        position += len(line) + 1
    text = "\n".join(line for _, line in numbered)
    if kind != "row":
        text = _CONTINUED.sub(lambda match: " " * len(match[0]), text)
    return Passage(kind, text, tuple(starts), tuple(number for number, _ in numbered), headings, lead, quoted)


class _Reader:
    """One pass over the lines of a Markdown text."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._found: list[Passage] = []
        self._lines = lines
        marked = scan(lines)
        self._code = marked.code
        self._headings = {heading.line: heading for heading in marked.headings}
        self._above: list[Heading] = []
        #: The last paragraph outside lists, and the last text of any kind, since the last heading.
        self._paragraph = self._latest = ""
        #: Indent and text of the list items that are open, outermost first.
        self._items: list[tuple[int, str]] = []

    def read(self) -> list[Passage]:
        i = self._frontmatter()
        while i < len(self._lines):
            if heading := self._headings.get(i):
                i = self._title(i, heading)
            elif is_blank(self._lines[i]):
                i += 1
            elif self._code[i]:
                i = self._block(i)
            elif "|" in self._lines[i] and i + 1 < len(self._lines) and _RULER.match(self._lines[i + 1]):
                i = self._table(i)
            else:
                i = self._text(i)
        return self._found

    def _add(self, kind: Kind, numbered: Sequence[tuple[int, str]], lead: str = "", quoted: bool = False) -> str:
        passage = _joined(kind, numbered, tuple(heading.title for heading in self._above), lead, quoted)
        if numbered:
            self._found.append(passage)
        return passage.text

    def _frontmatter(self) -> int:
        """The fields between the fences at the top, each as prose. Returns the line after them."""
        if self._lines[0].lstrip("\ufeff").rstrip() != "---":
            return 0
        end = next((i for i, line in enumerate(self._lines) if i and line.rstrip() == "---"), 0)
        cuts = [i for i in range(1, end) if _KEY.match(self._lines[i])]
        for start, stop in pairwise([*cuts, end]):
            self._add("prose", self._numbered(start, stop))
        return end + 1 if end else 0

    def _title(self, i: int, heading: Heading) -> int:
        self._above = [one for one in self._above if one.level < heading.level]
        self._add("title", [(i + 1, heading.title)])
        self._above.append(heading)
        self._paragraph, self._latest, self._items = "", "", []
        return i + heading.size

    def _block(self, start: int) -> int:
        """A fenced block, or an HTML comment, which is read as prose because agents read it too."""
        opening = _FENCE.match(self._lines[start])
        end, closed = start + 1, False
        while end < len(self._lines) and self._code[end] and not closed:
            if opening:
                bare = self._lines[end].strip(" \t")
                closed = len(bare) >= len(opening["run"]) and not bare.strip(opening["run"][0])
            elif _FENCE.match(self._lines[end]):
                break
            end += 1
        if opening:
            self._add("code", self._numbered(start + 1, end - closed), self._latest)
        else:
            self._add("prose", self._numbered(start, end), self._paragraph)
        return end

    def _table(self, start: int) -> int:
        head = self._cells(start)
        lead = f"{head} {self._latest}"
        end = start + 2
        while self._plain(end) and "|" in self._lines[end]:
            end += 1
        for i in (start, *range(start + 2, end)):
            self._add("row", [(i + 1, self._cells(i))], lead)
        return end

    def _cells(self, i: int) -> str:
        """The cells of a row, one a line, so that no command goes on in the next cell."""
        cells = [cell.strip() for cell in _CELL.findall(self._lines[i])]
        return "\n".join(cell.replace("\\|", "|") for cell in cells if cell)

    def _text(self, start: int) -> int:
        """A paragraph or a list item, up to the line where something else begins."""
        item = _ITEM.match(self._lines[start])
        end = start + 1
        while self._plain(end) and not _ITEM.match(self._lines[end]):
            end += 1
        indent = _indent(self._lines[start])
        numbered = [(n, _QUOTE.sub("", line)) for n, line in self._numbered(start, end)]
        if item:
            self._items = [one for one in self._items if one[0] < indent]
            lead = self._items[-1][1] if self._items else self._paragraph
            first = self._lines[start][item.end() :]
            self._latest = self._add("item", [(start + 1, first), *numbered[1:]], lead)
            self._items.append((indent, self._latest))
        elif self._items and indent >= 2:
            self._latest = self._add("item", numbered, self._items[-1][1])
        else:
            code = all(_indent(line) >= 4 for _, line in numbered)
            quoted = all(_QUOTE.match(line) for line in self._lines[start:end])
            self._explain(numbered[0][1], quoted)
            text = self._add("code" if code else "prose", numbered, self._paragraph, quoted)
            if not code:
                self._paragraph = self._latest = text
            self._items = []
        return end

    def _explain(self, line: str, quoted: bool) -> None:
        """What follows a quotation says what it is as much as what announces it."""
        if self._found and self._found[-1].quoted and not quoted:
            self._found[-1] = replace(self._found[-1], lead=f"{self._found[-1].lead} {line}")

    def _numbered(self, start: int, end: int) -> list[tuple[int, str]]:
        return [(n + 1, self._lines[n]) for n in range(start, end)]

    def _plain(self, i: int) -> bool:
        """Whether line i may go on with a paragraph, item or table."""
        return not (i >= len(self._lines) or is_blank(self._lines[i]) or self._code[i] or i in self._headings)


def _indent(line: str) -> int:
    return len(line[: len(line) - len(line.lstrip(" \t"))].expandtabs(4))
