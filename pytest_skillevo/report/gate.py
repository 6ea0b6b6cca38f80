"""What a merge gate shows: one line for each changed skill, the answer first; and the same as a comment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from . import figures, story
from .github import MOST_ANNOTATIONS, case_annotations, command
from .markdown import COMMENT_LIMIT, escaped, markdown
from .text import no_command, one_line, wrap

Json = Mapping[str, Any]

WIDTH: Final = 79
_NAME: Final = 40
_REASON: Final = 480


@dataclass(frozen=True, slots=True)
class GateLine:
    """One changed skill: what happened to it, the verdict, why, and whether it may be merged.

    `report` is the report of its comparison; None when nothing could be compared.
    """

    name: str
    kind: str
    verdict: str
    reason: str
    merge: bool
    notes: tuple[str, ...] = ()
    report: Json | None = None


@dataclass(frozen=True, slots=True)
class GateScreen:
    """All that a gate says."""

    reference: str
    lines: tuple[GateLine, ...]
    unchanged: int
    simulated: bool
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether everything that changed may be merged."""
        return all(line.merge for line in self.lines)

    @property
    def title(self) -> str:
        """`skill gate: FAIL (1 of 2 changed skills may not be merged)`"""
        if not self.lines:
            return "skill gate: PASS (no skill changed)"
        stopped = sum(not line.merge for line in self.lines)
        of = f"{len(self.lines)} changed {'skill' if len(self.lines) == 1 else 'skills'}"
        simulated = ", simulated model" if self.simulated else ""
        if stopped:
            return f"skill gate: FAIL ({stopped} of {of} may not be merged{simulated})"
        return f"skill gate: PASS ({of} may be merged{simulated})"


def gate_lines(screen: GateScreen, files: Sequence[str]) -> list[str]:
    """The end screen below its title; `files` are sentences that name what was written."""
    width = max((len(one_line(line.name, _NAME)) for line in screen.lines), default=0)
    lines = []
    for line in screen.lines:
        head = f"  {one_line(line.name, _NAME).ljust(width)}  {story.verdict_words(line.verdict).ljust(13)} "
        lines += wrap(told(line), WIDTH, first=head)
        for note in line.notes:
            lines += wrap(one_line(note, _REASON), WIDTH, first=" " * len(head))
    for text in rest(screen):
        lines += wrap(one_line(text, _REASON), WIDTH, first="  ")
    return [no_command(line) for line in [*lines, *files]]


def gate_markdown(screen: GateScreen, limit: int = COMMENT_LIMIT) -> str:
    """A comment for the pull request: the answer, a line for each skill, then the report of each."""
    head = [f"## {screen.title}", ""]
    for line in screen.lines:
        verdict = escaped(story.verdict_words(line.verdict))
        head.append(f"- **{escaped(one_line(line.name, _NAME))}** ({line.kind}): {verdict}. {escaped(told(line))}")
        head += [f"  - {escaped(one_line(note, _REASON))}" for note in line.notes]
    head += ["", *(f"{escaped(one_line(text, _REASON))}  " for text in rest(screen)), ""]
    text = "\n".join(no_command(line) for line in head)[: limit // 2]
    reports = [line.report for line in screen.lines if line.report is not None]
    share = (limit - len(text)) // max(len(reports), 1)
    return text + "".join("\n---\n\n" + markdown(report, max(share - 10, 0)) for report in reports)


def gate_annotations(screen: GateScreen, folder: str) -> list[str]:
    """For GitHub Actions: an error for each skill that may not be merged, a notice for others, then the worst cases.

    `folder` is where node ids begin inside the repository.
    """
    lines = []
    for line in sorted(screen.lines, key=lambda one: one.merge):
        title = f"skill gate: {one_line(line.name, _NAME)} {story.verdict_words(line.verdict)}"
        lines.append(command("notice" if line.merge else "error", {"title": title}, told(line)))
    for line in screen.lines:
        lines += [] if line.report is None or line.merge else case_annotations(line.report, folder)
    return lines[:MOST_ANNOTATIONS]


def told(line: GateLine) -> str:
    """Why, and what happened to the skill."""
    reason = one_line(line.reason, _REASON)
    return f"{reason} (the skill was {line.kind})" if line.kind != "edited" else reason


def unchanged_note(unchanged: int, others: bool) -> list[str]:
    """A sentence about the skills that did not change, if there are any; `others` says whether some did."""
    if not unchanged:
        return []
    were = "is unchanged and was" if unchanged == 1 else "are unchanged and were"
    return [f"{figures.some(unchanged, 'other skill' if others else 'skill')} {were} not run"]


def rest(screen: GateScreen) -> list[str]:
    """What else is to be said about the whole."""
    found = [f"compared with: {screen.reference}"]
    found += unchanged_note(screen.unchanged, bool(screen.lines))
    found += screen.notes
    if screen.simulated and screen.lines:
        found.append("model simulated: these numbers test the machinery, not a language model")
    return found
