"""Directives that fix a value ("always report Norway as NO"): obeyed to the letter, right or wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from .language import read_sentences
from .practices import scope_of

_QUOTE = "[\"'“”`]?"
_NAME = r"[A-Z][\w-]*(?: [A-Z][\w-]*)*"
_NAMED = re.compile(
    rf"\b(?i:report|write|record|list|give|enter|treat|name|spell|render)\s+{_QUOTE}(?P<subject>{_NAME}){_QUOTE}"
    rf"\s+as\s+{_QUOTE}(?P<value>{_NAME}){_QUOTE}\s*(?=[.,;!]|$)"
)
_FIXED = re.compile(
    rf"\b(?i:set|report|write|put|record|give|use)\s+{_QUOTE}(?P<field>[a-z]+(?:_[a-z]+)*){_QUOTE}\s+"
    rf"(?:to|as|=)\s+{_QUOTE}(?P<value>[A-Z][\w-]*|\d+){_QUOTE}\s*(?=[.,;!]|$|for\b|always\b|whenever\b|in every\b)"
)


@dataclass(frozen=True, slots=True)
class Override:
    """A fixed value: for every value equal to `subject`, or for the field `field`; only for the names in `scope`."""

    value: str
    subject: str = ""
    field: str = ""
    scope: tuple[str, ...] = ()


@lru_cache(maxsize=256)
def read_overrides(document: str) -> tuple[Override, ...]:
    """The fixed values that a skill's method text orders."""
    found = []
    for sentence in read_sentences(document):
        if not all(sentence.affirmed):
            continue
        for match in _NAMED.finditer(sentence.raw):
            found.append(Override(match["value"], subject=match["subject"]))
        for match in _FIXED.finditer(sentence.raw):
            found.append(Override(match["value"], field=match["field"], scope=scope_of(sentence.raw)))
    return tuple(found)


def apply_overrides(entry: Mapping[str, Any], overrides: Sequence[Override], names: Sequence[str]) -> dict[str, Any]:
    """An entry of the artifact with the ordered values in it; `names` are the names under which it goes in the task."""
    changed = dict(entry)
    for override in overrides:
        if override.subject:
            changed = {key: override.value if value == override.subject else value for key, value in changed.items()}
        elif override.field in changed and (not override.scope or any(name in names for name in override.scope)):
            changed[override.field] = int(override.value) if override.value.isdigit() else override.value
    return changed
