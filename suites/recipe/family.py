"""The recipe family: look up dishes of a fictional catalogue, write a cookbook (spec/suites.md 1.5, 3.12)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pytest_skillevo.families.compare import SENTINEL, members, text, whole
from pytest_skillevo.families.faults import FaultRule
from pytest_skillevo.families.projections import (
    COUNT_AND_TOP,
    count_and_top,
    fact,
    first_page,
    group_list,
    listing,
    search,
)
from pytest_skillevo.families.scenario import Scenario, calls_by_tool
from pytest_skillevo.families.spec import Call, Contract, FamilySpec, FieldSpec, Level, SummaryField
from pytest_skillevo.families.texts import PromptParts, outsider, stale_plan, task_prompt
from pytest_skillevo.families.tools import NEEDS_PREREQUISITE, NO_DATA, NOT_FOUND, Answer, Ask, ToolSpec, failed
from pytest_skillevo.families.world import Chance, Population, Record, Syllables, words

HERE = Path(__file__).parent

# --- the world ---------------------------------------------------------------------------------------------------

#: Kitchen adjective, as tasks write it -> country, as the catalogue does.
AREAS = {
    "Velran": "Velria", "Ombric": "Ombra", "Tasqui": "Tasqa", "Kellish": "Kellmark", "Saruni": "Sarun",
    "Norvane": "Norvia", "Pelagine": "Pelago", "Brumese": "Brumland", "Izarite": "Izar", "Lumari": "Lumar",
}  # fmt: skip
KITCHENS = {country: kitchen for kitchen, country in AREAS.items()}
UNKNOWN = "Unknown"
CATEGORIES = ("Broths", "Bakes", "Skewers", "Dumplings", "Salads", "Porridges", "Sweets", "Preserves")


#: Key ingredients; a dish has one, few dishes share it.
KEYS = words(
    """
    millet, barley, leek, turnip, pumpkin, parsnip, buckwheat, lentils, chickpeas, mussels, trout, herring,
    rabbit, goose, walnuts, chestnuts, quince, plums, rhubarb, fennel, beetroot, cabbage, mushrooms, spinach,
    artichokes, apricots, figs, cod, crab, venison
    """
)
#: Everyday ingredients; their number is prime (Chance.several).
PANTRY = words(
    """
    salt, pepper, butter, flour, sugar, onion, garlic, parsley, thyme, bay leaf, cream, milk, eggs, oil,
    vinegar, honey, mustard, lemon, carrot, celery, stock, breadcrumbs, yeast, paprika, nutmeg, cloves,
    cinnamon, ginger, dill, chives, tomatoes, yoghurt, cheese, rice, potatoes, sage, mint
    """
)
MEASURES = ("1 cup", "2 tbsp", "1 tsp", "200 g", "a pinch", "3 pieces", "half a litre")
VERBS = ("Rinse", "Chop", "Brown", "Simmer", "Fold in", "Season with", "Stir in", "Bake with", "Garnish with")
GARNISHES = ("with Greens", "with Crumbs", "with Sauce", "with Pickles")
TITLE_WORDS = ("Classic", "Homestyle", "Rustic", "Festive")


def _shape(chance: Chance, dishes: list[Record]) -> None:
    """What holds for the catalogue as a whole: one large category, a few dishes without an area, namesakes."""
    large, *rest = chance.at("categories").order(CATEGORIES)
    order = chance.at("spread").order(range(len(dishes)))
    cut = chance.at("large").whole(44, 56)
    for place, number in enumerate(order):
        dishes[number]["category"] = large if place < cut else rest[chance.at("rest", place).whole(0, len(rest) - 1)]
    single = [n for n, dish in enumerate(dishes) if n % 8 < 6 and dish["category"] != large]
    for number in chance.at("gaps").order(single)[:6]:
        dishes[number]["area"] = UNKNOWN
    for number in range(7, len(dishes), 8):  # a namesake of the dish before it, listed first because its id is smaller
        dish, namesake = dishes[number - 1], dishes[number]
        namesake["name"] = f"{dish['name']} {chance.at('garnish', number).pick(GARNISHES)}"
        for key in ("area", "key", "ingredients"):
            namesake[key] = dish[key]
        namesake["id"], dish["id"] = sorted((namesake["id"], dish["id"]))
        dish["namesake"], namesake["namesake"] = "shorter", "longer"


POPULATION = Population(
    size=120,
    syllables=Syllables(
        onsets=("b", "d", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z", "gr", "tr", "h"),
        rhymes=("a", "e", "i", "o", "u", "an", "el", "ir", "os", "um"),
    ),
    kinds=("Pot", "Plate", "Bowl", "Tray", "Fold", "Platter", "Pan"),
    attributes={
        "area": lambda chance, _: chance.pick(tuple(AREAS.values())),
        "key": lambda chance, _: chance.pick(KEYS),
        "ingredients": lambda chance, dish: [dish["key"], *chance.several(PANTRY, chance.at("count").whole(2, 17))],
        "blanks": lambda chance, _: chance.whole(1, 3),
        "prep": lambda chance, _: 5 * chance.whole(1, 8),
        "cook": lambda chance, _: 5 * chance.whole(1, 24),
        "namesake": lambda _, __: None,
    },
    shape=_shape,
    groups=("category", "area", "ingredients"),
    # Real dishes of the public benchmark, and syllables that would not look well on a menu.
    denied=words(
        """spaghetti carbonara, tandoori chicken, pad thai, beef bourguignon, sushi,
        rape, anus, anal, tit, homo, nazi, puta, putan, porn, tumor, pedo, pus, kaka, haram"""
    ),
)

# --- the tools ---------------------------------------------------------------------------------------------------

CAP = 35


def _minutes(dish: Record) -> int:
    return int(dish["prep"] + dish["cook"])


#: What the largest answers say of every dish, as the public benchmark's do; it decides nothing.
BLURB = " ".join(f"{verb} slowly and serve it while it is warm." for verb in VERBS for _ in range(2))


def _row(*names: str) -> Any:
    def row(ask: Ask, dish: Record) -> dict[str, Any]:
        line = {name: dish[name] for name in names}
        if ask.profile == "original":
            line["blurb"] = BLURB
        return line if ask.profile == "lean" else line | {"image": f"catalogue/{dish['id']}.jpg"}

    return row


def _search_row(ask: Ask, dish: Record) -> dict[str, Any]:
    """Where details can be asked for, a search tells little; else it is the only source and tells all."""
    line: dict[str, Any] = _row("id", "name", "category", "area")(ask, dish)
    if "meal_details" in ask.offered:
        return line
    return line | {"ingredients": list(dish["ingredients"]), "total_time_minutes": _minutes(dish)}


def _statistics(_: Ask, dishes: Sequence[Record]) -> dict[str, Any]:
    lengths = [len(dish["name"]) for dish in dishes]
    statistics = {"avg_name_length": sum(lengths) // len(lengths), "total_meals_available": len(dishes)}
    return {"statistics": statistics, "api_info": {"api_version": "1"}}


def _instructions(dish: Record) -> list[str]:
    return [
        f"{VERBS[(place + dish['blanks']) % len(VERBS)]} the {item} and keep it warm until the next step is ready."
        for place, item in enumerate(dish["ingredients"])
    ]


def _estimate(count: int) -> str:
    """The catalogue's own estimate, which cuts elsewhere than the task does."""
    return "Easy" if count <= 6 else "Medium" if count <= 12 else "Hard"


