"""From a model's reply to a decision: every object in the reply is looked at, none is completed.

Comments, Python's literals, trailing commas and typographic quotes are read as what they plainly mean. A missing end is
never supplied: half a rule may say the opposite (spec/online-review.md 6.3, 10 #7 and #21).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..canonical import no_constant
from .decision import KEYS, Invalid, Rejection, ReviewDecision, WrongShape, normalised

#: Characters; a longer reply is refused unread.
MAX_REPLY: Final = 60_000
#: Starts of objects that are tried before giving up.
_MAX_STARTS: Final = 200

_FENCE: Final = re.compile(r"\A```[a-z]*[ \t]*\n(.*?)\n?```\Z", re.DOTALL | re.IGNORECASE)
_LITERALS: Final = {"None": "null", "True": "true", "False": "false", "undefined": "null"}
_TOKEN: Final = re.compile(
    r'"(?:[^"\\]|\\.)*"|“[^“”\n]*”|//[^\n]*|/\*.*?\*/|,(?=\s*[}\]])|\b(?:None|True|False|undefined)\b', re.DOTALL
)


def parse(reply: str, finish_reason: str = "stop", *, salvage: bool = False) -> ReviewDecision | Rejection:
    """The decision in a reply, or why there is none. With `salvage`, broken entries are left out of it.

    A reply that was cut off is refused even if it happens to parse, and so is one with two different decisions.
    """
    decision = parse_with_notes(reply, finish_reason, salvage=salvage)
    return decision if isinstance(decision, Rejection) else decision[0]


def parse_with_notes(
    reply: str, finish_reason: str = "stop", *, salvage: bool = False
) -> tuple[ReviewDecision, tuple[str, ...]] | Rejection:
    """As parse, with what was left out of the decision, in sentences."""
    if finish_reason in ("length", "content_filter"):
        return Rejection(f"the answer was cut off ({finish_reason})")
    if len(reply) > MAX_REPLY:
        return Rejection(f"the answer has {len(reply)} characters; at most {MAX_REPLY} are read")
    try:
        return normalised(_answer(reply.strip()), salvage=salvage)
    except Invalid as problem:
        return Rejection(str(problem), "invalid")
    except WrongShape as problem:
        return Rejection(str(problem))


def _answer(text: str) -> Mapping[str, Any]:
    """The one object in the text that is an answer."""
    fenced = _FENCE.match(text)
    whole = fenced[1].strip() if fenced else text
    if not whole:
        raise WrongShape("the answer is empty")
    value = _value(whole)
    if value is not _NOTHING:
        if value is None:
            return {}
        if isinstance(value, list) and value and all(isinstance(one, dict) and "steps" in one for one in value):
            return {"skills": value}
        if isinstance(value, dict) and (not value or KEYS & value.keys()):
            return value
        raise WrongShape(f"the answer has none of the keys {', '.join(sorted(KEYS))}")
    return _only([one for one in _objects(text) if KEYS & one.keys()])


def _only(answers: list[Mapping[str, Any]]) -> Mapping[str, Any]:
    if not answers:
        raise WrongShape("the answer holds no complete JSON object with one of the keys " + ", ".join(sorted(KEYS)))
    if any(one != answers[0] for one in answers):
        raise WrongShape(f"the answer holds {len(answers)} different decisions")
    return answers[0]


_NOTHING: Final = object()


def _value(text: str) -> Any:
    try:
        return json.loads(_plain(text), parse_constant=no_constant, object_pairs_hook=_no_repeats)
    except (ValueError, RecursionError):
        return _NOTHING


def _objects(text: str) -> Iterator[Mapping[str, Any]]:
    """The outermost complete objects between other text."""
    plain = _plain(text)
    decoder = json.JSONDecoder(parse_constant=no_constant, object_pairs_hook=_no_repeats)
    place, starts = plain.find("{"), 0
    while place >= 0 and starts < _MAX_STARTS:
        starts += 1
        try:
            value, end = decoder.raw_decode(plain, place)
        except (ValueError, RecursionError):
            # What begins here never ends: an object inside of it may be a part of a cut answer, and is none.
            if _balance(plain, place) > 0:
                return
            end = place + 1
        else:
            yield value
        place = plain.find("{", end)


def _balance(text: str, start: int) -> int:
    """Braces that stay open from `start` on, those inside strings not counted."""
    depth = 0
    for token in re.finditer(r'"(?:[^"\\]|\\.)*"|[{}]', text[start:]):
        depth += {"{": 1, "}": -1}.get(token[0], 0)
        if depth == 0:
            return 0
    return depth


def _plain(text: str) -> str:
    """The text with what JSON does not know, outside of strings, as what it means."""

    def mend(found: re.Match[str]) -> str:
        token = found[0]
        if token[0] == '"':
            return token
        if token[0] == "“":
            return json.dumps(token[1:-1], ensure_ascii=False)
        return _LITERALS.get(token, "")

    return _TOKEN.sub(mend, text)


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("a key twice")
    return dict(pairs)
