"""SKILL.md taken apart without loss: byte order mark, head with frontmatter, body, and what one should know."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ..errors import SkillError
from .frontmatter import Fields, find_fences, read_fields
from .markdown import is_blank, split_lines, universal

_BOM: Final = "\ufeff"
#: The published grammar (spec/ecosystem.md 3.2).
NAME: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
MAX_NAME: Final = 64
MAX_DESCRIPTION: Final = 1024
MAX_COMPATIBILITY: Final = 500
_KNOWN_KEYS: Final = frozenset({"name", "description", "license", "compatibility", "metadata", "allowed-tools"})
_WIDE: Final = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)


@dataclass(frozen=True, slots=True)
class Page:
    """A document in pieces. `bom + head + body` is the whole text; the head ends with the closing fence line."""

    bom: str
    head: str
    body: str
    #: The YAML text between the fences, where it starts in the head, and its first line in the file (1-based).
    yaml: str
    yaml_start: int
    yaml_line: int
    #: None without frontmatter.
    fields: Fields | None
    #: Line of a `---` at the top that is no fence.
    rule: int | None

    @property
    def text(self) -> str:
        """The document without a byte order mark."""
        return self.head + self.body

    def value(self, key: str) -> str:
        """A top-level value as trimmed text with LF line ends; a list or mapping as it is written; "" if missing."""
        entry = self.fields.get(key) if self.fields else None
        if entry is None:
            return ""
        text = entry.value if isinstance(entry.value, str) else self.yaml[entry.start : entry.end]
        return universal(text).strip(" \t\n")

    def with_yaml(self, yaml: str) -> str:
        """The whole text with other YAML between the fences."""
        end = self.yaml_start + len(self.yaml)
        return self.bom + self.head[: self.yaml_start] + yaml + self.head[end:] + self.body

    def with_body(self, body: str, newline: str) -> str:
        """The whole text with another body."""
        unended = self.head and body and self.head[-1] not in "\r\n"
        return self.bom + self.head + (newline if unended else "") + body


def decode(document: bytes, where: str) -> str:
    """The text of the file's bytes, byte order mark included. Raises SkillError unless it is UTF-8."""
    wide = next((name for mark, name in _WIDE if document.startswith(mark)), None)
    if wide is None and _looks_wide(document[:64]):
        wide = "UTF-16"
    if wide:
        raise SkillError(f"{where}:1: the file is {wide}, not UTF-8: save it as UTF-8")
    try:
        return document.decode("utf-8")
    except UnicodeDecodeError as error:
        line = len(split_lines(document[: error.start].decode("utf-8") + "x"))
        raise SkillError(
            f"{where}:{line}: the file is not UTF-8 (byte 0x{document[error.start]:02x}): save it as UTF-8"
        ) from None


