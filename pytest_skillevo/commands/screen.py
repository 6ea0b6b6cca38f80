"""Printing for people and programs: safe for any terminal, any encoding, and 80 columns."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TextIO

from ..core.errors import damaged_store
from ..report.text import columns, no_command

_GAP: Final = "  "
#: After this the date says more than a count of days.
_RECENT: Final = timedelta(days=60)


class Screen:
    """An output stream. Texts must be visible already (report.text); what the encoding lacks is escaped here."""

    def __init__(self, out: TextIO, width: int) -> None:
        self._out = out
        #: Columns that a line should not pass.
        self.width = width

    def line(self, text: str = "") -> None:
        """Print one line."""
        encoding = self._out.encoding or "utf-8"
        safe = no_command(text).encode(encoding, "backslashreplace").decode(encoding)
        self._out.write(safe + "\n")

    def lines(self, texts: Sequence[str]) -> None:
        """Print several lines."""
        for text in texts:
            self.line(text)

    def json(self, value: Any) -> None:
        """Print a value as JSON, in ASCII."""
        self._out.write(json.dumps(value, indent=2, ensure_ascii=True, allow_nan=False) + "\n")


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """The rows, the first of them the heading, with aligned columns; texts must be visible already."""
    widths = [max(columns(cell) for cell in column) for column in zip(*rows, strict=True)]
    return [
        _GAP.join(cell + " " * (width - columns(cell)) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def ago(then: str, now: datetime) -> str:
    """How long ago an ISO time was, as people say it; the date when that is long ago or yet to come."""
    age = now - _time(then)
    if age < timedelta(minutes=-1) or age > _RECENT:
        return _time(then).astimezone(UTC).strftime("%Y-%m-%d")
    if age < timedelta(minutes=1):
        return "just now"
    if age < timedelta(hours=1):
        return f"{age.seconds // 60} min ago"
    if age < timedelta(days=1):
        return f"{age.seconds // 3600} h ago"
    return "1 day ago" if age.days == 1 else f"{age.days} days ago"


def minute(then: str) -> str:
    """An ISO time to the minute, in UTC."""
    return _time(then).astimezone(UTC).strftime("%Y-%m-%d %H:%M")


def _time(then: str) -> datetime:
    try:
        return datetime.fromisoformat(then)
    except ValueError:
        raise damaged_store(f"{then!r} is no time") from None
