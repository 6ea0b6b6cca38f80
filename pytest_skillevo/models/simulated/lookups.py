"""What agents of lookup families have in common: rows, totals, pages, names and the stale plan file."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from typing import Any, TypeAlias

from .caller import Caller
from .solver import Answer, Call

Row: TypeAlias = Mapping[str, Any]


def rows_of(answer: Answer, key: str) -> list[Row]:
    """The rows of a list answer; [] for a failed call."""
    rows = answer.data.get(key) if answer.ok else None
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def object_in(data: Row, key: str) -> Row:
    """An object, {} if there is none."""
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def by_year(rows: Any) -> dict[int, Any]:
    """The numbers of a series by year; what is no row of a year and a number is passed over."""
    table = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return {
        row["year"]: row["value"]
        for row in table
        if isinstance(row.get("year"), int) and isinstance(row.get("value"), int | float)
    }


def total_of(answer: Answer) -> int:
    """The total that an answer states, whatever its key; 0 if it states none."""
    totals = (value for key, value in answer.data.items() if key.startswith("total_"))
    return next((value for value in totals if isinstance(value, int) and not isinstance(value, bool)), 0)


def follow(
    caller: Caller, call: Call, answer: Answer, key: str, *, to_the_total: bool
) -> Generator[Sequence[Call], Sequence[Answer], tuple[list[Row], int]]:
    """All rows of a list and its total; without paging, the first page is taken for the whole."""
    rows = rows_of(answer, key)
    total = total_of(answer) if to_the_total else len(rows)
    while len(rows) < total:
        (answer,) = yield from caller.fetch([Call(call.tool, {**call.arguments, "offset": len(rows)})])
        more = rows_of(answer, key)
        if not more:
            break
        rows += more
    return rows, total


def find(
    caller: Caller, call: Call, answer: Answer, key: str, wanted: Callable[[Row], bool]
) -> Generator[Sequence[Call], Sequence[Answer], Row | None]:
    """The first row that is wanted, on as many pages as it takes; None if there is none."""
    seen = 0
    while rows := rows_of(answer, key):
        for row in rows:
            if wanted(row):
                return row
        seen += len(rows)
        if seen >= total_of(answer):
            break
        (answer,) = yield from caller.fetch([Call(call.tool, {**call.arguments, "offset": seen})])
    return None


def is_called(title: str, name: str) -> bool:
    """Whether a source's name is the task's title, or the title without its first word."""
    return name.casefold() in (title.casefold(), _tail(title).casefold())


def resembles(title: str, name: str) -> bool:
    """Whether a source's name begins like the title, with or without the title's first word."""
    tail = _tail(title).casefold()
    return name.casefold().startswith((title.casefold(), tail or title.casefold()))


def _tail(title: str) -> str:
    return title.partition(" ")[2]


def planned(answer: Answer, key: str, known: Collection[str]) -> list[str]:
    """Titles of a plan file that the task does not have."""
    try:
        plan = json.loads(str(answer.data.get("content") or ""))
    except (ValueError, RecursionError):
        return []
    titles = plan.get(key) if isinstance(plan, dict) else None
    if not isinstance(titles, list):
        return []
    return [title for title in titles if isinstance(title, str) and title not in known]
