"""The rules of the 21 public families, read from `tables.json`: facts about the benchmark, laid out by family."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

from .countries import CountriesRules
from .gitlab import GitlabRules
from .rules import Head, Rules
from .uniform import UniformRules

LEVELS: Final = ("e1", "e2", "e3", "m1", "m2", "h1")
#: How many entities a level has, by the letter of its band.
ENTITIES: Final[Mapping[str, int]] = {"e": 3, "m": 4, "h": 5}


@dataclass(frozen=True, slots=True)
class TaskRules:
    """One of the 126 public tasks: its artifact's file name, its evaluator, the ids it expects."""

    family: str
    level: str
    file: str
    rules: Rules
    expected: tuple[Any, ...]


@cache
def _tables() -> Mapping[str, Any]:
    text = files(__package__).joinpath("tables.json").read_text(encoding="utf-8")
    tables: Mapping[str, Any] = json.loads(text)
    return tables


def public_families() -> tuple[str, ...]:
    """The names of the 21 families."""
    return tuple(_tables())


@cache
def public_task(family: str, level: str) -> TaskRules:
    """The rules of one public task. Raises KeyError for a family or level that the benchmark does not have."""
    table = _tables()[family]
    if level not in LEVELS:
        raise KeyError(level)
    return _READERS[table["evaluator"]](family, level, table)


def _uniform(family: str, level: str, table: Mapping[str, Any]) -> TaskRules:
    required = tuple(key for key, levels in table["required"].items() if levels == "all" or level in levels.split())
    # A check is dropped where its key is not required, unless no level requires it.
    checks = tuple(
        (kind, tuple(keys), weight)
        for kind, keys, weight in table["checks"]
        if not set(keys) & set(table["required"]) or set(keys) & set(required)
    )
    (list_key, *list_aliases), (id_key, *id_aliases) = table["list"], table["id"]
    by_number = table["id_mode"].startswith("int")
    rules = UniformRules(
        list_key,
        id_key,
        table["id_mode"],
        table["id_weight"],
        checks,
        required,
        table["threshold"],
        list_aliases=tuple(list_aliases),
        id_aliases=tuple(id_aliases),
        special=table.get("special"),
        known={int(key) if by_number else key: value for key, value in table.get("known", {}).items()},
    )
    return TaskRules(family, level, table["file"], rules, tuple(table["entities"][: ENTITIES[level[0]]]))


def _countries(family: str, level: str, table: Mapping[str, Any]) -> TaskRules:
    own = table["levels"][level]
    measures = tuple((name, weight) for name, weight in own["measures"])
    regions = {name: tuple(span) for name, span in table["regions"].items()}
    rules = CountriesRules(own["list"], Head(*own["head"]), measures, regions, level)
    return TaskRules(family, level, own["file"], rules, tuple(own["expected"]))


def _gitlab(family: str, level: str, table: Mapping[str, Any]) -> TaskRules:
    own = table["levels"][level]
    rules = GitlabRules(
        tuple(own["required"]),
        {field: tuple(keys) for field, keys in own["counts"].items()},
        own["count_type_checked"],
        own["bare_counts_checked"],
        tuple(own["summary"]),
        level,
    )
    return TaskRules(family, level, own["file"], rules, tuple(own["expected"]))


_READERS: Final = {"uniform": _uniform, "countries": _countries, "gitlab": _gitlab}
