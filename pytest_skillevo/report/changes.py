"""What changed in the skill: the components, and the diff cut to what fits a screen."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from . import figures
from .text import clip, fold, one_line, visible, wrap

#: Screen lines of diff on the end screen, and of one changed line.
MOST_DIFF_LINES: Final = 12
_MOST_FOLDS: Final = 3
#: Components named one by one.
_MOST_NAMES: Final = 8
_MOST_CHARS: Final = 320

_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")


def change_lines(report: Mapping[str, Any], width: int) -> list[str]:
    """The changed components and the start of the diff, every line of it indented, escaped and clipped."""
    skill = report["skill"]
    if skill["after"] == skill["before"]:
        return ["  changed: nothing"]
    changed = [_component(item) for item in skill["changed"][:_MOST_NAMES]]
    if len(skill["changed"]) > _MOST_NAMES:
        changed.append(f"{len(skill['changed']) - _MOST_NAMES} more")
    named = ", ".join(changed) or "files outside the components"
    lines = wrap(f"changed: {named}; everything else is untouched", width, first="  ", rest="    ")
    body = list(_body(skill["diff"]))
    shown: list[str] = []
    told = 0
    for line in body:
        folded = _folded(line, width)
        if len(shown) + len(folded) > MOST_DIFF_LINES:
            break
        shown += folded
        told += 1
    if told < len(body):
        revision = report["revision"]
        where = "in the report" if revision is None else f"skillevo revisions diff {visible(revision['id'])}"
        shown.append(f"    ... {figures.some(len(body) - told, 'more line')}; full diff: {where}")
    return lines + shown


def shown_diff(diff: str) -> Iterator[tuple[str, str]]:
    """Every line of a unified diff, visible, with its kind: added, removed, hunk, file or same."""
    old = new = 0
    for line in diff.rstrip("\n").split("\n"):
        header = _HUNK.match(line) if old <= 0 and new <= 0 else None
        kind = "file"
        if header:
            old, new = (1 if size is None else int(size[:9]) for size in header.groups())
            kind = "hunk"
        elif old > 0 or new > 0:
            sign = line[:1]
            old -= sign in ("-", " ", "")
            new -= sign in ("+", " ", "")
            kind = {"+": "added", "-": "removed"}.get(sign, "same")
        yield kind, visible(line)


def _folded(line: str, width: int) -> list[str]:
    """A line of diff with its blanks kept, on a few screen lines under each other."""
    pieces = fold(line, width - 6)
    if len(pieces) > _MOST_FOLDS:
        pieces = [*pieces[: _MOST_FOLDS - 1], clip("".join(pieces[_MOST_FOLDS - 1 :]), width - 6)]
    return [("      " if index else "    ") + piece.rstrip() for index, piece in enumerate(pieces)]


def _component(item: Mapping[str, Any]) -> str:
    name = one_line(item["component"], 40)
    counts = [f"+{item['added']}"] if item["added"] else []
    counts += [f"-{item['removed']}"] if item["removed"] else []
    return f"{name} ({' '.join(counts) or 'moved'} {'line' if item['added'] + item['removed'] == 1 else 'lines'})"


def _body(diff: str) -> Iterator[str]:
    """Changed lines of a unified diff as "- text" and "+ text", visible; files and gaps between hunks are marked.

    Lines are counted against the hunk header, so that a removed line that begins with "-- " is not taken for a file.
    """
    old = new = 0
    files = 0
    several = len(re.findall(r"^--- .*\n\+\+\+ ", diff, re.MULTILINE)) > 1
    hunks = 0
    for line in diff.split("\n"):
        if old <= 0 and new <= 0:
            header = _HUNK.match(line)
            if header:
                old, new = (1 if size is None else int(size[:9]) for size in header.groups())
                hunks += 1
                if hunks > 1:
                    yield "..."
            elif line.startswith("+++ "):
                files += 1
                hunks = 0
                if several:
                    yield visible(line[4:_MOST_CHARS])
            continue
        sign = line[:1]
        old -= sign in ("-", " ", "")
        new -= sign in ("+", " ", "")
        if sign in ("+", "-"):
            # More than a few screen lines are clipped anyway.
            yield f"{sign} {visible(line[1:_MOST_CHARS])}"