def _details(ask: Ask) -> Answer:
    number = ask.arguments["meal_id"]
    if len(number) != 5 or not number.isdecimal():
        return failed(
            NEEDS_PREREQUISITE, "meal_id is the five-digit id from a search or list answer; look the dish up first."
        )
    dish = ask.world.by_id.get(number)
    if dish is None:
        return failed(NOT_FOUND, f"There is no dish with the id {number!r}.")
    count = len(dish["ingredients"])
    meal: dict[str, Any] = {name: dish[name] for name in ("id", "name", "category", "area")}
    meal["ingredients"] = [
        {"name": item, "measure": MEASURES[(place + dish["blanks"]) % len(MEASURES)]}
        for place, item in enumerate(dish["ingredients"])
    ]
    meal["ingredient_count"] = count + dish["blanks"]
    answer: dict[str, Any] = {
        "success": True,
        "meal": meal,
        "analysis": {
            "estimated_difficulty": _estimate(count),
            "estimated_prep_time_minutes": dish["prep"],
            "estimated_cook_time_minutes": dish["cook"],
            "estimated_total_time_minutes": _minutes(dish),
        },
    }
    if ask.profile != "lean":
        meal["instructions"] = _instructions(dish)
        meal["step_count"] = count
        answer["nutrition_estimate"] = {"portions": 4, "energy_kcal": 180 + 35 * count}
        answer["api_info"] = {"api_version": "1"}
    if ask.profile == "original":
        answer["serving_notes"] = [BLURB] * 16
    known = ("category", "area", "ingredients", "total_time_minutes", "name")
    return Answer(answer, frozenset((number, name) for name in known))


