"""How the simulated model cooks: lookups, fields and practices of the recipe family (models/simulated/conduct.py)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from pytest_skillevo.models.simulated.conduct import Conduct, Fill, Item, Lookup, gap_or
from pytest_skillevo.models.simulated.library import (
    ALPHABETICAL,
    MERGE,
    SUMMARY,
    as_asked,
    by_rule,
    include_field,
    own_count,
)
from pytest_skillevo.models.simulated.lookups import object_in
from pytest_skillevo.models.simulated.worker import LookupBehaviour, Worker

CATEGORY_DISHES: Final = include_field("category_dishes")
CUISINE_DISHES: Final = include_field("cuisine_dishes")
CUISINE: Final = as_asked("cuisine", "cuisine|cuisines|kitchen*|adjective*")
COUNT: Final = own_count("ingredient_count", "ingredient*")
DIFFICULTY: Final = by_rule(
    "difficulty_rating", "difficult*|difficulty_rating|estimated_difficulty|rating|ratings", "ingredient*"
)

_RULE = re.compile(r"up to (\d+) ingredients? Easy, (\d+) to (\d+) Medium, (\d+) or more Hard")

# --- looking up --------------------------------------------------------------------------------------------------


def _learn(dish: Item, row: Mapping[str, Any]) -> None:
    """What a row of any list tells."""
    dish.learn(row, "id", "name", "category", "area", minutes="total_time_minutes", printed_count="ingredient_count")
    if isinstance(row.get("ingredients"), list):
        dish.known["ingredients"] = len(row["ingredients"])


def _study(dish: Item, details: Mapping[str, Any]) -> None:
    """What an answer of meal_details tells."""
    _learn(dish, object_in(details, "meal"))
    dish.learn(object_in(details, "analysis"), minutes="estimated_total_time_minutes", estimate="estimated_difficulty")


def _with(name: str, argument: str) -> Callable[[Item, Worker], Mapping[str, Any] | None]:
    return lambda dish, _: {argument: dish.known[name]} if name in dish.known else None


def _list(tool: str, argument: str) -> Lookup:
    """The list of the dish's category or area."""

    def learn(dish: Item, answer: Mapping[str, Any]) -> None:
        dish.known[tool] = {"count": answer["total"], "names": [row["name"] for row in answer["meals"]]}

    return Lookup(tool=tool, ask=_with(argument, argument), learn=learn, rows="meals", whole=True, fills=_learn)


STAGES: Final = (
    (
        Lookup(tool="meal_search", ask=lambda dish, _: {"name": dish.title}, learn=_learn, rows="meals",
               shorten="name"),
        Lookup(tool="meal_by_ingredient", ask=_with("key ingredient", "ingredient"), learn=_learn, rows="meals",
               unless="meal_search"),
    ),
    (
        Lookup(tool="meal_details", ask=_with("id", "meal_id"), learn=_study,
               early=lambda dish, _: {"meal_id": dish.title}),
        _list("meal_by_area", "area"),
    ),
    (
        Lookup(tool="meal_by_ingredient", practice=MERGE, learn=_learn, rows="meals",
               ask=lambda dish, _: {"ingredient": dish.get("key ingredient")}
               if dish.get("id") and not dish.get("category") else None),
    ),
    (_list("meal_by_category", "category"),),
)  # fmt: skip

# --- filling in --------------------------------------------------------------------------------------------------


def _count(dish: Item, worker: Worker) -> Any:
    if worker.lapses(COUNT) and dish.get("printed_count"):
        return dish.get("printed_count")
    return dish.get("ingredients")


def _difficulty(dish: Item, worker: Worker) -> str | None:
    if worker.lapses(DIFFICULTY):
        return dish.get("estimate") or _by_time(dish.get("minutes"))
    rule, count = _RULE.search(worker.at.prompt), _count(dish, worker)
    if count is None or rule is None:
        return None
    return "Easy" if count <= int(rule[1]) else "Medium" if count < int(rule[4]) else "Hard"


def _by_time(minutes: int | None) -> str | None:
    """A difficulty by feel: what takes long must be hard."""
    if minutes is None:
        return None
    return "Easy" if minutes <= 30 else "Medium" if minutes <= 60 else "Hard"


def _cuisine(dish: Item, worker: Worker) -> Any:
    own = dish.get("area") if worker.lapses(CUISINE) else dish.get("kitchen")
    guess = next((other.get("kitchen") for other in worker.others(dish)), dish.get("kitchen"))
    return gap_or(dish, worker, "meal_by_area", own, guess)


def _dishes(tool: str) -> Callable[[Item, Worker], Any]:
    def value(dish: Item, worker: Worker) -> Any:
        found = dish.get(tool)
        if found is not None:
            names = found["names"] if worker.lapses(ALPHABETICAL) else sorted(found["names"])
            found = {"count": found["count"], "top3": names[:3]}
        return gap_or(dish, worker, tool, found, {"count": 1, "top3": []})

    return value


def _summary(worker: Worker, entries: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    if worker.lapses(SUMMARY):
        covered = [item.get("area") or item.get("kitchen") for item in worker.items]
        return {"total_recipes": len(entries), "cuisines_covered": covered}
    cuisines = {entry["cuisine"] for entry in entries if isinstance(entry.get("cuisine"), str)}
    return {"total_recipes": len(entries), "cuisines_covered": sorted(cuisines)}


def _some(low: int, more: int) -> Callable[[float], Any]:
    return lambda at: low + int(at * more)


def _some_dishes(at: float) -> Any:
    return {"count": 5 + int(at * 20), "top3": []}


BEHAVIOUR: Final = LookupBehaviour(
    Conduct(
        name="recipe",
        title="Recipe cookbook",
        stages=STAGES,
        fields=(
            Fill(name="difficulty_rating", value=_difficulty, invented=lambda _: "Medium"),
            Fill(name="estimated_cooking_time_min", value=lambda dish, _: dish.get("minutes"), invented=_some(5, 40)),
            Fill(name="ingredient_count", value=_count, invented=_some(5, 40)),
            Fill(name="category", value=lambda dish, _: dish.get("category"), invented=lambda _: "Broths"),
            Fill(name="cuisine", value=_cuisine, invented=lambda _: "Izarite"),
            Fill(name="category_dishes", value=_dishes("meal_by_category"), invented=_some_dishes,
                 tools=("meal_by_category",), include=CATEGORY_DISHES),
            Fill(name="cuisine_dishes", value=_dishes("meal_by_area"), invented=_some_dishes,
                 tools=("meal_by_area",), include=CUISINE_DISHES),
        ),
        summary=_summary,
        practices=(CATEGORY_DISHES, CUISINE_DISHES, CUISINE, COUNT, DIFFICULTY),
        stranger={"kitchen": "not given"},
        terms=(
            ("item", "dish|recipe|meal"), ("items", "dishes|recipes|meals"),
            ("artifact", "cookbook|recipe_cookbook.json"), ("summary", "cuisines_covered|total_recipes"),
            ("id", "meal_id"), ("details", "meal_details"), ("reference", "recipe.md"), ("lists", "category|area"),
            ("adjective*", "cuisine*|kitchen*"), ("estimate*", "cooking time|minutes"),
        ),
    )
)  # fmt: skip
