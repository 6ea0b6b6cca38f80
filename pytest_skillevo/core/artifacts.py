"""Checks of what an agent left behind or did: files by kind, commands by fragments (spec/wikiskill.md 4).

A check gives "" when it holds, else why it does not, as feedback. A broken artifact is a failed check, never an error.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias, get_args

from .canonical import no_constant
from .errors import ConfigError

Kind: TypeAlias = Literal["text", "contains", "json", "json_subset", "jsonl_subset", "absent"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)


def check_artifact(kind: Kind, content: bytes | None, expected: Any, *, distinct: bool = False) -> str:
    """Check a file's bytes (None: there is no such file).

    "text" is equality, "contains" every fragment, "json" equality of values and types, "json_subset" and "jsonl_subset"
    recursive containment, in which the order of lists does not count; with `distinct` each element may satisfy one
    expectation only. Raises ConfigError for an unknown kind.
    """
    if kind not in KINDS:
        raise ConfigError(f"an artifact is checked as one of {', '.join(KINDS)}, not {kind!r}")
    if kind == "absent":
        return "" if content is None else "it is still there"
    if content is None:
        return "the file is missing"
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return "it is not UTF-8"
    if kind == "text":
        return "" if text == expected else "the text differs"
    if kind == "contains":
        missing = sum(fragment not in text for fragment in expected)
        return "" if not missing else f"{missing} of {len(expected)} expected fragments are missing"
    try:
        value = _lines(text) if kind == "jsonl_subset" else _parsed(text)
    except (ValueError, RecursionError) as error:
        return f"it is not valid {'JSON lines' if kind == 'jsonl_subset' else 'JSON'}: {error}"
    holds = same(value, expected) if kind == "json" else holds_all(value, expected, distinct)
    return "" if holds else "the JSON differs" if kind == "json" else "the JSON lacks an expected part"


def _lines(text: str) -> list[Any]:
    return [_parsed(line) for line in text.split("\n") if line.strip()]


def _parsed(text: str) -> Any:
    return json.loads(text, parse_constant=no_constant)


def same(value: Any, expected: Any) -> bool:
    """Whether two JSON values are equal, types included: 1 is not true, and 1 is 1.0."""
    if isinstance(expected, bool) or isinstance(value, bool):
        return value is expected
    if isinstance(expected, Mapping):
        keys = isinstance(value, Mapping) and value.keys() == expected.keys()
        return keys and all(same(value[key], expected[key]) for key in expected)
    if isinstance(expected, list):
        return isinstance(value, list) and len(value) == len(expected) and all(map(same, value, expected))
    return bool(value == expected)


def holds_all(value: Any, expected: Any, distinct: bool = False) -> bool:
    """Whether a JSON value holds the expected one: objects by key, lists by element in any order, scalars as `same`."""
    if isinstance(expected, Mapping):
        return isinstance(value, Mapping) and all(
            key in value and holds_all(value[key], expected[key], distinct) for key in expected
        )
    if isinstance(expected, list):
        if not isinstance(value, list):
            return False
        if distinct:
            return _matched([[holds_all(one, wanted, True) for one in value] for wanted in expected])
        return all(any(holds_all(one, wanted) for one in value) for wanted in expected)
    return same(value, expected)


def _matched(fits: Sequence[Sequence[bool]]) -> bool:
    """Whether every row can have a column of its own in which it fits (augmenting paths)."""
    owner: dict[int, int] = {}

    def place(row: int, tried: set[int]) -> bool:
        for column, fit in enumerate(fits[row]):
            if fit and column not in tried:
                tried.add(column)
                if column not in owner or place(owner[column], tried):
                    owner[column] = row
                    return True
        return False

    return all(place(row, set()) for row in range(len(fits)))


def check_commands(required: Iterable[Sequence[str]], commands: Sequence[str]) -> list[bool]:
    """For each list of fragments, whether one and the same command that was run holds all of them."""
    return [any(all(part in command for part in fragments) for command in commands) for fragments in required]


def commands_of(messages: Iterable[Mapping[str, Any]]) -> list[str]:
    """The commands that an agent ran: the argument `command` of its tool calls. Results and prose do not count."""
    found = []
    for message in messages:
        for call in message.get("tool_calls") or ():
            arguments = call.get("function", {}).get("arguments")
            try:
                arguments = json.loads(arguments) if isinstance(arguments, str) else arguments
            except (ValueError, RecursionError):
                continue
            command = arguments.get("command") if isinstance(arguments, Mapping) else None
            if isinstance(command, list):
                command = " ".join(map(str, command))
            if isinstance(command, str):
                found.append(command)
    return found
