"""The usual shapes of lookup tools, so that a family declares them in a line: paged searches and paged groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from .compare import ordered, parts, whole
from .scenario import Scenario
from .tools import NOT_FOUND, Answer, Ask, Aspect, ToolSpec, failed
from .world import Record

Row: TypeAlias = Callable[[Ask, Record], dict[str, Any]]
"""(call, record) -> one row of a list answer; every row carries the record's id."""

Extras: TypeAlias = Callable[[Ask, Sequence[Record]], dict[str, Any]]
"""(call, rows' records) -> further keys of an answer in the larger payload profiles."""

#: The paging argument that lists take beyond the public benchmark's arguments.
OFFSET: Final[Mapping[str, Any]] = {"type": "integer", "minimum": 0, "default": 0}


def row_aspects(record: Record, row: Mapping[str, Any]) -> frozenset[Aspect]:
    """What a row reveals: each of its keys but the id, about its record."""
    return frozenset((record["id"], key) for key in row if key != "id")


def page(ask: Ask, records: Sequence[Record], *, cap: int, total: str, rows: str, row: Row) -> Answer:
    """One page of records from the call's offset on, at most `cap` of them, with the total."""
    shown = records[ask.arguments["offset"] :][:cap]
    table = [row(ask, record) for record in shown]
    payload = {total: len(records), "returned_count": len(shown), "offset": ask.arguments["offset"], rows: table}
    aspects = [row_aspects(record, line) for record, line in zip(shown, table, strict=True)]
    return Answer(payload, frozenset().union(*aspects))


def search(
    name: str, description: str, *, argument: str, cap: int, total: str, rows: str, row: Row, extras: Extras
) -> ToolSpec:
    """A search for records whose name contains the text, in any case; nothing found is NOT_FOUND."""

    def answer(ask: Ask) -> Answer:
        text = ask.arguments[argument]
        found = [record for record in ask.world.records if text and text.casefold() in record["name"].casefold()]
        if not found:
            return failed(NOT_FOUND, f"Nothing matches {text!r}. Try fewer words.")
        hits = page(ask, found, cap=cap, total=total, rows=rows, row=row)
        return Answer({"success": True, "query": text, **hits.payload, **_extras(ask, extras, found)}, hits.reveals)

    return ToolSpec(
        name=name,
        description=description,
        parameters={argument: {"type": "string"}, "offset": OFFSET},
        answer=answer,
        about=lambda record: {argument: record["name"]},
    )


def listing(
    name: str,
    description: str,
    *,
    argument: str,
    attribute: str,
    cap: int,
    total: str,
    rows: str,
    row: Row,
    extras: Extras,
    gaps: Mapping[str, Answer] | None = None,
    asked: Callable[[Record], str] | None = None,
) -> ToolSpec:
    """The records of one group, by the value of an attribute.

    It reveals the group's list, and for each row that its record belongs to the group. `gaps` are values (case-folded)
    with an answer of their own. `asked` says which value a call about one record asks for; by default the attribute.
    """

    def answer(ask: Ask) -> Answer:
        value = ask.arguments[argument]
        if gaps and value.casefold() in gaps:
            return gaps[value.casefold()]
        found = ask.world.group(attribute, value)
        if not found:
            return failed(NOT_FOUND, f"There is no {argument} {value!r}.")
        hits = page(ask, found, cap=cap, total=total, rows=rows, row=row)
        # Being listed tells a plain attribute whole, but of a list attribute only one member.
        plain = isinstance(found[0][attribute], str)
        here = [(line["id"], attribute) for line in hits.payload[rows]] if plain else []
        payload = {"success": True, argument: value, **hits.payload, **_extras(ask, extras, found)}
        return Answer(payload, hits.reveals.union(here, [group_aspect(attribute, value)]))

    return ToolSpec(
        name=name,
        description=description,
        parameters={argument: {"type": "string"}, "offset": OFFSET},
        answer=answer,
        about=lambda record: {argument: asked(record) if asked else record[attribute]},
    )


def group_aspect(attribute: str, value: str) -> Aspect:
    """The aspect that stands for the list of a group."""
    return (f"{attribute}:{value.casefold()}", "list")


def first_page(attribute: str, cap: int) -> Callable[[Scenario, Record, Any], tuple[int, int] | None]:
    """For FieldSpec.truncated: an object whose "count" is the number of rows of a page, not of the record's group."""

    def truncated(task: Scenario, record: Record, value: Any) -> tuple[int, int] | None:
        total = len(task.world.group(attribute, record[attribute]))
        counted = isinstance(value, dict) and value.get("count") == cap
        return (cap, total) if counted and total > cap else None

    return truncated


def count_and_top(task: Scenario, attribute: str, value: str) -> dict[str, Any]:
    """The truth about a group's list: how many records it has and the first three names in alphabetical order."""
    names = sorted(record["name"] for record in task.world.group(attribute, value))
    return {"count": len(names), "top3": names[:3]}


#: The comparator of such an object.
COUNT_AND_TOP: Final = parts(count=whole, top3=ordered)


def _extras(ask: Ask, extras: Extras, records: Sequence[Record]) -> dict[str, Any]:
    return {} if ask.profile == "lean" else extras(ask, records)


def fact(*names: str) -> Callable[[Record], tuple[Aspect, ...]]:
    """For FieldSpec.needs: these facts about the record itself."""
    return lambda record: tuple((record["id"], name) for name in names)


def group_list(attribute: str) -> Callable[[Record], tuple[Aspect, ...]]:
    """For FieldSpec.needs: the list of the group that the record belongs to."""
    return lambda record: (group_aspect(attribute, record[attribute]),)
