"""When two skill names speak of one skill, and when they never do (spec/online-review.md 7.1, 7.4, 7.6, 10)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from .quantities import is_quantity, singular

_SPACES: Final = re.compile(r"[ \t\r\n]+")
_VERSION: Final = re.compile(r"[ \t]+v\d", re.ASCII)
_OPENING: Final = re.compile(r"[ \t]*[(\[]|:[ \t]|[ \t]+[-:/|_.](?:[ \t]|\Z)", re.ASCII)
#: After a separator without blanks only what names a version or a run makes a variant.
_TIGHT: Final = re.compile(r"[ \t]*[-_./|:][ \t]*(?P<tail>.+)", re.ASCII)
_RUN: Final = re.compile(r"v?\d[\d._-]*|[0-9a-f]*\d[0-9a-f]*[a-f0-9]{6,}|run[-_ ]?\w+", re.IGNORECASE | re.ASCII)

_STOP_WORDS: Final = """
    the and for with from that this are was were been being have has had does did will would could should may might
    shall can not but yet also then than when where how what which while who whom its each every all any few more most
    other some such into over under between through about using multi multiple
"""
_STOP: Final = frozenset(_STOP_WORDS.split())
_OPPOSITES: Final = (
    "create delete", "create remove", "create destroy", "add remove", "add delete", "import export", "start stop",
    "open close", "upload download", "install uninstall", "enable disable", "push pull", "send receive", "lock unlock",
    "grant revoke", "encode decode", "encrypt decrypt", "compress decompress", "compress extract", "pack unpack",
    "backup restore", "merge split", "subscribe unsubscribe", "connect disconnect", "mount unmount", "deploy rollback",
    "deploy undeploy", "approve reject", "book cancel", "buy sell", "increase decrease", "show hide", "attach detach",
    "allow deny", "accept decline", "publish unpublish", "register unregister", "read write", "insert delete",
    "include exclude", "raise lower", "scale shrink", "upgrade downgrade", "archive restore", "login logout",
    "link unlink", "block unblock", "mute unmute", "freeze thaw", "inbound outbound", "credit debit", "load unload",
)  # fmt: skip
_PAIRS: Final = frozenset(frozenset(pair.split()) for pair in _OPPOSITES)
#: Share of words in common from which two names or two bodies are alike.
NAME_OVERLAP: Final = 0.5
BODY_OVERLAP: Final = 0.3
LEAST_WORDS: Final = 2


def normalize(name: str) -> str:
    """The name in lower case, its blanks single."""
    return _SPACES.sub(" ", name).strip(" ").lower()


def is_variant(rest: str) -> bool:
    """Whether what follows a skill's name in a longer one marks a variant: "(night)", " - East", " v3", "-3 cities"."""
    if _OPENING.match(rest) or _VERSION.match(rest):
        return True
    tight = _TIGHT.fullmatch(rest)
    return tight is not None and bool(_RUN.fullmatch(tight["tail"]) or is_quantity(tight["tail"]))


def significant_words(name: str) -> frozenset[str]:
    """The words of a name that carry meaning; one character of a script that is written in three bytes counts."""
    tokens = re.sub(r"[-_.]", " ", name.lower()).split()
    return frozenset(token for token in tokens if len(token.encode("utf-8")) >= 3 and token not in _STOP)


def overlap(one: Iterable[str], other: Iterable[str]) -> float:
    """Jaccard's share of two sets of words, 0 for names of fewer than two."""
    first, second = frozenset(one), frozenset(other)
    if min(len(first), len(second)) < LEAST_WORDS or len(first & second) < LEAST_WORDS:
        return 0.0
    return len(first & second) / len(first | second)


def are_opposite(one: str, other: str) -> bool:
    """Whether one name undoes the other: an opposite verb stands in each, where they differ."""
    first, second = _verbs(one), _verbs(other)
    return any(frozenset((a, b)) in _PAIRS or _negates(a, b) for a in first - second for b in second - first)


def are_alike(one: str, other: str) -> bool | None:
    """Whether two bodies are about the same work; None when one of them is unknown or says too little."""
    first, second = _body_words(one), _body_words(other)
    least = min(len(first), len(second))
    if least < LEAST_WORDS:
        return None
    return len(first & second) / least >= BODY_OVERLAP


def _negates(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return len(short) > 3 and any(long == prefix + short for prefix in ("un", "dis", "de", "non"))


def _verbs(name: str) -> frozenset[str]:
    """The words of a name in the form in which verbs are listed."""
    return frozenset(_bare(word) for word in re.findall(r"[a-z]+", name.lower()))


def _bare(word: str) -> str:
    known = {verb for pair in _PAIRS for verb in pair}
    for ending in ("ing", "ed", "es", "s", "ion", "ation"):
        if word.endswith(ending):
            for tail in ("", "e"):
                if (base := word[: -len(ending)] + tail) in known:
                    return base
    return word


def _body_words(text: str) -> frozenset[str]:
    words = (singular(word) for word in re.findall(r"[^\W\d_]{3,}", text.lower()))
    return frozenset(word for word in words if word not in _STOP)
