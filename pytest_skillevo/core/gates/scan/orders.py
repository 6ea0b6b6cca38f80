"""Orders to the agent that no skill needs: to set other instructions aside, to give secrets away, to hide what it does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from . import english, languages
from .hits import Hit

_MESSAGES: Final = {
    "overrule": "tells the agent to set other instructions aside",
    "unbind": "tells the agent that no rules hold for it",
    "reveal_prompt": "asks for the system prompt",
    "exfiltrate": "sends credentials or private data away",
    "conceal": "hides from the user what it does",
    "fake_role": "speaks as if it were the system",
}
_OVERRULE: Final = tuple(tuple(re.compile(part) for part in parts) for parts in languages.OVERRULE)
_QUIET: Final = re.compile(english.QUIET, re.I)
_COVERTLY: Final = re.compile(languages.COVERTLY, re.I)
_MOVES: Final = re.compile(
    rf"{languages.SEND}|{english.TRANSFER}|hochlad|lade\b|kopier|copie|télécharge|copia|carga|copi[ae]r|загру|копиру"
    rf"|скачай|复制|上传|下载|安装|コピー|アップロード|복사|업로드|설치",
    re.I,
)
_CONCEAL: Final = re.compile(languages.CONCEAL, re.I)
_TRANSFER: Final = re.compile(f"{english.TRANSFER}|{languages.SEND}", re.I)
_VALUABLE: Final = re.compile(f"{english.VALUABLE}|{languages.SECRET}", re.I)
_SENDING: Final = re.compile(f"{english.SENDING}|{languages.SEND}", re.I)
_PRIVATE: Final = re.compile(f"{english.PRIVATE}|{languages.SECRET}", re.I)
_PLACE: Final = re.compile(english.PLACE, re.I)
_SENTENCE: Final = re.compile(
    r"[.!?](?=\s{1,8}[A-Z\"'`(]|\s{0,8}\Z)|[。！？]|\n\s{0,8}\n|\n(?=\s{0,8}(?:[-*#>|]|\d{1,8}\.))",
)
#: Where a clause ends that says something else than the one before.
_TURN: Final = re.compile(
    r"[;；]|,\s{0,2}(?:但|而|不过|aber|sondern|jedoch|mais|pero|sino|mas\b|ma\b|maar|ale\b|но\b|а\b)"
)
_QUOTE: Final = re.compile('["„”“]')
_NEAR: Final = 60
_SHORT_REACH: Final = 90
_REACH: Final = 240


def orders(text: str) -> Iterator[Hit]:
    """Everything of this module."""
    lower = text.lower()
    if len(lower) != len(text):  # the rare letter whose small form is two characters would shift all positions
        lower = text
    for kind, words, pattern in english.RULES:
        if any(word in lower for word in words):
            for match in pattern.finditer(text):
                if not (kind == "overrule" and _harmless(text, match)) and not (
                    kind == "conceal" and _doubled(text, match)
                ):
                    yield _hit(kind, *match.span())
    yield from _overruled(lower)
    yield from _sent(text)
    yield from _concealed(text)


def _hit(kind: str, start: int, end: int) -> Hit:
    return Hit(f"instruction:{kind}", _MESSAGES[kind], start, end, order=True)


def _harmless(text: str, match: re.Match[str]) -> bool:
    """Whether what is to be set aside stands in data, or is optional for the reader."""
    if match[0].lower().startswith("your "):  # "your new rules are in the next section"
        return False
    end, reach = match.end(), match.end() + _SHORT_REACH
    if english.FOUND_IN.match(text, end, reach) and not english.EARLIER.match(text, end, reach):
        return True
    return english.OPTIONAL.search(text, max(0, match.start() - 30), match.start()) is not None


def _doubled(text: str, match: re.Match[str]) -> bool:
    """Whether "without telling the user" is itself forbidden, in the same clause."""
    if not match[0].lower().startswith("without"):
        return False
    low, _ = _sentence(text, match.start(), match.end(), _SHORT_REACH)
    return english.NEGATED.search(text, low, match.start()) is not None


def _overruled(lower: str) -> Iterator[Hit]:
    """The three parts of an order in one clause, in any order."""
    for verb, which, what in _OVERRULE:
        for match in verb.finditer(lower):
            if not what.search(lower, max(0, match.start() - _SHORT_REACH), match.end() + _SHORT_REACH):
                continue
            low, high = _sentence(lower, match.start(), match.end(), _SHORT_REACH)
            for turn in _TURN.finditer(lower, low, high):
                if turn.end() <= match.start():
                    low = turn.end()
                elif turn.start() >= match.end():
                    high = min(high, turn.start())
            near = sorted(what.finditer(lower, low, high), key=lambda one: abs(one.start() - match.start()))
            found = near[0] if near else None
            if found and which.search(lower, max(low, found.start() - _NEAR), min(high, found.end() + _NEAR)):
                start, end = min(match.start(), found.start()), max(match.end(), found.end())
                # The end of a quotation between them: "ignore all rules" is what the text tells not to follow.
                if len(_QUOTE.findall(lower, start, end)) % 2 == 0:
                    yield _hit("overrule", start, end)


def _sentence(text: str, start: int, end: int, reach: int) -> tuple[int, int]:
    """The sentence around a place, at most `reach` characters to either side."""
    low = max(0, start - reach)
    for match in _SENTENCE.finditer(text, low, start):
        low = match.end()
    stop = _SENTENCE.search(text, end, end + reach)
    return low, stop.start() if stop else min(len(text), end + reach)


def _sent(text: str) -> Iterator[Hit]:
    """Something private that is sent to a place outside, in one sentence, unless that is how one logs in there."""
    done = 0
    for match in _SENDING.finditer(text):
        if match.start() < done:
            continue
        low, high = _sentence(text, match.start(), match.end(), _REACH)
        done = high
        place = _PLACE.search(text, low, high)
        if place is None or english.LOGIN.search(text, low, high):
            continue
        given = (
            one for one in _PRIVATE.finditer(text, low, high) if not english.LEFT_OUT.search(text, low, one.start())
        )
        private = next(given, None)
        if private is None and english.POINTS_BACK.search(text, match.start(), high):
            private = _PRIVATE.search(text, max(0, low - _REACH), low)
        if private is not None:
            parts = (match, private, place)
            yield _hit("exfiltrate", min(one.start() for one in parts), max(one.end() for one in parts))


def _concealed(text: str) -> Iterator[Hit]:
    for match in _CONCEAL.finditer(text):
        yield _hit("conceal", *match.span())
    done = 0
    for match in _COVERTLY.finditer(text):
        if match.start() < done:
            continue
        low, high = _sentence(text, match.start(), match.end(), _REACH)
        done = high
        if _MOVES.search(text, low, high):
            yield _hit("conceal", *match.span())
    for match in _QUIET.finditer(text):
        low, high = max(0, match.start() - _REACH), match.end() + _REACH
        if _TRANSFER.search(text, low, high) and _VALUABLE.search(text, low, high):
            yield _hit("conceal", *match.span())