def _listing(
    name: str, description: str, argument: str, attribute: str, cap: int, total: str, *keys: str, **more: Any
) -> ToolSpec:
    return listing(
        name, description, argument=argument, attribute=attribute, cap=cap, total=total, rows="meals",
        row=_row("id", "name", *keys), extras=_statistics, **more,
    )  # fmt: skip


NO_AREA = failed(NO_DATA, "The catalogue holds no area for these dishes. This is final.")
TOOLS = (
    search(
        "meal_search", "Find dishes whose catalogue name contains a text.", argument="name", cap=10,
        total="total_matches", rows="meals", row=_search_row, extras=_statistics,
    ),
    ToolSpec(
        name="meal_details",
        description="Everything that the catalogue knows of one dish, by its id.",
        parameters={"meal_id": {"type": "string"}},
        answer=_details,
        about=lambda dish: {"meal_id": dish["id"]},
    ),
    _listing("meal_by_category", "The dishes of a category, by page.",
             "category", "category", CAP, "total_in_category", "area"),
    _listing("meal_by_area", "The dishes of an area, by page.",
             "area", "area", CAP, "total_in_cuisine", "category", gaps={UNKNOWN.casefold(): NO_AREA}),
    _listing("meal_by_ingredient", "The dishes with an ingredient, by page.",
             "ingredient", "ingredients", 20, "total_with_ingredient", "category", "area",
             asked=lambda dish: str(dish["key"])),
)  # fmt: skip

# --- the contract ------------------------------------------------------------------------------------------------


def difficulty(count: int) -> str:
    """The task's rule."""
    return "Easy" if count <= 5 else "Medium" if count <= 9 else "Hard"


def _dishes(attribute: str) -> Callable[[Scenario, Record], Any]:
    return lambda task, dish: (
        SENTINEL if dish[attribute] == UNKNOWN else count_and_top(task, attribute, dish[attribute])
    )


_NUMBER = "a whole number"
CONTRACT = Contract(
    file="recipe_cookbook.json",
    list_key="recipes",
    id_key="name",
    entries="dishes",
    fields=(
        FieldSpec("category", "values", text, lambda _, dish: dish["category"], fact("category"),
                  "the catalogue's name"),
        FieldSpec("cuisine", "values", text, lambda _, dish: KITCHENS.get(dish["area"], SENTINEL), fact("area"),
                  "the name used by the task", raw_gaps=(UNKNOWN,), shown=True),
        FieldSpec("ingredient_count", "values", whole, lambda _, dish: len(dish["ingredients"]),
                  fact("ingredients"), _NUMBER),
        FieldSpec("category_dishes", "values", COUNT_AND_TOP, _dishes("category"), group_list("category"),
                  "count and top3 over the whole category", tools=("meal_by_category",),
                  truncated=first_page("category", CAP)),
        FieldSpec("cuisine_dishes", "values", COUNT_AND_TOP, _dishes("area"), group_list("area"),
                  "count and top3 over the whole area", tools=("meal_by_area",)),
        FieldSpec("difficulty_rating", "derived", text, lambda _, dish: difficulty(len(dish["ingredients"])),
                  fact("ingredients"), "Easy, Medium or Hard"),
        FieldSpec("estimated_cooking_time_min", "derived", whole, lambda _, dish: _minutes(dish),
                  fact("total_time_minutes"), _NUMBER),
    ),
    summary=(
        SummaryField("total_recipes", whole, lambda task: len(task.records)),
        SummaryField("cuisines_covered", members,
                     lambda task: sorted({KITCHENS[dish["area"]] for dish in task.records if dish["area"] != UNKNOWN})),
    ),
)  # fmt: skip


# --- levels and texts --------------------------------------------------------------------------------------------

