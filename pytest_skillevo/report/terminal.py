"""The end screen of an experiment: report in, title and plain lines out. Nothing depends on colour or a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from . import story
from .changes import change_lines
from .evidence import caveats, table, worse_cases
from .table import table_lines
from .text import no_command, one_line, visible, wrap

Json = Mapping[str, Any]

#: Columns of every line; commands and paths alone may be longer, because a cut one is of no use.
WIDTH: Final = 80
#: One column is kept for the mark of `no_command`.
_TEXT: Final = WIDTH - 1
#: The title stands between rules of "=" on one line.
_TITLE: Final = WIDTH - 4


@dataclass(frozen=True, slots=True)
class Screen:
    """What an experiment leaves on the screen: a title for a line of "=", and the lines below it."""

    title: str
    lines: tuple[str, ...]


def end_screen(report: Json, report_paths: Sequence[str] = ()) -> Screen:
    """The end screen of a report (see schema.py), the decision first; `report_paths` are where the report was written.

    The report should be cleaned (json_file.clean) with redaction; everything foreign is escaped here once more.
    """
    paired = table(report)
    lines = _wrapped(story.sentences(report))
    for section in (
        [] if paired is None else table_lines(paired.head, paired.rows, _TEXT),
        [*worse_cases(report, _TEXT), *_wrapped(caveats(report), "  ", "    ")],
        change_lines(report, _TEXT),
        [line for label, text in story.provenance(report) for line in _field(label, text)],
        _wrapped(story.warnings(report), "  ", "    "),
        [*_end(report, report_paths)],
    ):
        if section:
            lines += ["", *section]
    return Screen(_title(report), tuple(no_command(line) for line in lines))


def _title(report: Json) -> str:
    tail = f": {', '.join(story.status_words(report))}" + (" (simulated model)" if story.is_simulated(report) else "")
    return no_command(one_line(report["skill"]["name"], max(_TITLE - 1 - len(tail), 12)) + tail)


def _wrapped(texts: Iterator[str], first: str = "", rest: str = "") -> list[str]:
    return [line for text in texts for line in wrap(text, _TEXT, first, rest)]


def _field(label: str, text: str) -> list[str]:
    return wrap(text, _TEXT, first="  " + label.ljust(12))


def _end(report: Json, report_paths: Sequence[str]) -> Iterator[str]:
    yield from _wrapped(story.model_sentences(report), "  ", "  ")
    steps = list(story.next_steps(report))
    width = max((len(step) for step, why in steps if why), default=0)
    yield "  next:"
    for step, why in steps:
        # A command is never broken: what it is for goes below it when both do not fit.
        line = f"    {step.ljust(width)}   {why}"
        if not why:
            yield from wrap(step, _TEXT, first="    ")
        elif len(line) <= _TEXT:
            yield line
        else:
            yield f"    {step}"
            yield from wrap(why, _TEXT, first="      ")
    for path in report_paths:
        yield f"  report: {visible(path)}"
