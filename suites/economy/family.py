"""The economy family: look up economies of an invented world, write a snapshot of them (spec/suites.md 1.5, 3.12)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_skillevo.families.compare import SENTINEL, near, parts, text, whole
from pytest_skillevo.families.faults import FaultRule
from pytest_skillevo.families.projections import fact
from pytest_skillevo.families.scenario import Scenario
from pytest_skillevo.families.spec import Call, Contract, FamilySpec, FieldSpec, Level, SummaryField
from pytest_skillevo.families.texts import PromptParts, outsider, stale_plan, task_prompt
from pytest_skillevo.families.tools import NO_DATA, NOT_FOUND, Answer, Ask, ToolSpec, failed
from pytest_skillevo.families.world import Chance, Population, Record, Syllables, World, words

HERE = Path(__file__).parent

# --- the world ---------------------------------------------------------------------------------------------------

YEARS = (2018, 2019, 2020, 2021, 2022)
REGIONS = words("Amber Coast, Northern Reach, Middle Lakes, Southern Arc, Far Isles, Eastern Steppe")
#: Tier and the GDP per person above which it begins.
TIERS = {"Leading": 40_000, "Advanced": 20_000, "Rising": 5_000, "Early": 0}
#: The service's own classes, by other limits and without a say in the tier.
INCOMES = {"High income": 13_000, "Upper middle income": 8_000, "Lower middle income": 3_000, "Low income": 0}
#: Letters of codes: no vowels, so that no code is a word.
LETTERS = "BCDGHJLMNPQRSTVWXZ"
#: Codes of the public benchmark's economies that such letters can form.
REAL_CODES = ("CHN", "CN", "JP")


def _walk(chance: Chance, start: int, low: int, high: int) -> list[int]:
    """A value for each year, which changes by so many thousandths from year to year."""
    found = [start]
    for year in YEARS[1:]:
        found.append(found[-1] * (1000 + chance.at(year).whole(low, high)) // 1000)
    return found


def _shape(chance: Chance, economies: list[Record]) -> None:
    """Codes that are unique in all splits, no two equal GDPs, some that count in millions, some without a survey."""
    third = LETTERS[int(economies[0]["id"]) % 3 :: 3]  # the id tells the split, and so does a code's last letter
    short = [one + last for one in LETTERS for last in third if one != last and one + last not in REAL_CODES]
    for place, code in enumerate(chance.at("codes").order(short)[: len(economies)]):
        economy, first, last = economies[place], code[0], code[1]
        middle = [one for one in LETTERS if one not in code and first + one + last not in REAL_CODES]
        economy["code"], economy["short"] = first + chance.at("middle", place).pick(middle) + last, code
        economy["codes"] = [economy["code"], economy["short"]]
        economy["gdp"] = [value // 40 * 40 + place for value in economy["gdp"]]
        economy["kind"] = {2: "millions", 5: "silent"}.get(place % 8, "plain")


POPULATION = Population(
    size=40,
    syllables=Syllables(
        onsets=("b", "d", "g", "k", "l", "m", "n", "r", "s", "t", "v", "z", "br", "tr", "st"),
        rhymes=("a", "e", "i", "o", "u", "an", "el", "or", "ia", "en"),
    ),
    kinds=("Union", "Islands", "Republic", "Highlands", "League", "Federation"),
    attributes={
        "region": lambda chance, _: chance.pick(REGIONS),
        "grain": lambda chance, _: chance.whole(0, 2**31),
        "population": lambda chance, _: _walk(chance, 1_000 * chance.whole(400, 180_000), -5, 25),
        "wealth": lambda chance, _: _walk(
            chance, chance.at("tier").pick((900, 2_600, 5_500, 14_000, 22_000, 33_000, 48_000, 70_000)), -60, 90
        ),
        "gdp": lambda _, it: [it["population"][at] * it["wealth"][at] // 1_000_000 for at in range(len(YEARS))],
        "missing": lambda chance, _: chance.pick(([], [], [], [], [2022], [2022], [2021])),
        "jobless": lambda chance, _: _walk(chance, chance.whole(200, 1_500), -150, 150),
    },
    shape=_shape,
    groups=("codes",),
    denied=words(
        """united states, china, japan, germany, india, iran, oman, mali, togo, niger, benin, belize, malta, israel,
        rape, anus, anal, tit, homo, nazi, puta, tumor, pedo, pus, haram, satan, nigg, slut, bitch"""
    ),
)


def dollars(economy: Record, at: int) -> int:
    """GDP of the year with this number."""
    return int(economy["gdp"][at]) * 1_000_000


def per_person(economy: Record, at: int) -> float:
    """GDP per person, in hundredths."""
    people = economy["population"][at]
    return float((200 * dollars(economy, at) + people) // (2 * people) / 100)


def _other(what: str) -> Callable[[Record, int], float]:
    """A figure that no report wants: it has its place among the others."""
    return lambda economy, at: (economy["grain"] // 97 + 131 * at + 17 * len(what)) % 900 / 10


def _rate(economy: Record, at: int) -> float:
    return float(economy["jobless"][at] // 10 / 10)


def years_of(economy: Record) -> list[int]:
    """The numbers of the years for which there is a GDP."""
    return [at for at, year in enumerate(YEARS) if year not in economy["missing"]]


def level_of(value: float, scale: Mapping[str, int]) -> str:
    """The first step of a scale whose limit a value exceeds."""
    return next(name for name, limit in scale.items() if value > limit)


# --- the tools ---------------------------------------------------------------------------------------------------

INFO, GDP, INDICATOR, SNAPSHOT, PEOPLE = (
    f"worldbank_{name}" for name in ("country_info", "gdp", "indicator", "economic_snapshot", "population")
)
TOTAL, HEADS, PER_PERSON, JOBLESS = "NY.GDP.MKTP.CD", "SP.POP.TOTL", "NY.GDP.PCAP.CD", "SL.UEM.TOTL.ZS"
#: Series code -> the aspect that it reveals and its values.
SERIES: Mapping[str, tuple[str, Callable[[Record, int], float]]] = {
    TOTAL: ("gdp", lambda economy, at: economy["gdp"][at] if economy["kind"] == "millions" else dollars(economy, at)),
    HEADS: ("people", lambda economy, at: economy["population"][at]),
    PER_PERSON: ("per person", per_person),
    JOBLESS: ("jobless", _rate),
    **{
        code: (code, _other(code))
        for code in words("""NY.GNP.MKTP.CD, NY.GDP.MKTP.KD.ZG, FP.CPI.TOTL.ZG, NE.EXP.GNFS.ZS, NE.IMP.GNFS.ZS,
                             SP.URB.TOTL.IN.ZS, SP.DYN.LE00.IN, IT.NET.USER.ZS""")
    },
}
#: The blocks of a snapshot that no report wants.
BLOCKS = {
    "additional_economic": "gni, gni_per_capita, gdp_growth, exports_pct_gdp, imports_pct_gdp, fdi_pct_gdp",
    "social_indicators": "urban_population_pct, life_expectancy, population_growth, fertility_rate",
    "education_indicators": "school_enrollment, adult_literacy",
    "health_indicators": "health_expenditure_pct_gdp, infant_mortality",
    "infrastructure_indicators": "internet_users_pct, mobile_subscriptions",
    "trend_analysis": "gdp_cagr_percent, measurement_period, yoy_gdp_changes",
    "fiscal_indicators": """trade_balance_pct_gdp, government_debt_pct_gdp, tax_revenue_pct_gdp,
                            military_expenditure_pct_gdp, rd_expenditure_pct_gdp""",
    "labor_market": "labor_force_total, employment_to_population_ratio, youth_unemployment_rate",
    "environment_indicators": "co2_emissions_per_capita, renewable_energy_pct, forest_area_pct",
}


def _about_one(
    name: str, description: str, project: Callable[[Ask, Record], Answer], *, seconds: float = 1.0, **more: str
) -> ToolSpec:
    """A tool about one economy, by either of its codes; `more` are further arguments and the planner's values."""

    def answer(ask: Ask) -> Answer:
        found = ask.world.group("codes", ask.arguments["country_code"])
        if not found:
            return failed(NOT_FOUND, f"There is no economy {ask.arguments['country_code']!r}.")
        told = project(ask, found[0])
        if told.code is not None:
            return told
        return Answer(
            {"success": True, **told.payload}, told.reveals | {(found[0]["id"], "known")}, None, found[0]["id"]
        )

    def meant(world: World, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        found = world.group("codes", arguments["country_code"].strip())
        return {**arguments, "country_code": found[0]["code"]} if found else arguments

    return ToolSpec(
        name=name,
        description=description,
        parameters={argument: {"type": "string"} for argument in ("country_code", *more)},
        answer=answer,
        about=lambda economy: {"country_code": economy["code"], **more},
        meant=meant,
        seconds=seconds,
    )


def _rows(values: Iterable[tuple[int, Any]]) -> list[dict[str, Any]]:
    """Rows of years, the newest first."""
    return [{"year": YEARS[at], "value": value} for at, value in sorted(values, reverse=True)]


def _series(economy: Record, code: str) -> Answer:
    aspect, value = SERIES[code]
    if code == JOBLESS and economy["kind"] == "silent":
        return failed(NO_DATA, "There is no such survey in this economy. This is final.")
    at_all = years_of(economy) if code in (TOTAL, PER_PERSON) else range(len(YEARS))
    rows = [row | {"indicator": code} for row in _rows((at, value(economy, at)) for at in at_all)]
    payload: dict[str, Any] = {"country_code": economy["code"], "indicator": code, "data_points": len(rows)}
    if code == TOTAL:
        payload["unit"] = "millions" if economy["kind"] == "millions" else "single units"
    payload |= {"values": rows, "latest_value": rows[0]["value"]}
    return Answer(payload, frozenset({(economy["id"], aspect)}))


def _indicator(ask: Ask, economy: Record) -> Answer:
    code = ask.arguments["indicator"].upper()
    return _series(economy, code) if code in SERIES else failed(NOT_FOUND, f"There is no indicator {code!r}.")


def _info(ask: Ask, economy: Record) -> Answer:
    country = {
        "id": economy["code"], "name": economy["name"], "iso2Code": economy["short"], "region": economy["region"],
        "income_level": level_of(economy["wealth"][0], INCOMES),
    }  # fmt: skip
    if ask.profile != "lean":
        country |= {"lending_type": "none", "capital_city": f"Port {economy['name'].split()[0]}"}
        country |= {"longitude": economy["grain"] % 1800 / 10, "latitude": economy["grain"] % 600 / 10}
    return Answer({"country": country}, frozenset({(economy["id"], "region")}))


def _people(_: Ask, economy: Record) -> Answer:
    rows = _rows(enumerate(economy["population"]))
    change = round(100 * (rows[0]["value"] - rows[-1]["value"]) / rows[-1]["value"], 1)
    payload = {
        "country_code": economy["code"],
        "population": {"latest": rows[0]["value"], "historical": rows, "data_years": len(rows)},
        "demographics": {
            what: _other(what)(economy, 4) for what in ("growth_rate", "urban_percent", "life_expectancy")
        },
        "trends": {"population_change_percent": change, "measurement_period": f"{YEARS[0]}-{YEARS[-1]}"},
    }
    return Answer(payload, frozenset({(economy["id"], "people")}))


def _snapshot(ask: Ask, economy: Record) -> Answer:
    """All at once: people and jobs by year; money only in constant prices, which no report wants."""
    told = economy["kind"] != "silent"
    constant = {at: dollars(economy, at) * 9 // 10 for at in years_of(economy)}
    history = {
        "gdp": _rows(constant.items()),
        "population": _rows(enumerate(economy["population"])),
        "gdp_per_capita": _rows((at, round(value / economy["population"][at], 2)) for at, value in constant.items()),
        "inflation": _rows((at, _other("inflation")(economy, at)) for at in range(len(YEARS))),
        "unemployment": _rows((at, _rate(economy, at)) for at in range(len(YEARS)) if told),
    }
    latest = {
        name + ("_rate" if name in ("inflation", "unemployment") else ""): rows[0]["value"] if rows else None
        for name, rows in history.items()
    }
    payload: dict[str, Any] = {"country": economy["code"], "economic_indicators": latest | {"prices": "constant 2015"}}
    payload |= {f"historical_{name}": rows for name, rows in history.items()}
    if ask.profile != "lean":
        payload |= {
            block: {what: _long(economy, what, ask.profile) for what in words(names)} for block, names in BLOCKS.items()
        }
    aspects = ("people", "jobless") if told else ("people",)
    return Answer(payload, frozenset((economy["id"], aspect) for aspect in aspects))


def _long(economy: Record, what: str, profile: str) -> Any:
    """The latest figure; in the largest payload the rows of fifty years."""
    value = _other(what)
    if profile != "original":
        return value(economy, 4)
    return [{"year": 2022 - back, "value": value(economy, back), "status": "observed"} for back in range(44)]


TOOLS = (
    _about_one(INFO, "Name, codes, region and income level of an economy.", _info),
    _about_one(GDP, "Gross domestic product of an economy, by year.", lambda _, economy: _series(economy, TOTAL)),
    _about_one(INDICATOR, "A series of an economy by its code, by year.", _indicator, indicator=JOBLESS),
    _about_one(SNAPSHOT, "Everything about an economy at once.", _snapshot, seconds=33.0),
    _about_one(PEOPLE, "Population of an economy, by year.", _people),
)

# --- the contract ------------------------------------------------------------------------------------------------


def common_year(task: Scenario) -> int:
    """The number of the latest year for which every economy of the task has a GDP."""
    return max(set.intersection(*(set(years_of(economy)) for economy in task.records)))


def _figures(task: Scenario, economy: Record) -> dict[str, Any]:
    at = common_year(task)
    return {
        "gdp": dollars(economy, at),
        "population": economy["population"][at],
        "gdp_per_capita": per_person(economy, at),
    }


def _rank(task: Scenario, economy: Record) -> int:
    at = common_year(task)
    return 1 + len([other for other in task.records if other["gdp"][at] > economy["gdp"][at]])


def _jobless(task: Scenario, economy: Record) -> Any:
    return SENTINEL if economy["kind"] == "silent" else _rate(economy, common_year(task))


CONTRACT = Contract(
    file="economic_snapshot.json",
    list_key="economies",
    id_key="country_code",
    entries="economies",
    fields=(
        FieldSpec("country_name", "values", text, lambda _, economy: economy["name"], fact("known"),
                  "the name used by the task", shown=True),
        FieldSpec("region", "values", text, lambda _, economy: economy["region"], fact("region"),
                  "the region of the right economy", tools=(INFO,)),
        FieldSpec("year", "values", whole, lambda task, _: YEARS[common_year(task)], fact("gdp"),
                  "the latest year common to all economies of the task"),
        FieldSpec("economic_indicators", "values",
                  parts(gdp=near(0.5), population=whole, gdp_per_capita=near(1)), _figures, fact("gdp", "people"),
                  "figures of that year in single units"),
        FieldSpec("unemployment_rate", "values", near(0.05), _jobless, fact("jobless"), "the rate of that year",
                  raw_gaps=(None,)),
        FieldSpec("economic_power_rank", "derived", whole, _rank, fact("gdp"), "the place by GDP"),
        FieldSpec("development_tier", "derived", text,
                  lambda task, economy: level_of(per_person(economy, common_year(task)), TIERS), fact("gdp", "people"),
                  "the tier of the GDP per person", alternatives=(fact("per person"),)),
    ),
    summary=(
        SummaryField("total_economies", whole, lambda task: len(task.records)),
        SummaryField("largest_economy", text,
                     lambda task: task.titles[max(task.records, key=lambda one: one["gdp"][common_year(task)])["id"]]),
    ),
)  # fmt: skip

# --- levels and texts --------------------------------------------------------------------------------------------

_CODE, _MILLIONS, _BROKEN = FaultRule("A"), FaultRule("S", trait="millions"), FaultRule("R", (SNAPSHOT,))
LEVELS = {
    "e1": Level(3, (SNAPSHOT, GDP, INFO), ()),
    "e2": Level(3, (SNAPSHOT, GDP, INDICATOR), (FaultRule("T", (GDP,)), _CODE)),
    "e3": Level(3, (GDP, INDICATOR, PEOPLE), (_MILLIONS, _CODE)),
    "m1": Level(4, (SNAPSHOT, GDP, INFO, INDICATOR), (FaultRule("T", (GDP, INFO)), _BROKEN, _MILLIONS, _CODE)),
    "m2": Level(4, (SNAPSHOT, GDP, INDICATOR, PEOPLE), (FaultRule("L", (GDP, PEOPLE)), _BROKEN, _MILLIONS, _CODE)),
    "h1": Level(5, (SNAPSHOT, GDP, INFO, INDICATOR, PEOPLE),
                (FaultRule("T", (GDP,), times=2), FaultRule("L", (INFO, PEOPLE)), _BROKEN,
                 FaultRule("G", trait="silent"), _MILLIONS, _MILLIONS, _CODE, _CODE)),
}  # fmt: skip
HINTS = {
    INFO: "who it is",
    GDP: "its gross domestic product",
    INDICATOR: "any series by code",
    SNAPSHOT: "everything at once",
    PEOPLE: "its population",
}


def _prompt(task: Scenario) -> str:
    code = outsider(task)
    entry = {"country_code": code, "country_name": "Example Union"}
    entry |= {"region": REGIONS[0]} if INFO in task.rung.tools else {}
    figures = {"gdp": 80_000_000_000, "population": 4_000_000, "gdp_per_capita": 20_000.0}
    more = {"year": 2022, "economic_indicators": figures, "economic_power_rank": 1, "development_tier": "Rising"}
    limits = ", ".join(f"above {limit:,} {name}" for name, limit in TIERS.items() if limit)
    return task_prompt(
        task,
        PromptParts(
            title="Economic snapshot",
            purpose="You put together a snapshot of some economies from a statistics service.",
            goals=(
                "Look up every economy of the table with the lookup tools.",
                "Report all economies for one year, the latest for which each of them has a GDP.",
                "Rank them by GDP, the largest first, and name the largest.",
                f"Give each a tier by its GDP per person: {limits}, otherwise {list(TIERS)[-1]}.",
            ),
            columns=("code", "economy"),
            rows=[(task.titles[one["id"]], one["name"]) for one in task.records],
            example={"economies": [entry | more], "summary": {"total_economies": 1, "largest_economy": code}},
            hints=HINTS,
            steps=(
                "Ask the lookup tools for its code.",
                "Take GDP and population of the year of the report and divide for the GDP per person.",
                "Report figures only, no series.",
            ),
            reference="reference/economy.md",
        ),
    )


REFERENCE = (HERE / "reference.md").read_text(encoding="utf-8")


def _route(task: Scenario) -> Sequence[Call]:
    """GDP, region, people and jobs of each; the slow snapshot only where nothing else tells of people and jobs."""
    series = [(INDICATOR, {"indicator": JOBLESS})]
    series += [] if PEOPLE in task.rung.tools else [(INDICATOR, {"indicator": HEADS})]
    wanted = [(GDP, {}), (INFO, {}), (PEOPLE, {}), *(series if INDICATOR in task.rung.tools else [(SNAPSHOT, {})])]
    offered = [(tool, more) for tool, more in wanted if tool in task.rung.tools]
    return [(tool, {"country_code": one["code"], **more}) for tool, more in offered for one in task.records]


FAMILY = FamilySpec(
    name="economy",
    version="1",
    skill="economic-snapshot",
    population=POPULATION,
    traits={
        "millions": lambda _, economy: bool(economy["kind"] == "millions"),
        "silent": lambda _, economy: bool(economy["kind"] == "silent"),
    },
    distinct=(),
    tools={tool.name: tool for tool in TOOLS},
    levels=LEVELS,
    contract=CONTRACT,
    official="world-bank-economic-snapshot",
    title=lambda economy: str(economy["code"]),
    alias=lambda _, economy: str(economy["short"]),
    prompt=_prompt,
    files=lambda task: {"reference/economy.md": REFERENCE, "plan.json": stale_plan(task, "economies.json")},
    route=_route,
    critical=frozenset({("m1", 1), ("h1", 0), ("h1", 2)}),
    behaviour="behaviour.py",
    folder=HERE,
)
