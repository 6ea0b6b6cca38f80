"""The evaluator of the countries family: regions with plausible counts, a global summary (spec/suites.md 1.3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from .rules import Head, Part

Range = tuple[float, float, float, float]
"""Of a region: fewest and most countries, smallest and largest population."""


@dataclass(frozen=True, slots=True)
class CountriesRules:
    """One level of the family: its head, its own parts as (name, weight), and what the public data allows."""

    list_key: str
    head: Head
    measures: tuple[tuple[str, int], ...]
    regions: Mapping[str, Range]
    level: str

    def entries(self, result: Any) -> Any:
        """The list of regions, or of countries."""
        return result.get(self.list_key, [])

    def found(self, entries: Any, expected: Sequence[Any]) -> int:
        """How many of the expected names were delivered, anywhere in the list."""
        given = {entry.get("name", "").lower() for entry in entries}
        return sum(1 for wanted in expected if any(wanted in name for name in given))

    def parts(self, result: Any, entries: Any, expected: Sequence[Any]) -> list[Part]:
        """Each measure's mean over the first entries; the global summary once."""
        first = entries[: len(expected)]
        return [(self._share(name, result, entries, first), weight) for name, weight in self.measures]

    def _share(self, name: str, result: Any, entries: Any, first: Any) -> float:
        if name == "global":
            checks = GLOBAL[self.level](result.get("global_summary", {}), entries)
            return sum(checks) / len(checks)
        measure = MEASURES[name]
        # The original looks at every region's population, and at the first entries for all else.
        seen = entries if name == "population" else first
        shares: list[float] = [measure(self, entry) for entry in seen]
        return sum(shares) / len(shares) if shares else 0.0


def _population(rules: CountriesRules, entry: Any) -> float:
    """Count and population against the range of the first region that the name lies in, or that lies in the name."""
    name = entry.get("name", "").lower()
    known = next((spans for region, spans in rules.regions.items() if region in name or name in region), None)
    if known is None:
        return 1.0
    fewest, most, low, high = known
    summary = entry.get("summary", {})
    count, people = summary.get("country_count", 0), summary.get("total_population", 0)
    score = 1.0 if fewest <= count <= most else 0.3 if count > 0 else 0.0
    score += 1.0 if low * 0.8 <= people <= high * 1.2 else 0.3 if people > 0 else 0.0
    return score / 2


def _complete(rules: CountriesRules, entry: Any) -> float:
    summary = entry.get("summary", {})
    needed = [
        summary.get("country_count") is not None,
        summary.get("total_population") is not None,
        len(entry.get("top_countries", [])) >= 1,
        bool(entry.get("border_analysis")),
    ]
    currency, language = entry.get("currency_analysis"), entry.get("language_analysis")
    if rules.level == "m1":
        needed.append(bool(currency))
    if rules.level == "m2":
        needed.append(bool(language))
    if rules.level == "h1":
        needed.append(bool(currency and (currency.get("currency") or currency.get("most_common"))))
        needed.append(bool(language and (language.get("language") or language.get("most_common"))))
    return float(all(needed))


def _any_of(entry: Any, *keys: str) -> bool:
    return any(entry.get(key) is not None for key in keys)


def _currency(rules: CountriesRules, entry: Any) -> float:
    analysis = entry.get("currency_analysis") or {}
    checks = [bool(analysis.get("currency")), _any_of(analysis, "countries_using", "countries_count")]
    if rules.level == "e2":
        checks.append(_any_of(analysis, "total_population_using", "total_population"))
    return sum(checks) / len(checks)


def _language(rules: CountriesRules, entry: Any) -> float:
    analysis = entry.get("language_analysis") or {}
    checks = [
        bool(analysis.get("language")),
        _any_of(analysis, "countries_speaking", "countries_count"),
        analysis.get("total_speakers") is not None,
    ]
    return sum(checks) / len(checks)


def _currency_and_language(rules: CountriesRules, entry: Any) -> float:
    """Unlike the two alone, no analysis may be of another type, not even an empty one."""
    for key in ("currency_analysis", "language_analysis"):
        entry.get(key, {}).get("")
    return (_currency(rules, entry) + _language(rules, entry)) / 2


def _details(rules: CountriesRules, entry: Any) -> float:
    details = entry.get("details", {})
    checks: list[bool] = [
        bool(details.get("capital")),
        details.get("population", 0) > 0,
        details.get("area", 0) > 0,
        bool(details.get("languages")),
    ]
    return sum(checks) / len(checks)


def _borders(rules: CountriesRules, entry: Any) -> float:
    analysis = entry.get("border_analysis") or {}
    checks = [_any_of(analysis, "total_neighbors", "total_borders"), _any_of(analysis, "border_countries")]
    return sum(checks) / len(checks)


MEASURES: Final[Mapping[str, Callable[[CountriesRules, Any], float]]] = {
    "population": _population,
    "completeness": _complete,
    "currency": _currency,
    "language": _language,
    "currency_language": _currency_and_language,
    "details": _details,
    "border": _borders,
}


def _summary(fewest: int) -> Callable[[Any, Any], list[float]]:
    return lambda summary, entries: [
        float(summary.get("total_regions") == len(entries)),
        float(summary.get("total_countries", 0) > fewest),
        float(bool(summary.get("largest_region"))),
        float(summary.get("total_world_population", 0) > 1_000_000_000),
    ]


def _summary_m2(summary: Any, entries: Any) -> list[float]:
    return [
        float(summary.get("total_regions") == len(entries)),
        float(summary.get("total_countries", 0) > 100),
        float(bool(summary.get("most_spoken_language"))),
        float(bool(summary.get("total_world_population") or summary.get("largest_region"))),
    ]


def _summary_h1(summary: Any, entries: Any) -> list[float]:
    countries, people = summary.get("total_countries", 0), summary.get("total_world_population", 0)
    return [
        float(summary.get("total_regions") == len(entries)),
        1.0 if 180 <= countries <= 210 else 0.5 if countries > 100 else 0.0,
        float(bool(summary.get("largest_region"))),
        1.0 if 7e9 <= people <= 9e9 else 0.5 if people > 1e9 else 0.0,
        float(any(summary.get(key) for key in ("most_populous_region", "most_diverse", "smallest_region"))),
    ]


GLOBAL: Final[Mapping[str, Callable[[Any, Any], list[float]]]] = {
    "e1": _summary(50),
    "m1": _summary(100),
    "m2": _summary_m2,
    "h1": _summary_h1,
}
