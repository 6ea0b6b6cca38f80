"""Changing one value of the frontmatter: its bytes change, all else stays, and it reads back as exactly the text.

Every way of writing the value is tried in order of likeness to what stood there, and the first is taken that reads back
right and leaves all other keys alone. A double-quoted scalar can hold any text, so the last way nearly always works.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from ..errors import SkillError
from .frontmatter import REMEMBERED, Entry, Fields, read_fields
from .markdown import line_end, split_lines

_HEADER: Final = re.compile(r"[|>][-+0-9]*")
#: A space that a folded scalar may turn into a line end: a single one between two other characters.
_BREAK: Final = re.compile(r"(?<=[^ \t]) (?=[^ \t])")
_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
#: What YAML allows to stand in a quoted scalar as it is, without its line breaks.
_PRINTABLE: Final = re.compile("[\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")


def with_value(source: str, fields: Fields, key: str, text: str, newline: str) -> str | None:
    """The YAML text with the top-level `key` set to `text`, which has LF line ends and no space at its edges.

    A missing key is added below `name`, else at the end. None if no way of writing it works.
    """
    entry = fields.get(key)
    for value in _ways(source, entry, fields, text, newline):
        if entry is not None:
            gap = " " if entry.start and source[entry.start - 1] == ":" else ""
            edited = source[: entry.start] + gap + value + source[entry.end :]
        else:
            edited = _added(source, fields, f"{key}: {value}", newline)
        if _holds(edited, fields, key, text):
            return edited
    return None


def quoted(text: str) -> str:
    """The text as a double-quoted YAML scalar on one line."""
    return '"' + "".join(_escaped(char) for char in text) + '"'


@lru_cache(maxsize=REMEMBERED)
def plain_or_quoted(text: str) -> str:
    """The text as a plain scalar if every YAML reader takes it for this text, else double-quoted."""
    return text if _is_plain(text) else quoted(text)


def _holds(edited: str, before: Fields, key: str, text: str) -> bool:
    try:
        after = read_fields(edited, "", 1)
    except SkillError:
        return False
    changed = after.get(key)
    if changed is None or changed.value != text or changed.loose:
        return False
    others = [(entry.key, entry.value) for entry in after.entries if entry.key != key]
    return others == [(entry.key, entry.value) for entry in before.entries if entry.key != key]


def _ways(source: str, entry: Entry | None, fields: Fields, text: str, newline: str) -> Iterator[str]:
    old = source[entry.start : entry.end] if entry else ""
    style = entry.style if entry else None
    block = fields.end < 0 and text != ""
    if block and style in ("|", ">"):
        yield _block(style, text, entry, old, newline)
    if "\n" not in text:
        if style == "'":
            yield "'" + text.replace("'", "''") + "'"
        elif style != '"' and _is_plain(text):
            yield text
    elif block:
        yield _block("|", text, entry, old, newline)
    yield quoted(text)


def _is_plain(text: str) -> bool:
    """Whether the text, written plain after a key, reads back as itself and as text under YAML's own typing."""
    if not text or "\n" in text:
        return False
    import yaml

    resolver: Any = yaml.resolver.Resolver()
    if resolver.resolve(yaml.ScalarNode, text, (True, False)) != "tag:yaml.org,2002:str":
        return False
    try:
        entries = read_fields(f"key: {text}\n", "", 1, lenient=False).entries
    except SkillError:
        return False
    return len(entries) == 1 and entries[0].value == text and entries[0].style is None


def _block(style: str, text: str, entry: Entry | None, old: str, newline: str) -> str:
    """A literal or folded block scalar without a final line end, with the old header comment, indent and width."""
    header, rest = f"{style}-", ""
    indent = " " * ((entry.column if entry else 0) + 2)
    width = 80
    if match := _HEADER.match(old):
        first, *content = [line.rstrip("\r\n") for line in split_lines(old)]
        rest = first[match.end() :]
        filled = [line for line in content if line.strip(" ")]
        indent = filled[0][: len(filled[0]) - len(filled[0].lstrip(" "))] if filled else indent
        width = max([width, *(len(line) for line in filled)]) if len(filled) < 2 else max(40, *map(len, filled))
    lines = text.split("\n")
    if style == ">":
        lines = _folded(lines, min(width, 120) - len(indent))
    body = newline.join(indent + line if line else "" for line in lines)
    return header + rest + newline + body


def _folded(lines: list[str], width: int) -> list[str]:
    folded: list[str] = []
    for i, line in enumerate(lines):
        if i:
            folded.append("")
        current = ""
        for word in _BREAK.split(line):
            if current and len(current) + 1 + len(word) > width:
                folded.append(current)
                current = word
            else:
                current = f"{current} {word}" if current else word
        if current:
            folded.append(current)
    return folded


def _added(source: str, fields: Fields, pair: str, newline: str) -> str:
    if fields.end >= 0:
        before = source[: fields.end].rstrip(" \t\r\n")
        comma = "" if before[-1] in "{," else ","
        return f"{before}{comma} {pair}{source[len(before) :]}"
    if not fields.entries:
        source = source if not source or line_end(source) else source + newline
        return source + pair + newline
    anchor = fields.get("name") or fields.entries[-1]
    at = anchor.end
    while at < len(source) and source[at] not in "\r\n":
        at += 1
    at += 2 if source[at : at + 2] == "\r\n" else 1
    return source[:at] + " " * anchor.column + pair + newline + source[at:]


def _escaped(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if _PRINTABLE.match(char):
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
