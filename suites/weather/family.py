"""The weather family: look up cities of an invented continent, write a weather report (spec/suites.md 1.5, 3.12)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from pytest_skillevo.core.draws import draw_bits
from pytest_skillevo.families.compare import SENTINEL, near, parts, text, whole
from pytest_skillevo.families.expected import with_known
from pytest_skillevo.families.faults import FaultRule
from pytest_skillevo.families.official import UniformRules
from pytest_skillevo.families.projections import OFFSET, fact
from pytest_skillevo.families.scenario import Scenario, calls_by_tool
from pytest_skillevo.families.spec import Call, Contract, FamilySpec, FieldSpec, Level, SummaryField
from pytest_skillevo.families.texts import PromptParts, outsider, stale_plan, task_prompt
from pytest_skillevo.families.tools import NEEDS_PREREQUISITE, NO_DATA, NOT_FOUND, Answer, Ask, Aspect, ToolSpec, failed
from pytest_skillevo.families.world import Chance, Population, Record, Syllables, World, words

HERE = Path(__file__).parent

# --- the world ---------------------------------------------------------------------------------------------------

COUNTRIES = words("Velria, Ombra, Tasqa, Kellmark, Sarun, Norvia, Pelago, Brumland, Izar, Lumar, Quennia, Dravos")
HOURS, DAYS, PAST = 168, 14, 30
#: Rows of one answer where a station sends its days in pages.
PAGE = {"daily": 10, "history": 20}


@lru_cache(maxsize=2048)
def series(grain: int, base: int, swing: int, what: str, length: int) -> tuple[tuple[int, int, int], ...]:
    """Rows of (high, low, rain) of a city: tenths of a degree and of a millimetre, drawn by the city's grain."""
    rows = []
    for place in range(length):
        bits = draw_bits(grain, what, place)  # one draw for the three values of a day
        level = base + bits % 61 - 30
        rows.append((level + swing + (bits >> 16) % 20, level - swing, max(0, (bits >> 32) % 120 - 70)))
    return tuple(rows)


def days(city: Record) -> tuple[tuple[int, int, int], ...]:
    """The forecast of the next days."""
    return series(city["grain"], city["base"], city["swing"], "day", DAYS)


def past(city: Record) -> tuple[tuple[int, int, int], ...]:
    """The archive of the past days."""
    return series(city["grain"], city["base"] - 12, city["swing"], "past", PAST)


def hours(city: Record) -> tuple[int, ...]:
    """Temperatures of the coming hours: a day goes up to its high and down to its low."""
    return _hours_of(city["grain"], days(city))