def _looks_wide(start: bytes) -> bool:
    """Whether every other byte is NUL, as in UTF-16 text without a mark, which would pass for UTF-8."""
    pairs = start[: len(start) // 2 * 2]
    even, odd = pairs[::2], pairs[1::2]
    return len(pairs) >= 8 and (even.count(0), odd.count(0)) in ((0, len(odd)), (len(even), 0))


def parse(text: str, where: str) -> Page:
    """Take a document's text apart. Raises SkillError with file and line for frontmatter that cannot be used."""
    bom = _BOM if text.startswith(_BOM) else ""
    lines = split_lines(text[len(bom) :])
    fences, rule = find_fences(lines, where)
    if fences is None:
        return Page(bom, "", text[len(bom) :], "", 0, 0, None, rule)
    head = "".join(lines[: fences.close + 1])
    yaml = "".join(lines[fences.open + 1 : fences.close])
    start = sum(map(len, lines[: fences.open + 1]))
    fields = read_fields(yaml, where, fences.open + 2)
    return Page(bom, head, text[len(bom) + len(head) :], yaml, start, fences.open + 2, fields, None)


def notes(page: Page, folder: str) -> Iterator[tuple[int, str]]:
    """What a person should know about a document that loads although other tools may stumble: (line, sentence)."""
    if page.bom:
        yield (
            1,
            "the file starts with a byte order mark; kept, but other tools will miss its frontmatter: save it without",
        )
    yield from _line_end_notes(page.text)
    if page.fields is None:
        if page.rule is not None:
            yield page.rule + 1, "nothing closes this '---'; read as a rule in the text, not as frontmatter"
        yield (
            1,
            f"there is no frontmatter; the name '{folder}' is that of the folder and the description is empty: "
            "add both between two lines '---'",
        )
        return
    fence = page.yaml_line - 1
    if fence > 1:
        above = [line for line in split_lines(page.head)[: fence - 1] if not is_blank(line)]
        what = "a comment" if above else "a blank line"
        yield (
            1,
            f"there is {what} above the frontmatter; kept, but other tools will not see the frontmatter: move it below",
        )
    yield from _field_notes(page, page.fields, folder)


def _line_end_notes(text: str) -> Iterator[tuple[int, str]]:
    crlf = text.count("\r\n")
    if crlf and crlf == text.count("\n"):
        yield 1, "lines end in CRLF; kept, but other tools may not see the frontmatter: save the file with LF"
    elif "\r" in text:
        yield (
            1,
            "line ends are mixed or not LF; kept, but other tools may not see the frontmatter: save the file with LF",
        )


def _field_notes(page: Page, fields: Fields, folder: str) -> Iterator[tuple[int, str]]:
    fence = page.yaml_line - 1
    for entry in fields.entries:
        line = page.yaml_line + entry.line
        if entry.loose:
            yield (
                line,
                f"the {entry.key} has an unquoted ': '; read as text, but other tools will refuse it: "
                "put the value in quotes",
            )
        if entry.key == "description" and entry.comment and entry.style is None:
            yield line, "YAML takes what follows ' #' as a comment: put the description in quotes if it is part of it"
        for problem in _value_problems(entry.key, entry.value, page.value(entry.key), folder):
            yield line, problem
    unknown = [entry for entry in fields.entries if entry.key not in _KNOWN_KEYS]
    if unknown:
        keys = ", ".join(f"'{entry.key}'" for entry in unknown)
        line = page.yaml_line + unknown[0].line
        yield line, f"not in the published format: {keys}; kept, but some tools will refuse the file"
    for key in ("name", "description"):
        if fields.get(key) is None:
            stand_in = (
                f"the folder's name '{folder}' is used" if key == "name" else "no agent can tell when to load the skill"
            )
            yield fence, f"the frontmatter has no {key}; {stand_in}: add one"


def _value_problems(key: str, value: object, text: str, folder: str) -> Sequence[str]:
    is_text = isinstance(value, str)
    if key == "name":
        if not is_text or not text:
            return [f"the name is not text; the folder's name '{folder}' is used"]
        return list(_name_problems(text, folder))
    if key == "description":
        if not is_text:
            return ["the description is a list or a mapping; read as text as it is written: put it in quotes"]
        if not text:
            return ["the description is empty: no agent can tell when to load the skill"]
        if len(text) > MAX_DESCRIPTION:
            return [f"the description has {len(text)} characters, {MAX_DESCRIPTION} are allowed; tools may cut it"]
    if key == "compatibility" and len(text) > MAX_COMPATIBILITY:
        return [f"compatibility has {len(text)} characters, {MAX_COMPATIBILITY} are allowed"]
    if key == "metadata" and is_text and text:
        return ["metadata should be a mapping of text to text"]
    if key == "allowed-tools" and not is_text:
        return ["allowed-tools should be text with spaces between the tools, not a list"]
    return []


def _name_problems(name: str, folder: str) -> Iterator[str]:
    if len(name) > MAX_NAME or not NAME.fullmatch(name):
        yield f"the name '{name}' is not 1 to {MAX_NAME} of a-z, 0-9 and single hyphens; other tools will refuse it"
    if name != folder:
        yield f"the name '{name}' differs from the folder's name '{folder}'; other tools will refuse it"
