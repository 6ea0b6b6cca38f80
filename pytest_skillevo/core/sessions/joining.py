"""Records of one conversation put together: most of them repeat what was said before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TypeAlias

from ..canonical import canonical_json
from ..records import Message

#: A message, and its time in nanoseconds since 1970 where it is known.
Timed: TypeAlias = tuple[Message, int | None]


def extend(known: list[Timed], more: Sequence[Timed]) -> None:
    """Add to `known` what is new in `more`.

    Where what people and models said goes on from `known`, only the rest is new; answers of tools may have come in
    another order, or from elsewhere already. Otherwise all of it is new.
    """
    before, given = ([_key(message) for message, _ in one] for one in (known, more))
    spine = [key for key in before if key[0] != "tool"]
    if [key for key in given if key[0] != "tool"][: len(spine)] != spine:
        known += more
        return
    left = Counter(before)
    for key, one in zip(given, more, strict=True):
        if left[key] > 0:
            left[key] -= 1
        else:
            known.append(one)


def _key(message: Message) -> tuple[str, str]:
    """What makes a message the same: an answer of a tool goes by the call, however it is written."""
    if message["role"] == "tool":
        return "tool", message.get("tool_call_id") or message["content"]
    return message["role"], canonical_json(message)
