"""The scores of single entries: a list of plain checks, and the eight families that have more (spec/suites.md 1.5).

Each sum is one of binary floats in the listed order, because some subsets land exactly on the threshold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from .ids import ID_MODES

if TYPE_CHECKING:
    from .uniform import UniformRules


def entry_score(rules: UniformRules, entry: Any, expected: Sequence[Any]) -> float:
    """The score of one entry in [0, 1]."""
    return ENTRY_SCORES[rules.special](rules, entry, expected)


def _plain(rules: UniformRules, entry: Any, expected: Sequence[Any]) -> float:
    return _checked(rules, entry, _id_points(rules, entry, expected))


def _id_points(rules: UniformRules, entry: Any, expected: Sequence[Any]) -> float:
    mode = ID_MODES[rules.id_mode]
    same = mode.entry_same or mode.same
    given = rules.id_of(entry)
    return rules.id_weight if any(same(given, wanted) for wanted in expected) else 0.0


def _checked(rules: UniformRules, entry: Any, score: float) -> float:
    for kind, keys, weight in rules.checks:
        values = [entry.get(key) for key in keys]
        if any(value is not None for value in values) if kind == "present" else any(values):
            score += weight
    return score


def _weather(rules: UniformRules, entry: Any, expected: Sequence[Any]) -> float:
    """Coordinates inside the city's box; .3 for having numbers where no box is known."""
    score = _id_points(rules, entry, expected)
    name = rules.id_of(entry)
    place = entry.get("coordinates", {})
    latitude, longitude = place.get("latitude"), place.get("longitude", place.get("lng"))
    if latitude is not None and longitude is not None:
        box = next((box for city, box in rules.known.items() if city in name), None)
        if box is None:
            score += 0.3
        else:
            south, north, west, east = box
            if south <= latitude <= north:
                score += 0.2
            if west <= longitude <= east:
                score += 0.2
    return _checked(rules, entry, score)


def _quake(rules: UniformRules, entry: Any, expected: Sequence[Any]) -> float:
    score = _id_points(rules, entry, expected)
    place = entry.get("coordinates", {})
    if place.get("latitude") is not None and place.get("longitude") is not None:
        score += 0.2
    return _checked(rules, entry, score)


def _university(rules: UniformRules, entry: Any, expected: Sequence[Any]) -> float:
    score = _id_points(rules, entry, expected)
    statistics = entry.get("statistics", {})
    if isinstance(statistics, dict) and statistics.get("total_universities") is not None:
        score += 0.25
    return _checked(rules, entry, score)


def _show(rules: UniformRules, entry: Any, expected: Sequence[Any]) -> float:
    known = rules.known.get(rules.id_of(entry))
    if not known:
        return 0.5
    name, low, high = known
    given = entry.get("name", entry.get("title"))
    score = 0.5 if given and name.lower() in given.lower() else 0.0
    rating = entry.get("rating")
    if rating is None:
        score += 0.25
    elif isinstance(rating, int | float) and low <= rating <= high:
        score += 0.5
    return score


def _anime(rules: UniformRules, entry: Any, expected: Sequence[Any]) -> float:
    known = rules.known.get(rules.id_of(entry))
    if not known:
        return 0.5
    _, low, high = known
    score = 0.3 if entry.get("title") else 0.0
    rating = entry.get("score")
    if not rating:
        score += 0.2
    elif isinstance(rating, int | float) and low <= rating <= high:
        score += 0.4
    if entry.get("quality_score") is not None:
        score += 0.3
    return score


def _character(rules: UniformRules, entry: Any, expected: Sequence[Any]) -> float:
    known = rules.known.get(rules.id_of(entry))
    if not known:
        return 0.5
    score = 0.0
    for key, wanted, weight in zip(("name", "status", "species"), known, (0.3, 0.25, 0.25), strict=True):
        if wanted.lower() in (entry.get(key) or "").lower():
            score += weight
    if entry.get("significance_score") is not None:
        score += 0.2
    return score


def _blogger(rules: UniformRules, entry: Any, expected: Sequence[Any]) -> float:
    known = rules.known.get(rules.id_of(entry))
    if not known:
        return 0.3
    name, posts, todos = known
    given = entry.get("profile", {}).get("name") or entry.get("name")
    score = 0.25 if given and name.lower() in given.lower() else 0.0
    activity = entry.get("activity", {})
    for key, wanted in (("post_count", posts), ("todo_count", todos)):
        value = activity.get(key)
        if value == wanted:
            score += 0.25
        elif value:
            score += 0.1
    if entry.get("metrics", {}).get("productivity_score") is not None:
        score += 0.25
    return score


def _people(rules: UniformRules, entry: Any, expected: Sequence[Any]) -> float:
    known = rules.known.get(rules.id_of(entry))
    if not known:
        return 0.3
    users = entry.get("users", [])
    score = 0.3 if len(users) >= 4 else 0.15 if users else 0.0
    if users and sum(1 for user in users[:5] if isinstance(user, dict) and user.get("name")) >= 3:
        score += 0.25
    statistics = entry.get("statistics")
    if isinstance(statistics, dict) and (statistics.get("gender_distribution") or statistics.get("average_age")):
        score += 0.2
    region = entry.get("region")
    if region and region.lower() == known.lower():
        score += 0.15
    if entry.get("user_count") == len(users):
        score += 0.1
    return score


#: The names are those of the rules table.
ENTRY_SCORES: Final[Mapping[str | None, Callable[[UniformRules, Any, Sequence[Any]], float]]] = {
    None: _plain,
    "weather": _weather,
    "quake": _quake,
    "univ": _university,
    "known_range": _show,
    "anime": _anime,
    "character": _character,
    "blog": _blogger,
    "people": _people,
}