@lru_cache(maxsize=2048)
def _hours_of(grain: int, forecast: tuple[tuple[int, int, int], ...]) -> tuple[int, ...]:
    found = []
    for hour in range(HOURS):
        high, low, _ = forecast[hour // 24]
        up = max(0, 12 - abs(hour % 24 - 14))
        if hour % 8 == 0:
            bits = draw_bits(grain, "hour", hour)  # eight hours share a draw
        found.append(low + (high - low) * up // 12 + (bits >> 8 * (hour % 8)) % 9 - 4)
    return tuple(found)


def mean(values: Sequence[int]) -> int:
    """The mean in tenths, half a tenth rounded up."""
    return (2 * sum(values) + len(values)) // (2 * len(values))


def _shape(chance: Chance, cities: list[Record]) -> None:
    """What holds for the map: one latitude band for each city, slow stations, missing archives, four homonyms."""
    for place, band in enumerate(chance.at("bands").order(range(len(cities)))):
        city = cities[place]
        city["latitude"] = -6_000 + 200 * band + chance.at("lat", place).whole(0, 199)
        city["longitude"] = chance.at("lon", place).whole(-17_900, 17_900)
        city["place"] = f"{city['latitude']}:{city['longitude']}"
        city["kind"] = "slow" if place % 15 in (3, 11) else "bare" if place % 15 == 7 else "plain"
    for place in range(14, len(cities), 15):  # a homonym of the city before it, in another country and with a lower id
        city, other = cities[place - 1], cities[place]
        other["name"] = city["name"]
        if other["country"] == city["country"]:
            other["country"] = COUNTRIES[(COUNTRIES.index(city["country"]) + 5) % len(COUNTRIES)]
        other["id"], city["id"] = sorted((other["id"], city["id"]))
        other["kind"], city["kind"] = "first", "second"


POPULATION = Population(
    size=60,
    syllables=Syllables(
        onsets=("b", "d", "f", "g", "l", "m", "n", "r", "s", "t", "v", "br", "dr", "st", "h"),
        rhymes=("a", "e", "o", "u", "an", "er", "in", "os", "al", "um"),
    ),
    kinds=("Bay", "Hill", "Harbour", "Ford", "Cross", "Field"),
    attributes={
        "country": lambda chance, _: chance.pick(COUNTRIES),
        "grain": lambda chance, _: chance.whole(0, 2**31),
        "base": lambda chance, _: chance.whole(-60, 260),
        "swing": lambda chance, _: chance.whole(25, 60),
        "now": lambda chance, city: city["base"] + chance.whole(-40, 40),
        "humidity": lambda chance, _: chance.whole(25, 98),
        "high": lambda _, city: mean([row[0] for row in days(city)]),
        "residents": lambda chance, _: 1_000 * chance.whole(20, 4_000),
    },
    shape=_shape,
    groups=("name", "place"),
    denied=words(
        """tokyo, new york, london, sydney, dubai, rome, bern, oslo, lima, bonn,
        rape, anus, anal, tit, homo, nazi, puta, tumor, pedo, pus, haram, satan"""
    ),
)

# --- the tools ---------------------------------------------------------------------------------------------------

COORDINATES, CURRENT, HOURLY, DAILY, HISTORICAL = (
    f"weather_get_{name}" for name in ("coordinates", "current", "hourly", "daily", "historical")
)


def _coordinates(ask: Ask) -> Answer:
    name, country = ask.arguments["city_name"], ask.arguments["country"]
    found = [
        city for city in ask.world.group("name", name) if country.casefold() in ("", str(city["country"]).casefold())
    ]
    if not found:
        return failed(NOT_FOUND, f"There is no city {name!r}{f' in {country!r}' if country else ''}.")
    city = found[0]
    payload = {
        "success": True, "city": city["name"], "country": city["country"], **_spot(city),
        "all_results_count": len(found),
    }  # fmt: skip
    if ask.profile != "lean":
        code = city["country"][:2].upper()
        payload |= {
            "timezone": "UTC",
            "population": city["residents"],
            "elevation": 12,
            "admin1": "",
            "country_code": code,
        }
    return Answer(payload, frozenset({(city["id"], "coordinates")}), about=city["id"])


def _spot(city: Record) -> dict[str, float]:
    return {"latitude": city["latitude"] / 100, "longitude": city["longitude"] / 100}


NOWHERE = failed(NEEDS_PREREQUISITE, f"No station lies there; take the coordinates from {COORDINATES} first.")
NO_ARCHIVE = failed(NO_DATA, "The station there keeps no archive. This is final.")


def _forecast(
    name: str, description: str, project: Callable[[Ask, Record], Answer], *, paged: bool = False
) -> ToolSpec:
    """A tool that is asked by coordinates; the city's name is only a label."""

    def answer(ask: Ask) -> Answer:
        place = ":".join(str(round(100 * ask.arguments[axis])) for axis in ("latitude", "longitude"))
        found = ask.world.group("place", place)
        if not found:
            return NOWHERE
        told = project(ask, found[0])
        if told.code is not None:
            return told
        head = {"success": True, "city": ask.arguments.get("city_name", ""), "location": _spot(found[0])}
        return Answer({**head, "timezone": "UTC", **told.payload}, told.reveals, about=found[0]["id"])

    number = {"type": "number"}
    label = {"city_name": {"type": "string", "default": ""}}
    return ToolSpec(
        name=name,
        description=description,
        parameters={"latitude": number, "longitude": number, **label, **({"offset": OFFSET} if paged else {})},
        answer=answer,
        about=_spot,
        labels=frozenset(label),
    )


def _now(ask: Ask, city: Record) -> Answer:
    now: dict[str, Any] = {"temperature": city["now"] / 10, "humidity": city["humidity"]}
    if ask.profile != "lean":
        now |= {"temperature_unit": "C", "humidity_unit": "%", "feels_like": (city["now"] - 9) / 10, "is_day": 1}
        now |= {"wind_speed": city["swing"] / 10, "wind_direction": 180, "cloud_cover": 40, "precipitation": 0.0}
    if ask.profile == "original":
        now |= {f"station_reading_{place}": place / 10 for place in range(10)}
    return Answer({"time": "2024-01-15T12:00", "current_conditions": now}, frozenset({(city["id"], "current")}))


#: Every how many hours an hourly answer has a row.
STEP = {"lean": 24, "standard": 6, "original": 1}


def _coming(ask: Ask, city: Record) -> Answer:
    found = hours(city)
    rows: list[dict[str, Any]] = [
        {"hour": hour, "temperature": found[hour] / 10} for hour in range(0, HOURS, STEP[ask.profile])
    ]
    if ask.profile == "original":
        more = {f"layer_{level}_temperature": level / 10 for level in range(14)}
        rows = [row | more for row in rows]
    summary = {
        "avg_temperature": mean(found) / 10, "max_temperature": max(found) / 10, "min_temperature": min(found) / 10,
    }  # fmt: skip
    payload = {"total_hours": HOURS, "hourly_forecast": rows, "summary": summary}
    return Answer(payload, frozenset({(city["id"], "hourly")}))


def _paged(ask: Ask, city: Record, what: str, rows: Sequence[tuple[int, int, int]]) -> tuple[list[Any], dict[str, Any]]:
    """The days of one page, and what an answer says of the page."""
    offset = ask.arguments["offset"]
    shown = rows[offset:][: PAGE[what] if city["kind"] == "slow" else len(rows)]
    table = [
        {"day": offset + place, "temperature_max": high / 10, "temperature_min": low / 10, "precipitation": rain / 10}
        for place, (high, low, rain) in enumerate(shown)
    ]
    if ask.profile == "original":
        table = [row | {f"layer_{level}_temperature": level / 10 for level in range(23)} for row in table]
    return table, {"total_days": len(rows), "returned_count": len(shown), "offset": offset}


def _row_aspects(city: Record, what: str, places: range) -> frozenset[Aspect]:
    return frozenset((city["id"], f"{what} {place}") for place in places)


def daily_summary(rows: Sequence[tuple[int, int, int]]) -> dict[str, Any]:
    """What is said of some forecast days."""
    return {"avg_high": mean([row[0] for row in rows]) / 10, "avg_low": mean([row[1] for row in rows]) / 10}


def past_summary(rows: Sequence[tuple[int, int, int]]) -> dict[str, Any]:
    """What is said of some past days."""
    highs, lows = [row[0] for row in rows], [row[1] for row in rows]
    middle = mean([high + low for high, low, _ in rows]) / 20
    return {"avg_mean": round(middle, 2), "highest": max(highs) / 10, "lowest": min(lows) / 10}


def _days(ask: Ask, city: Record, what: str, rows: Sequence[tuple[int, int, int]], key: str, summary: Any) -> Answer:
    table, page = _paged(ask, city, what, rows)
    shown = rows[page["offset"] :][: len(table)]
    extra = {"rainy_days": sum(row[2] > 0 for row in shown)} if ask.profile != "lean" else {}
    told = {**summary(shown), **extra} if shown else None
    aspects = _row_aspects(city, what, range(page["offset"], page["offset"] + len(shown)))
    return Answer({**page, key: table, "summary": told}, aspects)


def _archive(ask: Ask, city: Record) -> Answer:
    if city["kind"] == "bare":
        return NO_ARCHIVE
    return _days(ask, city, "history", past(city), "daily_history", past_summary)


TOOLS = (
    ToolSpec(
        name=COORDINATES,
        description="The coordinates of a city, by its name and, where several share it, its country.",
        parameters={"city_name": {"type": "string"}, "country": {"type": "string", "default": ""}},
        answer=_coordinates,
        about=lambda city: {"city_name": city["name"], "country": city["country"]},
    ),
    _forecast(CURRENT, "The present weather at coordinates.", _now),
    _forecast(HOURLY, "The coming 168 hours at coordinates, with a summary.", _coming),
    _forecast(DAILY, "The coming 14 days at coordinates, by page, with a summary of the page.",
              lambda ask, city: _days(ask, city, "daily", days(city), "daily_forecast", daily_summary), paged=True),
    _forecast(HISTORICAL, "The past 30 days at coordinates, by page, with a summary of the page.", _archive,
              paged=True),
)  # fmt: skip

# --- the contract ------------------------------------------------------------------------------------------------


def _truncated(what: str, rows: Callable[[Record], Any], summary: Any) -> Any:
    def truncated(_: Scenario, city: Record, value: Any) -> tuple[int, int] | None:
        page, total = PAGE[what], len(rows(city))
        return (page, total) if city["kind"] == "slow" and value == summary(rows(city)[:page]) else None

    return truncated


def _needs(what: str, total: int) -> Callable[[Record], tuple[Aspect, ...]]:
    return lambda city: tuple(sorted(_row_aspects(city, what, range(total))))


def _hourly(_: Scenario, city: Record) -> dict[str, float]:
    found = hours(city)
    return {"avg_temperature": mean(found) / 10, "max_temperature": max(found) / 10, "min_temperature": min(found) / 10}


_DEGREES = near(0.05)
CONTRACT = Contract(
    file="weather_report.json",
    list_key="cities",
    id_key="name",
    entries="cities",
    fields=(
        FieldSpec("coordinates", "values", parts(latitude=near(0.01), longitude=near(0.01)),
                  lambda _, city: _spot(city), fact("coordinates"), "latitude and longitude of the right city"),
        FieldSpec("current", "values", parts(temperature=_DEGREES, humidity=whole),
                  lambda _, city: {"temperature": city["now"] / 10, "humidity": city["humidity"]},
                  fact("current"), "temperature and humidity of the right city", tools=(CURRENT,)),
        FieldSpec("hourly_forecast", "values",
                  parts(avg_temperature=_DEGREES, max_temperature=_DEGREES, min_temperature=_DEGREES), _hourly,
                  fact("hourly"), "the figures of the summary block", tools=(HOURLY,)),
        FieldSpec("daily_forecast", "values", parts(avg_high=_DEGREES, avg_low=_DEGREES),
                  lambda _, city: daily_summary(days(city)), _needs("daily", DAYS),
                  "the figures of the summary block, over all 14 days",
                  tools=(DAILY,), truncated=_truncated("daily", days, daily_summary)),
        FieldSpec("historical", "values", parts(avg_mean=_DEGREES, highest=_DEGREES, lowest=_DEGREES),
                  lambda _, city: SENTINEL if city["kind"] == "bare" else past_summary(past(city)),
                  _needs("history", PAST), "the figures of the summary block, over all 30 days", tools=(HISTORICAL,),
                  truncated=_truncated("history", past, past_summary)),
    ),
    summary=(
        SummaryField("total_cities", whole, lambda task: len(task.records)),
        SummaryField("warmest_city", text, lambda task: task.titles[max(task.records, key=_metric(task))["id"]]),
        SummaryField("coldest_city", text, lambda task: task.titles[min(task.records, key=_metric(task))["id"]]),
    ),
)  # fmt: skip


def _metric(task: Scenario) -> Callable[[Record], int]:
    name = "now" if CURRENT in task.rung.tools else "high"
    return lambda city: int(city[name])


def _official(task: Scenario) -> UniformRules:
    """The public scorer's rules, with boxes around the invented cities."""
    boxes = {
        task.titles[city["id"]].casefold(): [spot - 0.1, spot + 0.1, lon - 0.1, lon + 0.1]
        for city in task.records
        for spot, lon in [_spot(city).values()]
    }
    return with_known("openmeteo-weather", task, boxes)


# --- levels and texts --------------------------------------------------------------------------------------------

LEVELS = {
    "e1": Level(3, (COORDINATES, CURRENT, HOURLY), ()),
    "e2": Level(3, (COORDINATES, HOURLY, DAILY), (FaultRule("T", (HOURLY,)),)),
    "e3": Level(3, (COORDINATES, DAILY, HISTORICAL), (FaultRule("B", trait="second"),)),
    "m1": Level(4, (COORDINATES, CURRENT, HOURLY, DAILY),
                (FaultRule("T", (CURRENT, HOURLY)), FaultRule("P", trait="slow"))),
    "m2": Level(4, (COORDINATES, HOURLY, DAILY, HISTORICAL),
                (FaultRule("L", (DAILY,)), FaultRule("M", (DAILY,), field="summary"))),
    "h1": Level(5, (COORDINATES, CURRENT, HOURLY, DAILY, HISTORICAL),
                (FaultRule("T", (CURRENT,), times=2), FaultRule("L", (DAILY,)), FaultRule("P", trait="slow"),
                 FaultRule("G", trait="bare"))),
}  # fmt: skip
HINTS = {
    COORDINATES: "where a city is",
    CURRENT: "the present weather",
    HOURLY: "the coming hours",
    DAILY: "the coming days",
    HISTORICAL: "the past days",
}
#: The example's blocks; `historical` is only in the reference.
EXAMPLE = {
    CURRENT: ("current", {"temperature": 21.5, "humidity": 60}),
    HOURLY: ("hourly_forecast", {"avg_temperature": 17.2, "max_temperature": 24.9, "min_temperature": 9.8}),
    DAILY: ("daily_forecast", {"avg_high": 22.4, "avg_low": 12.1}),
}


def _prompt(task: Scenario) -> str:
    name = outsider(task)
    entry = {"name": name, "coordinates": {"latitude": 10.5, "longitude": 20.25}}
    entry |= dict(block for tool, block in EXAMPLE.items() if tool in task.rung.tools)
    metric = "present temperature" if CURRENT in task.rung.tools else "average high of the coming days"
    return task_prompt(
        task,
        PromptParts(
            title="Weather report",
            purpose="You put together a weather report for some cities from a weather service.",
            goals=(
                "Look up every city of the table with the lookup tools.",
                f"Name the warmest and the coldest city by the {metric}.",
            ),
            columns=("city", "country"),
            rows=[(task.titles[city["id"]], city["country"]) for city in task.records],
            example={"cities": [entry], "summary": {"total_cities": 1, "warmest_city": name, "coldest_city": name}},
            hints=HINTS,
            steps=(
                "Find its coordinates.",
                "Ask every other lookup tool for these coordinates.",
                "Report figures only, no rows of hours or days.",
            ),
            reference="reference/weather.md",
        ),
    )


REFERENCE = (HERE / "reference.md").read_text(encoding="utf-8")


def _route(task: Scenario) -> list[Call]:
    """Coordinates first, then every other tool, days to the last page."""

    def pages(what: str, total: int) -> Callable[[World, Record], tuple[int, int]]:
        return lambda _, city: (total, PAGE[what] if city["kind"] == "slow" else total)

    return calls_by_tool(
        task,
        (COORDINATES, CURRENT, HOURLY, DAILY, HISTORICAL),
        skip={HISTORICAL: "bare"},
        pages={DAILY: pages("daily", DAYS), HISTORICAL: pages("history", PAST)},
    )


def _kind(name: str) -> Callable[[World, Record], bool]:
    return lambda _, city: bool(city["kind"] == name)


FAMILY = FamilySpec(
    name="weather",
    version="1",
    skill="weather-report",
    population=POPULATION,
    traits={name: _kind(name) for name in ("slow", "bare", "first", "second")},
    distinct=("now", "high"),
    tools={tool.name: tool for tool in TOOLS},
    levels=LEVELS,
    contract=CONTRACT,
    official=_official,
    prompt=_prompt,
    files=lambda task: {"reference/weather.md": REFERENCE, "plan.json": stale_plan(task, "weather.json")},
    route=_route,
    critical=frozenset({("m2", 1), ("h1", 0), ("h1", 2)}),
    behaviour="behaviour.py",
    folder=HERE,
)
