"""A merge gate as one page: the answer, a line for each changed skill, then everything about each comparison."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ..details import Details
from ..gate import GateLine, GateScreen, rest, told
from ..text import one_line
from .markup import Html, element
from .page import document, sections, verdict_mark

_NAME: Final = 64
_TEXT: Final = 480


def gate_page(screen: GateScreen, details: Mapping[str, Details]) -> str:
    """The cleaned screen as one HTML document; `details` (by skill) adds what only the store knows."""
    skip = element("a", "Skip to the skills", href="#skills", class_="skip")
    parts = [_skill(line, number, details.get(line.name)) for number, line in enumerate(screen.lines, 1)]
    return document(screen.title, skip, _header(screen), element("main", *parts, id="skills"))


def _header(screen: GateScreen) -> Html:
    listed = [
        element(
            "li",
            verdict_mark(line.verdict),
            " ",
            element("a", one_line(line.name, _NAME), href=f"#skill-{number}"),
            " ",
            told(line),
        )
        for number, line in enumerate(screen.lines, 1)
    ]
    facts = [element("li", one_line(text, _TEXT)) for text in rest(screen)]
    return element(
        "header",
        element("h1", screen.title),
        element("ul", *listed, class_="gate-list") if listed else None,
        element("ul", *facts, class_="notes"),
    )


def _skill(line: GateLine, number: int, details: Details | None) -> Html:
    notes = [element("li", one_line(note, _TEXT)) for note in line.notes]
    below = () if line.report is None else sections(line.report, details or Details(), f"s{number}-")
    return element(
        "article",
        element("h2", verdict_mark(line.verdict), " ", one_line(line.name, _NAME), f" ({line.kind})"),
        element("p", told(line)),
        element("ul", *notes, class_="notes") if notes else None,
        *below,
        id=f"skill-{number}",
        class_="gate-skill",
    )
