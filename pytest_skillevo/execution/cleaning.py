"""What a test hands over, as JSON that is safe to keep: plain values, bounded in every direction, no secrets.

A test may hand over anything: cycles, objects that raise when printed, megabytes. None of it may stop a run.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NewType

from ..core.gates.redaction import MARK, is_sensitive, redacted
from ..core.records import Outcome

#: Nesting, number of values, characters of one text and of all together that are kept; the store caps the whole.
DEEPEST = 30
MOST_VALUES = 100_000
LONGEST_TEXT = 100_000
MOST_TEXT = 2_000_000
#: The same for the feedback of one rollout, which every reader and the reflection model get (spec/gepa.md 1.15).
LONGEST_FEEDBACK = 16_384
#: Characters around a cut that are looked through and then dropped, so that no half of a secret stays.
MARGIN = 1_000
#: Whole numbers of more bits are told by their size: writing them out takes quadratic time.
WIDEST_INTEGER = 256

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{4,}")

Redact = Callable[[str], str]

#: An outcome whose texts and trace went through `cleaned`, in whichever process it was made. Cleaning bounds what it
#: copies and is done once: a second pass would cut what the first one left.
CleanOutcome = NewType("CleanOutcome", Outcome)


def cleaned(outcome: Outcome, redact: Redact) -> CleanOutcome:
    """The outcome as it may be sent, stored and shown: plain JSON, bounded, redacted."""
    whole = Outcome.from_json(clean(outcome.to_json(), redact, LONGEST_FEEDBACK))
    if whole.evaluation is None or outcome.evaluation is None:
        return CleanOutcome(whole)
    trace = clean(outcome.evaluation.trace, redact)
    return CleanOutcome(replace(whole, evaluation=replace(whole.evaluation, trace=trace)))


def clean(value: Any, redact: Redact, longest_text: int = LONGEST_TEXT) -> Any:
    """A JSON-able copy with every text redacted and bounded; what is no JSON becomes its text."""
    return redacted(_Copier(redact, longest_text).copy(value, 0), redact)


def safe_text(value: object) -> str:
    """The text of any object, also of one that raises when it is printed; the same in every process."""
    try:
        return _ADDRESS.sub("0x…", str(value))
    except Exception:
        return f"<unprintable {type(value).__name__} object>"


def _are_numbers(values: Sequence[Any]) -> bool:
    """Whether all are finite floats: lists of scores are the longest, and nothing has to be looked at in them."""
    return all(type(value) is float for value in values) and all(map(math.isfinite, values))


class _Copier:
    """Copies a value into plain JSON; `_left` and `_room` count down the values and characters that may still be."""

    def __init__(self, redact: Redact, longest_text: int) -> None:
        self._redact = redact
        self._longest_text = longest_text
        self._left = MOST_VALUES
        self._room = MOST_TEXT
        self._open: set[int] = set()

    def copy(self, value: Any, depth: int) -> Any:
        self._left -= 1
        if self._left < 0:
            return "[cut: too many values]"
        if value is None or value is True or value is False:
            return value
        if isinstance(value, str):
            return self._text(str.__str__(value))
        if isinstance(value, int):
            return int(value) if value.bit_length() <= WIDEST_INTEGER else f"<integer of {value.bit_length()} bits>"
        if isinstance(value, float) and math.isfinite(value):
            return float(value)
        if depth >= DEEPEST:
            return f"[cut: {type(value).__name__} nested too deeply]"
        if isinstance(value, set | frozenset):
            return sorted(self._text(safe_text(item)) for item in self._some(value))
        if not isinstance(value, list | tuple | Mapping):
            return self._text(safe_text(value))
        if id(value) in self._open:
            return "[cut: contains itself]"
        self._open.add(id(value))
        try:
            if isinstance(value, Mapping):
                return self._object(value, depth + 1)
            if len(value) <= self._left and _are_numbers(value):
                self._left -= len(value)
                return list(value)
            return [self.copy(item, depth + 1) for item in self._some(value)]
        finally:
            self._open.discard(id(value))

    def _some(self, items: Any) -> Iterator[Any]:
        """The items of a list for as long as values may be copied; one more than that, so that the cut is told."""
        for item in items:
            yield item
            if self._left < 0:
                return

    def _object(self, value: Mapping[Any, Any], depth: int) -> Any:
        try:
            items = list(value.items())
        except Exception:
            return self._text(safe_text(value))
        copied = {}
        for key, item in self._some(items):
            name = self._text(safe_text(key))
            # A text under the name of a credential is one, whatever it looks like.
            secret = isinstance(item, str) and item and is_sensitive(name)
            copied[name] = MARK if secret else self.copy(item, depth)
        return copied

    def _text(self, text: str) -> str:
        limit = min(self._longest_text, self._room)
        self._room -= min(len(text), limit)
        if len(text) <= limit:
            return text
        head, tail = 3 * limit // 4, limit // 4
        first = self._redact(text[: head + MARGIN])[:head]
        last = self._redact(text[len(text) - tail - MARGIN :])[-tail:] if tail else ""
        return f"{first}\n[cut: {len(text) - head - tail:,} characters]\n{last}"