SEARCH, DETAILS, CATEGORY, AREA, INGREDIENT = (tool.name for tool in TOOLS)
ALIAS = FaultRule("A")
LEVELS = {
    "e1": Level(3, (SEARCH, CATEGORY, AREA), (ALIAS,)),
    "e2": Level(3, (SEARCH, CATEGORY, INGREDIENT), (ALIAS, FaultRule("T", (CATEGORY,)))),
    "e3": Level(3, (DETAILS, AREA, INGREDIENT), (ALIAS, FaultRule("B", trait="ambiguous"))),
    "m1": Level(
        4, (SEARCH, DETAILS, CATEGORY, AREA), (ALIAS, FaultRule("T", (DETAILS, AREA)), FaultRule("P", trait="paged"))
    ),
    "m2": Level(
        4,
        (SEARCH, CATEGORY, AREA, INGREDIENT),
        (ALIAS, FaultRule("L", (AREA, CATEGORY)), FaultRule("M", (SEARCH,), field="category")),
    ),
    "h1": Level(
        5,
        (SEARCH, DETAILS, CATEGORY, AREA, INGREDIENT),
        (
            ALIAS,
            FaultRule("T", (DETAILS,), times=2),
            FaultRule("L", (AREA,)),
            FaultRule("P", trait="paged"),
            FaultRule("G", trait="gap"),
        ),
    ),
}
HINTS = {
    SEARCH: "find a dish",
    DETAILS: "one dish in full",
    CATEGORY: "dishes of a category",
    AREA: "dishes of an area",
}
HINTS[INGREDIENT] = "dishes with an ingredient"


def _prompt(task: Scenario) -> str:
    chance = task.chance.at("example")
    kitchens = [KITCHENS.get(dish["area"], "not given") for dish in task.records]
    other = chance.at("kitchen").pick([name for name in AREAS if name not in kitchens])
    entry = {  # without the two keys that only the reference names
        "name": outsider(task),
        "difficulty_rating": "Medium",
        "estimated_cooking_time_min": 45,
        "ingredient_count": 7,
        "category": chance.at("category").pick(CATEGORIES),
        "cuisine": other,
    }
    lists = [word for tool, word in ((CATEGORY, "category"), (AREA, "area")) if tool in task.rung.tools]
    return task_prompt(
        task,
        PromptParts(
            title="Recipe cookbook",
            purpose="You put together a small cookbook from the meal catalogue.",
            goals=(
                "Look up every dish of the table with the lookup tools.",
                "Work out its difficulty from the number of ingredients.",
            ),
            columns=("dish", "kitchen", "key ingredient"),
            rows=[
                (task.titles[dish["id"]], kitchen, dish["key"])
                for dish, kitchen in zip(task.records, kitchens, strict=True)
            ],
            example={"recipes": [entry], "summary": {"total_recipes": 1, "cuisines_covered": [other]}},
            hints=HINTS,
            steps=(
                "Find it in the catalogue.",
                f"Look at the other dishes of its {' and of its '.join(lists)}.",
                "Rate it: up to 5 ingredients Easy, 6 to 9 Medium, 10 or more Hard.",
            ),
            reference="reference/recipe.md",
        ),
    )


REFERENCE = (HERE / "reference.md").read_text(encoding="utf-8")


def _route(task: Scenario) -> list[Call]:
    """Find every dish, then its details, its area, its category to the end of the list."""
    finder = SEARCH if SEARCH in task.rung.tools else INGREDIENT
    order = (finder, DETAILS, AREA, CATEGORY)
    return calls_by_tool(
        task,
        order,
        skip={AREA: "gap"},
        pages={CATEGORY: lambda world, dish: (len(world.group("category", dish["category"])), CAP)},
    )


FAMILY = FamilySpec(
    name="recipe",
    version="1",
    skill="recipe-cookbook",
    population=POPULATION,
    traits={
        "ambiguous": lambda _, dish: dish["namesake"] == "shorter",
        "namesake": lambda _, dish: dish["namesake"] == "longer",
        "paged": lambda world, dish: len(world.group("category", dish["category"])) > CAP,
        "gap": lambda _, dish: dish["area"] == UNKNOWN,
    },
    distinct=("category", "area", "key"),
    alias=lambda chance, dish: f"{chance.pick(TITLE_WORDS)} {dish['name']}",
    tools={tool.name: tool for tool in TOOLS},
    levels=LEVELS,
    contract=CONTRACT,
    official="recipe-cookbook-builder",
    prompt=_prompt,
    files=lambda task: {"reference/recipe.md": REFERENCE, "plan.json": stale_plan(task, "cookbook.json")},
    route=_route,
    critical=frozenset({("m2", 1), ("h1", 0), ("h1", 2)}),
    behaviour="behaviour.py",
    folder=HERE,
)
