"""Whether parsed JSON is a report: a check against the published schema that names the first place that is not.

It knows the words of JSON Schema that schema/report-1.json uses and refuses to read a schema with others, so that a
check is never left out in silence.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from ..core.errors import ConfigError
from .json_file import clean
from .schema import SCHEMA_VERSION, report_schema
from .text import one_line

_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
_ANNOTATIONS: Final = {"$schema", "$id", "$defs", "title", "description", "items", "additionalProperties"}
#: More than any report has; json of the standard library would take gigabytes.
_MOST_BYTES: Final = 100_000_000


def read_report(path: Path) -> dict[str, Any]:
    """The cleaned report in a file. Raises ConfigError for what is not a report of this version."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise ConfigError(f"{path} is larger than {_MOST_BYTES // 10**6} MB: no report")
        data = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is not JSON: {one_line(str(error), 200)}") from None
    version = data.get("schema_version") if isinstance(data, dict) else None
    if version != SCHEMA_VERSION:
        raise ConfigError(f"{path} is no report of version {SCHEMA_VERSION} (schema_version is {version!r:.40})")
    wrong = next(problems(data), None)
    if wrong is not None:
        raise ConfigError(f"{path} is no valid report: {wrong}")
    try:
        return clean(data)
    except ValueError as error:
        raise ConfigError(f"{path} is no valid report: {error}") from None


def problems(data: Any) -> Iterator[str]:
    """What contradicts the schema, place by place."""
    schema = report_schema()
    yield from _check(data, schema, schema, "report")


def _check(value: Any, schema: Mapping[str, Any], root: Mapping[str, Any], place: str) -> Iterator[str]:
    for word, rule in schema.items():
        if word == "$ref":
            yield from _check(value, root["$defs"][rule.removeprefix("#/$defs/")], root, place)
        elif word in ("anyOf", "oneOf"):
            # No two choices of this schema share a value, so that one and any are the same.
            yield from _any_of(value, rule, root, place)
        elif word == "required":
            missing = [name for name in rule if isinstance(value, dict) and name not in value]
            yield from (f"{place} lacks the key {name!r}" for name in missing)
        elif word == "properties":
            yield from _members(value, schema, root, place)
        elif word == "prefixItems" or (word == "items" and rule):
            yield from _items(value, schema, root, place)
        elif word in _RULES:
            if not _RULES[word](value, rule):
                yield f"{place} is {value!r:.60}, but {word} is {rule!r:.80}"
        elif word not in _ANNOTATIONS:
            raise ValueError(f"the schema uses {word!r}, which is not known here")


def _any_of(value: Any, choices: list[Mapping[str, Any]], root: Mapping[str, Any], place: str) -> Iterator[str]:
    found = [list(_check(value, choice, root, place)) for choice in choices]
    if all(found):
        # The last choice is the full one; the first is null.
        yield found[-1][0]


def _members(value: Any, schema: Mapping[str, Any], root: Mapping[str, Any], place: str) -> Iterator[str]:
    if not isinstance(value, dict):
        return
    known = schema["properties"]
    for name, item in value.items():
        if name in known:
            yield from _check(item, known[name], root, f"{place}.{name}")
        elif schema.get("additionalProperties") is False:
            yield f"{place} has the unknown key {name!r:.60}"


def _items(value: Any, schema: Mapping[str, Any], root: Mapping[str, Any], place: str) -> Iterator[str]:
    if not isinstance(value, list):
        return
    first = schema.get("prefixItems", [])
    rest = schema.get("items")
    for index, item in enumerate(value):
        if index < len(first):
            yield from _check(item, first[index], root, f"{place}[{index}]")
        elif rest is False:
            yield f"{place} has more than {len(first)} entries"
            return
        elif isinstance(rest, Mapping) and not first:
            yield from _check(item, rest, root, f"{place}[{index}]")


def _is_type(value: Any, rule: str | list[str]) -> bool:
    names = [rule] if isinstance(rule, str) else rule
    if isinstance(value, bool):
        return "boolean" in names
    return any(isinstance(value, _TYPES[name]) for name in names)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


#: Word -> whether a value keeps its rule; a rule for another type of value is kept.
_RULES: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "type": _is_type,
    "const": lambda value, rule: bool(value == rule),
    "enum": lambda value, rule: value in rule,
    "minimum": lambda value, rule: not _is_number(value) or value >= rule,
    "maximum": lambda value, rule: not _is_number(value) or value <= rule,
    "exclusiveMinimum": lambda value, rule: not _is_number(value) or value > rule,
    "exclusiveMaximum": lambda value, rule: not _is_number(value) or value < rule,
    "minLength": lambda value, rule: not isinstance(value, str) or len(value) >= rule,
    "pattern": lambda value, rule: not isinstance(value, str) or re.search(rule, value) is not None,
    "minItems": lambda value, rule: not isinstance(value, list) or len(value) >= rule,
    "uniqueItems": lambda value, rule: not isinstance(value, list) or len({json.dumps(v) for v in value}) == len(value),
}
