"""How the simulated model reports the weather: lookups, fields and practices (models/simulated/conduct.py)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from pytest_skillevo.models.simulated.conduct import Ask, Conduct, Fill, Item, Lookup, gap_or
from pytest_skillevo.models.simulated.library import AMBIGUITY, MERGE, SUMMARY, SUMMARY_BLOCK, include_field
from pytest_skillevo.models.simulated.lookups import object_in
from pytest_skillevo.models.simulated.worker import LookupBehaviour, Worker

HISTORICAL: Final = include_field("historical")


def _spot(city: Item, _: Worker) -> Any:
    return city.known.get("coordinates")


def _off_grid(city: Item, _: Worker) -> Mapping[str, Any]:
    return {"latitude": 10.0 * len(city.title) % 60, "longitude": 5.0}


def _where(city: Item, worker: Worker) -> Mapping[str, Any]:
    """The city alone names two of them at times."""
    return {"city_name": city.title} | ({} if worker.lapses(AMBIGUITY) else {"country": city.get("country")})


def _located(city: Item, answer: Mapping[str, Any]) -> None:
    city.known["coordinates"] = {"latitude": answer.get("latitude"), "longitude": answer.get("longitude")}


def _series(tool: str, rows: str = "", *, early: Ask | None = None) -> Lookup:
    """An answer about one place; with rows, all its pages."""

    def learn(city: Item, answer: Mapping[str, Any]) -> None:
        city.known[tool] = answer

    return Lookup(tool=tool, ask=_spot, learn=learn, rows=rows, whole=bool(rows), early=early)


# --- filling in --------------------------------------------------------------------------------------------------


def _block(tool: str, rows: str, *figures: tuple[str, Callable[[Sequence[Mapping[str, Any]]], float]]) -> Any:
    """The figures of the summary block; worked out over the rows when they come in pages or the block is null."""

    def value(city: Item, worker: Worker) -> Any:
        answer = city.get(tool)
        found = None
        if answer is not None:
            block, table = object_in(answer, "summary"), answer.get(rows) or []
            by_eye = worker.lapses(SUMMARY_BLOCK)
            if not block and not by_eye and worker.lapses(MERGE):
                found = None
            elif (by_eye or not block or answer.get("pages")) and table:
                seen = table[:3] if by_eye else table
                found = {name: round(figure(seen), 2) for name, figure in figures}
            else:
                found = {name: block[name] for name, _ in figures if name in block} or None
        return gap_or(city, worker, tool, found, {name: 11.5 for name, _ in figures})

    return value


def _mean(*columns: str) -> Callable[[Sequence[Mapping[str, Any]]], float]:
    return lambda rows: sum(row[column] for row in rows for column in columns) / (len(rows) * len(columns))


def _top(column: str) -> Callable[[Sequence[Mapping[str, Any]]], float]:
    return lambda rows: max(row[column] for row in rows)


def _low(column: str) -> Callable[[Sequence[Mapping[str, Any]]], float]:
    return lambda rows: min(row[column] for row in rows)


def _current(city: Item, _: Worker) -> Any:
    conditions = object_in(city.get("weather_get_current") or {}, "current_conditions")
    return {name: conditions[name] for name in ("temperature", "humidity") if name in conditions} or None


def _summary(worker: Worker, entries: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    if worker.lapses(SUMMARY):
        return {**worker.order.summary, "total_cities": len(entries)}
    key, part = ("current", "temperature") if worker.offers("weather_get_current") else ("daily_forecast", "avg_high")
    known = [(object_in(entry, key)[part], entry["name"]) for entry in entries if part in object_in(entry, key)]
    extremes = {"warmest_city": max(known)[1], "coldest_city": min(known)[1]} if known else {}
    return {"total_cities": len(entries), **extremes}


def _degrees(*names: str) -> Callable[[float], Any]:
    return lambda at: {name: round(30 * at, 1) for name in names}


BEHAVIOUR: Final = LookupBehaviour(
    Conduct(
        name="weather",
        title="Weather report",
        stages=(
            (Lookup(tool="weather_get_coordinates", ask=_where, learn=_located),),
            (
                _series("weather_get_current", early=_off_grid),
                _series("weather_get_hourly"),
                _series("weather_get_daily", "daily_forecast"),
                _series("weather_get_historical", "daily_history"),
            ),
        ),
        fields=(
            Fill(name="coordinates", value=_spot, invented=_degrees("latitude", "longitude")),
            Fill(name="current", value=_current, tools=("weather_get_current",),
                 invented=_degrees("temperature", "humidity")),
            Fill(name="hourly_forecast", tools=("weather_get_hourly",),
                 value=_block("weather_get_hourly", "hourly_forecast", ("avg_temperature", _mean("temperature")),
                              ("max_temperature", _top("temperature")), ("min_temperature", _low("temperature"))),
                 invented=_degrees("avg_temperature", "max_temperature", "min_temperature")),
            Fill(name="daily_forecast", tools=("weather_get_daily",),
                 value=_block("weather_get_daily", "daily_forecast", ("avg_high", _mean("temperature_max")),
                              ("avg_low", _mean("temperature_min"))),
                 invented=_degrees("avg_high", "avg_low")),
            Fill(name="historical", tools=("weather_get_historical",), include=HISTORICAL,
                 value=_block("weather_get_historical", "daily_history",
                              ("avg_mean", _mean("temperature_max", "temperature_min")),
                              ("highest", _top("temperature_max")), ("lowest", _low("temperature_min"))),
                 invented=_degrees("avg_mean", "highest", "lowest")),
        ),
        summary=_summary,
        practices=(HISTORICAL, SUMMARY_BLOCK),
        terms=(
            ("item", "city"), ("items", "cities"), ("artifact", "report|weather_report.json"),
            ("summary", "warmest|coldest|warmest_city|coldest_city"), ("id", "coordinates|latitude|longitude"),
            ("details", "forecast|forecasts|weather"), ("reference", "weather.md"), ("ambiguous", "homonym*"),
        ),
    )
)  # fmt: skip
