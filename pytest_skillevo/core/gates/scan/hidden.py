"""Characters that people do not see and models read: direction controls, zero-width marks, tags, control codes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from .hits import Hit

_MESSAGES: Final = {
    "bidi": "turns the reading direction, so that text looks other than it is",
    "zero_width": "is invisible and can hide or split words",
    "tag": "is an invisible copy of a letter",
    "variation": "is one of several invisible marks that can carry hidden data",
    "control": "is a control code that can hide text on a screen",
}
_SUSPECT: Final = re.compile(
    "(?P<bidi>[\u202a-\u202e\u2066-\u2069]+)"
    "|(?P<mark>[\u200e\u200f\u061c]+)"
    "|(?P<joiner>[\u200c\u200d])"
    "|(?P<zero_width>[\u200b\u2060-\u2064\ufeff\u180e\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\u206a-\u206f]+)"
    "|(?P<tag>[\U000e0000-\U000e007f]+)"
    "|(?P<variation>[\ufe00-\ufe0f\U000e0100-\U000e01ef]+)"
    "|(?P<control>[\x00-\x08\x0b\x0e-\x1f\x7f\x80-\x84\x86-\x9f]+)"
)
#: All characters that the pattern looks for, to be taken out before other rules read a text.
INVISIBLE: Final = re.compile(
    "[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\u180e\u034f\u061c\u115f\u1160\u3164\uffa0\xad\U000e0000-\U000e007f"
    "\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)
_RTL: Final = frozenset({"R", "AL", "AN"})
#: Scripts whose spelling needs joiners, and those without spaces between words, which use zero-width spaces.
_JOINING: Final = ("ARABIC", "SYRIAC", "MONGOLIAN", "NKO")
_INDIC: Final = (
    *("DEVANAGARI", "BENGALI", "GURMUKHI", "GUJARATI", "ORIYA", "TAMIL", "TELUGU", "KANNADA", "MALAYALAM", "SINHALA"),
)
_SPACELESS: Final = ("THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN", "CJK", "HIRAGANA", "KATAKANA", "JAVANESE")
_BLACK_FLAG: Final = "\U0001f3f4"
_NEAR: Final = 200


def hidden_characters(text: str) -> Iterator[Hit]:
    """Invisible characters, but for the places where the script or an emoji needs them."""
    for match in _SUSPECT.finditer(text):
        kind = match.lastgroup or ""
        if kind == "mark":
            kind = "" if _right_to_left(text, match) else "bidi"
        elif kind == "joiner":
            kind = "" if _joins(text, match) else "zero_width"
        elif kind == "zero_width":
            kind = "" if _belongs(text, match) else kind
        elif kind == "tag":
            kind = "" if _flag(text, match) else kind
        elif kind == "variation":
            kind = "" if len(match[0]) == 1 and _varies(text, match.start()) else kind
        if kind:
            points = " ".join(f"U+{ord(char):04X}" for char in match[0][:4])
            yield Hit(f"hidden_unicode:{kind}", f"{points} {_MESSAGES[kind]}", *match.span())


def _script(char: str, scripts: tuple[str, ...]) -> bool:
    return unicodedata.name(char, "").startswith(scripts)


def _right_to_left(text: str, match: re.Match[str]) -> bool:
    """Whether text that runs from the right stands near, where these marks set punctuation right."""
    near = text[max(0, match.start() - _NEAR) : match.start()] + text[match.end() : match.end() + _NEAR]
    return len(match[0]) == 1 and any(unicodedata.bidirectional(char) in _RTL for char in near if char not in match[0])


def _joins(text: str, match: re.Match[str]) -> bool:
    before, after = text[max(0, match.start() - 1) : match.start()], text[match.end() : match.end() + 1]
    if not before:
        return False
    if _script(before, (*_JOINING, *_INDIC)):
        return True
    return match[0] == "\u200d" and _pictured(before) and bool(after) and _pictured(after)


def _pictured(char: str) -> bool:
    """Whether the character may be part of an emoji: a picture, a skin tone, a variation mark."""
    return (unicodedata.category(char) in ("So", "Sk", "Sm", "Po") and ord(char) > 0x2000) or char == "\ufe0f"


def _belongs(text: str, match: re.Match[str]) -> bool:
    if match.start() == 0 and match[0] == "\ufeff":
        return True  # a byte order mark
    if len(match[0]) > 1 or match[0] not in "\u200b\u2060\u115f\u1160\u17b4\u17b5":
        return False
    before = text[max(0, match.start() - 1) : match.start()]
    return bool(before) and _script(before, (*_SPACELESS, "HANGUL"))


def _flag(text: str, match: re.Match[str]) -> bool:
    """The flags of England, Scotland, Wales and the like: a black flag, few tags, the end tag."""
    return (
        text[max(0, match.start() - 1) : match.start()] == _BLACK_FLAG
        and 4 <= len(match[0]) <= 7
        and match[0][-1] == "\U000e007f"
    )


def _varies(text: str, position: int) -> bool:
    """Whether the mark chooses between forms of the character before it, as for emoji, digits and ideographs."""
    before = text[max(0, position - 1) : position]
    if not before:
        return False
    return (
        unicodedata.category(before) in ("So", "Sk", "Sm", "Po", "Pd", "Sc", "Nd")
        or before in "#*"
        or _script(before, ("CJK", "MONGOLIAN", "MYANMAR"))
    )
