"""Counts in names: "Weather - 3 Cities" and "Weather - Multi-City" are one family (spec/online-review.md 7.5)."""

from __future__ import annotations

import re
from typing import Final

_WORDS: Final = (
    "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|hundred|dozen"
)
_UNIT: Final = r"(?P<unit>[a-z][a-z0-9_-]*)(?![a-z0-9_-])"
#: "7 berths", "3-city", "two piers"; markers such as "multi-berth" and "several berths".
_COUNT: Final = re.compile(
    rf"(?<![\w-])(?:(?P<digits>\d+)(?P<gap>\s+|-)|(?:a\s+)?(?:{_WORDS})(?P<word>\s+|-)){_UNIT}",
    re.IGNORECASE | re.ASCII,
)
_MARKER: Final = re.compile(
    rf"\b(?:multi(?:-|\s+)|(?:multiple|several|many|various)\s+){_UNIT}", re.IGNORECASE | re.ASCII
)

_IRREGULAR: Final = {
    "men": "man", "women": "woman", "children": "child", "people": "person", "feet": "foot", "teeth": "tooth",
    "geese": "goose", "mice": "mouse", "indices": "index", "matrices": "matrix", "vertices": "vertex",
    "criteria": "criterion", "phenomena": "phenomenon", "analyses": "analysis", "bases": "basis", "crises": "crisis",
    "theses": "thesis", "lives": "life", "knives": "knife", "leaves": "leaf", "shelves": "shelf", "halves": "half",
    "menus": "menu", "gurus": "guru", "axes": "axis", "caches": "cache", "headaches": "headache", "niches": "niche",
    "avalanches": "avalanche", "movies": "movie", "cookies": "cookie", "pies": "pie", "ties": "tie",
    "zombies": "zombie", "calories": "calorie", "series": "series", "species": "species", "rookies": "rookie",
    "heroes": "hero", "potatoes": "potato", "tomatoes": "tomato", "echoes": "echo", "quizzes": "quiz",
    "news": "news", "gas": "gas", "gases": "gas", "canvas": "canvas", "canvases": "canvas", "aliases": "alias",
    "alias": "alias", "bias": "bias", "biases": "bias", "atlas": "atlas", "lens": "lens", "lenses": "lens",
}  # fmt: skip


def singular(word: str) -> str:
    """The singular of an English noun in lower case; a singular comes back as it is."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) < 3 or not word.endswith("s") or word.endswith(("ss", "us", "sis")):
        return word
    if word.endswith("ies") and len(word) > 3:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "sses", "xes", "tzes", "zzes")):
        return word[:-2]
    if word.endswith("uses") and not word.endswith(("ouses", "auses")) and len(word) > 4:
        return word[:-2]
    return word[:-1]


def family_key(name: str) -> str:
    """A normalised name with every quantity replaced by its unit, so that siblings are equal."""
    return _MARKER.sub(
        _placeholder, _COUNT.sub(lambda found: found[0] if _is_year(found) else _placeholder(found), name)
    )


def is_generic(name: str) -> bool:
    """Whether a normalised name stands for any number: it has a marker, or no count at all."""
    return _MARKER.search(name) is not None or not any(not _is_year(found) for found in _COUNT.finditer(name))


def is_quantity(text: str) -> bool:
    """Whether the whole text is a quantity such as "3 cities" or "multi-city"."""
    found = _COUNT.fullmatch(text) or _MARKER.fullmatch(text)
    return found is not None


def generalised(name: str) -> str:
    """A name with every counted plural turned into its family: "Rota - 3 Cranes" is "Rota - Multi-Crane"."""

    def general(found: re.Match[str]) -> str:
        unit = found["unit"]
        one = _unit_singular(unit)
        if _is_year(found) or "-" in (found["gap"], found["word"]) or one == unit.lower():
            return found[0]
        return f"Multi-{_with_case(one, unit)}"

    return _COUNT.sub(general, name)


def _placeholder(found: re.Match[str]) -> str:
    return f"<count:{_unit_singular(found['unit'].replace('_', '-'))}>"


def _unit_singular(unit: str) -> str:
    return re.sub(r"[^-_]+", lambda part: singular(part[0]), unit.lower())


def _with_case(word: str, like: str) -> str:
    return "".join(
        char.upper() if place < len(like) and like[place].isupper() else char for place, char in enumerate(word)
    )


def _is_year(found: re.Match[str]) -> bool:
    """A number from 1900 to 2100 before a singular: "2031 report"."""
    digits = found["digits"]
    unit = found["unit"].lower()
    return digits is not None and 1900 <= int(digits[:9]) <= 2100 and _unit_singular(unit) == unit
