"""A small table of aligned plain text whose last column may run over several lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .text import columns, wrap

_GAP = 3


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the paired table. A note runs on from the end of the row; with no change it takes that column."""

    label: str
    before: str
    after: str
    change: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Paired:
    """The paired table: what its columns are called, and its rows."""

    head: Row
    rows: list[Row]


def table_lines(head: Row, rows: Sequence[Row], width: int, indent: int = 2) -> list[str]:
    """The rows under their heading, all texts visible already, no line wider than `width`."""
    every = [head, *rows]
    widths = [max(columns(getattr(row, name)) for row in every) + _GAP for name in ("label", "before", "after")]
    change_width = max((columns(row.change) for row in every), default=0) + _GAP
    lines: list[str] = []
    for row in every:
        cells = (row.label, row.before, row.after)
        start = " " * indent + "".join(_pad(cell, wide) for cell, wide in zip(cells, widths, strict=True))
        if row.change:
            start += _pad(row.change, change_width)
        lines += [line.rstrip() for line in wrap(row.note, width, first=start)]
    return lines


def _pad(cell: str, width: int) -> str:
    return cell + " " * (width - columns(cell))
