"""What to say when no answer is recorded for a request: which part of it differs from what was recorded, and how."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from ...core.errors import ConfigError
from .tape import Exchange

_MOST_LINES: Final = 16
_LONGEST_LINE: Final = 160


class CassetteMiss(ConfigError):
    """No answer is recorded for a request. `headline` says so without anything that the case asks."""

    def __init__(self, headline: str, detail: str) -> None:
        super().__init__(f"{headline}\n{detail}" if detail else headline)
        self.headline = headline


def explained(wanted: Exchange, recorded: Iterable[Exchange], case: str, file: str) -> CassetteMiss:
    """The miss of `wanted`, compared with the recorded exchange that is most like it."""
    number = len(wanted.messages)
    asked = f"{wanted.model} has no recorded answer to a request of {number} messages in {case}"
    again = "record it with --evolve-cassettes=record, or only what is missing with --evolve-cassettes=auto"
    others = list(recorded)
    if not others:
        return CassetteMiss(f"{asked}: {file} holds nothing; {again}", "")
    closest = max(others, key=lambda one: _likeness(wanted, one))
    stale = ""
    if all(one.skill != wanted.skill for one in others):
        versions = f"{closest.skill[:12] or 'none'}, now it is {wanted.skill[:12] or 'none'}"
        stale = f"; the cassette is stale: it was recorded with the skill {versions}"
    return CassetteMiss(f"{asked} ({file}){stale}; {again}", difference(wanted, closest))


def _likeness(wanted: Exchange, other: Exchange) -> tuple[Any, ...]:
    """Sort key: the more of the conversation is the same, the better."""
    return (
        other.model == wanted.model,
        _common(wanted.messages, other.messages),
        -abs(len(wanted.messages) - len(other.messages)),
        other.skill == wanted.skill,
        other.parameters == wanted.parameters,
        other.repeat == wanted.repeat,
    )


def _common(a: Sequence[Any], b: Sequence[Any]) -> int:
    count = 0
    for one, other in zip(a, b, strict=False):
        if one != other:
            break
        count += 1
    return count


def difference(wanted: Exchange, other: Exchange) -> str:
    """The first thing in which two requests differ, in words and lines of a diff (recorded against wanted)."""
    if other.model != wanted.model:
        return f"recorded is the model {other.model}"
    place = _common(wanted.messages, other.messages)
    if place < min(len(wanted.messages), len(other.messages)):
        now, then = wanted.messages[place], other.messages[place]
        return f"message {place + 1} ({now.get('role')}) differs:\n{_diff(_lines(then), _lines(now))}"
    if len(wanted.messages) != len(other.messages):
        return f"the recorded conversation has {len(other.messages)} messages where this one has {len(wanted.messages)}"
    if list(wanted.tools) != list(other.tools):
        return f"the tools differ:\n{_diff(_lines({'tools': other.tools}), _lines({'tools': wanted.tools}))}"
    changed = [
        f"{name} was {other.parameters.get(name)!r} and is {wanted.parameters.get(name)!r}"
        for name in sorted({*wanted.parameters, *other.parameters})
        if wanted.parameters.get(name) != other.parameters.get(name)
    ]
    if changed:
        return "the messages are the same; " + "; ".join(changed)
    if other.skill != wanted.skill:
        return "the request is the same; only the version of the skill differs"
    if other.repeat != wanted.repeat:
        return f"the request is the same; recorded is repeat {other.repeat}, wanted repeat {wanted.repeat}"
    return f"the same request is recorded {other.nth + 1} times in one run, and was made once more"


def _lines(message: Mapping[str, Any]) -> list[str]:
    """A message or tools as lines: texts as they are, the rest as JSON."""
    lines: list[str] = []
    for name, value in message.items():
        if isinstance(value, str):
            lines += value.split("\n") if name == "content" else [f"{name}: {value}"]
        else:
            lines += [f"{name}:", *json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True).split("\n")]
    return lines


def _diff(before: Sequence[str], after: Sequence[str]) -> str:
    lines = [
        line if len(line) <= _LONGEST_LINE else line[:_LONGEST_LINE] + "..."
        for line in difflib.unified_diff(before, after, n=1, lineterm="")
        if not line.startswith(("---", "+++", "@@"))
    ]
    more = [f"... {len(lines) - _MOST_LINES} more lines"] if len(lines) > _MOST_LINES else []
    return "\n".join([*lines[:_MOST_LINES], *more])
