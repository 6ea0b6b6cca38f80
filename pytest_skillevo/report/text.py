"""Text of models, tests and cases made fit to print: visible, bounded, never a command to a terminal or CI.

Widths are terminal columns. A combining mark counts as one column, so that no bound can be passed by piling them up.
"""

from __future__ import annotations

import re
import unicodedata

#: The older form of a GitHub or Azure workflow command is found anywhere in a line, not only at its start
#: (actions/runner, ActionCommand.TryParse).
_RUNNER_PREFIX = re.compile(r"##(?=\w*\[)")
_NOT_ASCII = re.compile(r"[^ -~]")
_MARK = "..."


def visible(text: str) -> str:
    """The text on one line with every control, format or unprintable character written as an escape such as \\x1b.

    Escape sequences, hidden Unicode, lone surrogates and line breaks become plain text that a reader can see.
    """
    return _RUNNER_PREFIX.sub(r"#\\#", _NOT_ASCII.sub(_shown, text))


def visible_lines(text: str) -> str:
    """The text with its line breaks and tabs, every line of it `visible`."""
    return "\n".join("\t".join(map(visible, line.split("\t"))) for line in text.split("\n"))


def _shown(match: re.Match[str]) -> str:
    char = match[0]
    if char.isprintable():
        return char
    names = {"\t": r"\t", "\n": r"\n", "\r": r"\r"}
    code = ord(char)
    if char in names:
        return names[char]
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def columns(text: str) -> int:
    """How many terminal columns the text takes."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def clip(text: str, width: int) -> str:
    """At most `width` columns of the text (at least 3); what was cut at the end shows as three dots."""
    if columns(text) <= width:
        return text
    return _head(text, width - len(_MARK)) + _MARK


def clip_start(text: str, width: int) -> str:
    """As `clip`, but keeps the end: of a test's id the end tells most."""
    if columns(text) <= width:
        return text
    return _MARK + _head(text[::-1], width - len(_MARK))[::-1]


def _head(text: str, width: int) -> str:
    used = 0
    for index, char in enumerate(text):
        used += columns(char)
        if used > width:
            return text[:index]
    return text


def one_line(text: str, width: int) -> str:
    """White space runs become one blank, the rest `visible`, at most `width` columns."""
    # Cut first, so that a megabyte of model text costs nothing.
    most = 4 * width
    head = " ".join(text[:most].split())
    return clip(visible(head) + (_MARK if len(text) > most else ""), width)


def wrap(text: str, width: int, first: str = "", rest: str | None = None) -> list[str]:
    """Lines of at most `width` columns, the first beginning with `first`, the others with `rest` (default: blanks).

    The text must be visible already. Words longer than a line are broken. Empty text gives one line.
    """
    indent = " " * columns(first) if rest is None else rest
    lines: list[str] = []
    prefix, line = first, ""
    for word in text.split():
        while True:
            room = width - columns(prefix)
            joined = f"{line} {word}" if line else word
            if columns(joined) <= room:
                line = joined
                break
            if line:
                lines.append(prefix + line)
                line = ""
            else:
                piece = _head(word, max(room, 2))
                lines.append(prefix + piece)
                word = word[len(piece) :]
            prefix = indent
    if line or not lines:
        lines.append((prefix + line).rstrip() if not line else prefix + line)
    return lines


def fold(text: str, width: int) -> list[str]:
    """Pieces of at most `width` columns that joined are the text; cut after a blank where there is one."""
    pieces = []
    while columns(text) > width:
        piece = _head(text, width)
        blank = piece.rfind(" ") + 1
        if blank > len(piece) // 2:
            piece = piece[:blank]
        pieces.append(piece)
        text = text[len(piece) :]
    return [*pieces, text]


def no_command(line: str) -> str:
    """The line, changed so that a GitHub runner cannot take it for a workflow command.

    Indentation is no protection: the runner trims white space before it looks for `::` (actions/runner,
    ActionCommand.TryParseV2).
    """
    body = line.lstrip()
    return line[: len(line) - len(body)] + "\\" + body if body.startswith("::") else line
