"""The difference between two versions of a skill folder as a unified diff, file by file."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

Tree = Mapping[str, bytes]

_NO_NEWLINE: Final = "\\ No newline at end of file"


@dataclass(frozen=True, slots=True)
class FileDiff:
    """One file that differs. `change` is added, removed or changed; the lines are a unified diff, raw text."""

    path: str
    change: str
    lines: tuple[str, ...]


def folder_diff(name: str, before: Tree, after: Tree) -> tuple[FileDiff, ...]:
    """The files that differ, in path order, under the folder's name."""
    return tuple(
        FileDiff(path, _change(path, before, after), tuple(_lines(f"{name}/{path}", before.get(path), after.get(path))))
        for path in sorted({*before, *after})
        if before.get(path) != after.get(path)
    )


def _change(path: str, before: Tree, after: Tree) -> str:
    if path not in before:
        return "added"
    return "changed" if path in after else "removed"


def _lines(path: str, before: bytes | None, after: bytes | None) -> Iterator[str]:
    old, new = _text(before), _text(after)
    names = ("/dev/null" if before is None else f"a/{path}", "/dev/null" if after is None else f"b/{path}")
    if old is None or new is None:
        yield f"Binary files {names[0]} and {names[1]} differ ({len(before or b'')} -> {len(after or b'')} bytes)"
        return
    yield f"--- {names[0]}"
    yield f"+++ {names[1]}"
    for line in list(difflib.unified_diff(_split(old), _split(new)))[2:]:
        yield line.removesuffix("\n")
        if not line.endswith("\n"):
            yield _NO_NEWLINE


def _text(content: bytes | None) -> str | None:
    """The content as text; None for what is not."""
    if content is None:
        return ""
    try:
        return None if b"\0" in content else content.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _split(text: str) -> list[str]:
    # Not splitlines: it also breaks at form feeds and Unicode separators, which are ordinary characters in a line.
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
