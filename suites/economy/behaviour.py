"""How the simulated model reports on economies: lookups, fields and practices (models/simulated/conduct.py)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pytest_skillevo.models.simulated.conduct import Conduct, Fill, Item, Lookup, gap_or
from pytest_skillevo.models.simulated.library import (
    COMMON_YEAR,
    DETOUR,
    SUMMARY,
    TITLES,
    UNITS,
    by_rule,
    include_field,
)
from pytest_skillevo.models.simulated.lookups import by_year, object_in
from pytest_skillevo.models.simulated.worker import LookupBehaviour, Worker

INDICATOR, SNAPSHOT = "worldbank_indicator", "worldbank_economic_snapshot"
JOBLESS: Final = include_field("unemployment_rate")
TIER: Final = by_rule("development_tier", "tier*|development_tier|development", "gdp*|per capita|person")
RANK: Final = by_rule("economic_power_rank", "rank*|economic_power_rank|place*", "gdp*", p0=0.3)
#: The service's classes, as a careless agent reads them.
CLASSES: Final = ("High income", "Upper middle income", "Lower middle income", "Low income")

_TIERS = re.compile(r"above ([\d,]+) (\w+)")
_LAST = re.compile(r"otherwise (\w+)\.")

# --- looking up --------------------------------------------------------------------------------------------------


def _code(economy: Item, _: Worker) -> Mapping[str, Any]:
    return {"country_code": economy.title}


def _identify(economy: Item, answer: Mapping[str, Any]) -> None:
    country = object_in(answer, "country")
    economy.learn(answer, id="country_code")
    economy.learn(country, "id", "region", "income_level")


def _learn_gdp(economy: Item, answer: Mapping[str, Any]) -> None:
    _identify(economy, answer)
    economy.known |= {"gdp": by_year(answer.get("values")), "unit": answer.get("unit")}


def _learn_people(economy: Item, answer: Mapping[str, Any]) -> None:
    economy.known["people"] = by_year(object_in(answer, "population").get("historical"))


def _survey(economy: Item, answer: Mapping[str, Any]) -> None:
    """A snapshot: people and jobs; an empty history of jobs is a gap."""
    economy.known["people"] = by_year(answer.get("historical_population"))
    economy.known["jobless"] = by_year(answer.get("historical_unemployment"))
    if not economy.known["jobless"]:
        economy.gaps.add(INDICATOR)


def _series(what: str, code: str, *instead_of: str) -> Lookup:
    """A series that is still wanted; where another tool should have given it, it takes the idea of a detour."""

    def ask(economy: Item, worker: Worker) -> Mapping[str, Any] | None:
        if economy.get(what) is not None or (worker.offers(*instead_of) and worker.lapses(DETOUR)):
            return None
        return {"country_code": economy.title, "indicator": code}

    def learn(economy: Item, answer: Mapping[str, Any]) -> None:
        economy.known[what] = by_year(answer.get("values"))
        economy.learn(answer, "unit")

    return Lookup(tool=INDICATOR, ask=ask, learn=learn)


# --- filling in --------------------------------------------------------------------------------------------------


def _year(economy: Item, worker: Worker) -> int | None:
    own = economy.get("gdp") or {}
    if worker.lapses(COMMON_YEAR):
        return max(own, default=None)
    known = [set(each.get("gdp")) for each in worker.items if each.get("gdp")]
    return max(set.intersection(*known), default=None) if own and known else None


def _gdp(economy: Item, worker: Worker) -> float | None:
    year = _year(economy, worker)
    if year is None:
        return None
    value: float = economy.get("gdp")[year]
    return value * 1_000_000 if economy.get("unit") == "millions" and not worker.lapses(UNITS) else value


def _people(economy: Item, worker: Worker) -> float | None:
    return (economy.get("people") or {}).get(_year(economy, worker))


def _per_person(economy: Item, worker: Worker) -> float | None:
    gdp, people = _gdp(economy, worker), _people(economy, worker)
    return None if gdp is None or not people else round(gdp / people, 2)


def _figures(economy: Item, worker: Worker) -> Any:
    wealth = _per_person(economy, worker)
    if wealth is None:
        return None
    return {"gdp": _gdp(economy, worker), "population": _people(economy, worker), "gdp_per_capita": wealth}


def _jobless(economy: Item, worker: Worker) -> Any:
    rate = (economy.get("jobless") or {}).get(_year(economy, worker))
    return gap_or(economy, worker, INDICATOR, rate, 6.5)


def _rank(economy: Item, worker: Worker) -> int | None:
    """The place by GDP; in a lapse by wealth."""
    measure = _per_person if worker.lapses(RANK) else _gdp
    own = measure(economy, worker)
    others = [value for other in worker.others(economy) if (value := measure(other, worker)) is not None]
    return None if own is None else 1 + sum(value > own for value in others)


def _tier(economy: Item, worker: Worker) -> str | None:
    """The tier by the task's limits; in a lapse the service's class, or the looks of the total."""
    limits = [(int(limit.replace(",", "")), name) for limit, name in _TIERS.findall(worker.at.prompt)]
    last = _LAST.search(worker.at.prompt)
    names: list[str] = [*(name for _, name in limits), *([last[1]] if last else [])]
    value = _per_person(economy, worker)
    if value is None or not names:
        return None
    if worker.lapses(TIER):
        given = economy.get("income_level")
        return names[CLASSES.index(given) % len(names)] if given in CLASSES else names[len(economy.title) % len(names)]
    return next((name for limit, name in limits if value > limit), names[-1])


def _own_code(economy: Item, worker: Worker) -> Any:
    return economy.get("id") or economy.title if worker.lapses(TITLES) else economy.title


def _summary(worker: Worker, entries: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    if worker.lapses(SUMMARY):
        return {**worker.order.summary, "total_economies": len(entries)}
    first = [entry["country_code"] for entry in entries if entry.get("economic_power_rank") == 1]
    return {"total_economies": len(entries), **({"largest_economy": first[0]} if first else {})}


BEHAVIOUR: Final = LookupBehaviour(
    Conduct(
        name="economy",
        title="Economic snapshot",
        stages=(
            (
                Lookup(tool=SNAPSHOT, ask=_code, learn=_survey),
                Lookup(tool="worldbank_gdp", ask=_code, learn=_learn_gdp),
                Lookup(tool="worldbank_country_info", ask=_code, learn=_identify),
                Lookup(tool="worldbank_population", ask=_code, learn=_learn_people),
            ),
            (
                _series("gdp", "NY.GDP.MKTP.CD", "worldbank_gdp"),
                _series("people", "SP.POP.TOTL", SNAPSHOT, "worldbank_population"),
                _series("jobless", "SL.UEM.TOTL.ZS", SNAPSHOT),
            ),
        ),
        fields=(
            Fill(name="country_name", value=lambda economy, _: economy.get("economy"), invented=str),
            Fill(name="region", value=lambda economy, _: economy.get("region"), tools=("worldbank_country_info",),
                 invented=lambda _: "Middle Lakes"),
            Fill(name="year", value=_year, invented=lambda _: 2022),
            Fill(name="economic_indicators", value=_figures,
                 invented=lambda at: {"gdp": int(1e11 * (1 + at)), "population": 10**7, "gdp_per_capita": 1e4}),
            Fill(name="unemployment_rate", value=_jobless, include=JOBLESS, invented=lambda at: round(4 + 6 * at, 1)),
            Fill(name="economic_power_rank", value=_rank, invented=lambda _: 1),
            Fill(name="development_tier", value=_tier, invented=lambda _: "Rising"),
        ),
        summary=_summary,
        ident=_own_code,
        practices=(JOBLESS, COMMON_YEAR, UNITS, DETOUR, TIER, RANK),
        terms=(
            ("item", "economy|country"), ("items", "economies|countries"),
            ("artifact", "snapshot|economic_snapshot.json"), ("summary", "largest_economy"),
            ("name", "code"), ("names", "codes"), ("title", "country_code|code"), ("titles", "codes"),
            ("details", "indicator|series"), ("reference", "economy.md"), ("tool", "snapshot tool"),
        ),
    )
)  # fmt: skip
