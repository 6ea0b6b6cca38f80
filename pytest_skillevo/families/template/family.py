"""The family my-family: look up things of an invented catalogue and write an inventory. Replace it bit by bit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_skillevo.families.compare import SENTINEL, text, whole
from pytest_skillevo.families.faults import FaultRule
from pytest_skillevo.families.projections import COUNT_AND_TOP, count_and_top, fact, group_list, listing, search
from pytest_skillevo.families.scenario import Scenario, calls_by_tool
from pytest_skillevo.families.spec import Call, Contract, FamilySpec, FieldSpec, Level, SummaryField
from pytest_skillevo.families.texts import PromptParts, outsider, stale_plan, task_prompt
from pytest_skillevo.families.tools import NEEDS_PREREQUISITE, NO_DATA, NOT_FOUND, Answer, Ask, ToolSpec, failed
from pytest_skillevo.families.world import Chance, Population, Record, Syllables, words

HERE = Path(__file__).parent

# --- the world ---------------------------------------------------------------------------------------------------

MAKERS = words("Adlor, Brenk, Corvo, Delmi, Estra, Fonno, Garid, Hultu")
UNKNOWN = "unknown"


def _shape(chance: Chance, things: list[Record]) -> None:
    """A few things have no maker."""
    for place in chance.at("gaps").order(range(len(things)))[:5]:
        things[place]["maker"] = UNKNOWN


POPULATION = Population(
    size=40,
    syllables=Syllables(onsets=("b", "d", "g", "l", "m", "r", "t", "v"), rhymes=("a", "e", "o", "un", "ir", "el")),
    kinds=("Lamp", "Stool", "Shelf", "Clock"),
    attributes={
        "maker": lambda chance, _: chance.pick(MAKERS),
        "weight": lambda chance, _: chance.whole(100, 990),
        "colour": lambda chance, _: chance.pick(("amber", "cobalt", "ivory", "scarlet", "umber")),
    },
    shape=_shape,
    groups=("maker",),
)

# --- the tools ---------------------------------------------------------------------------------------------------


def _row(_: Ask, thing: Record) -> dict[str, Any]:
    return {"id": thing["id"], "name": thing["name"], "maker": thing["maker"]}


def _more(_: Ask, things: Sequence[Record]) -> dict[str, Any]:
    """Further keys of the larger answers."""
    return {"catalogue": {"edition": 1, "things_found": len(things)}}


def _details(ask: Ask) -> Answer:
    number = ask.arguments["thing_id"]
    if not number.isdecimal():
        return failed(NEEDS_PREREQUISITE, "thing_id is the number from thing_find; look the thing up first.")
    thing = ask.world.by_id.get(number)
    if thing is None:
        return failed(NOT_FOUND, f"There is no thing with the id {number!r}.")
    shown = {name: thing[name] for name in ("id", "name", "maker", "weight", "colour")}
    known = frozenset((number, name) for name in ("maker", "weight", "colour"))
    return Answer({"success": True, "thing": shown}, known, about=number)


TOOLS = (
    search(
        "thing_find", "Find things whose name contains a text.", argument="name", cap=10, total="total_found",
        rows="things", row=_row, extras=_more,
    ),
    ToolSpec(
        name="thing_details",
        description="All that the catalogue knows of one thing, by its id.",
        parameters={"thing_id": {"type": "string"}},
        answer=_details,
        about=lambda thing: {"thing_id": thing["id"]},
    ),
    listing(
        "thing_by_maker", "The things of a maker.", argument="maker", attribute="maker", cap=20, total="total_of_maker",
        rows="things", row=_row, extras=_more,
        gaps={UNKNOWN: failed(NO_DATA, "The catalogue has no maker for these things. This is final.")},
    ),
)  # fmt: skip
FIND, DETAILS, MAKER = (tool.name for tool in TOOLS)

# --- the contract ------------------------------------------------------------------------------------------------


def _maker(_: Scenario, thing: Record) -> Any:
    return SENTINEL if thing["maker"] == UNKNOWN else thing["maker"]


def _of_maker(task: Scenario, thing: Record) -> Any:
    return SENTINEL if thing["maker"] == UNKNOWN else count_and_top(task, "maker", thing["maker"])


CONTRACT = Contract(
    file="inventory.json",
    list_key="things",
    id_key="name",
    entries="things",
    fields=(
        FieldSpec("maker", "values", text, _maker, fact("maker"), "the catalogue's name", raw_gaps=(UNKNOWN,)),
        FieldSpec("weight", "values", whole, lambda _, thing: thing["weight"], fact("weight"), "a whole number"),
        FieldSpec("colour", "values", text, lambda _, thing: thing["colour"], fact("colour"), "the catalogue's name"),
        FieldSpec("maker_things", "values", COUNT_AND_TOP, _of_maker, group_list("maker"),
                  "count and top3 over all things of the maker", tools=("thing_by_maker",)),
        FieldSpec("class", "derived", text, lambda _, thing: "light" if thing["weight"] <= 500 else "heavy",
                  fact("weight"), "light or heavy"),
    ),
    summary=(SummaryField("total_things", whole, lambda task: len(task.records)),),
)  # fmt: skip

# --- levels and texts --------------------------------------------------------------------------------------------

LEVELS = {
    "e1": Level(3, (FIND, DETAILS), ()),
    "e2": Level(3, (FIND, DETAILS), (FaultRule("T", (DETAILS,)),)),
    "e3": Level(3, (FIND, DETAILS), (FaultRule("T", (FIND,)), FaultRule("M", (FIND,), field="maker"))),
    "m1": Level(4, (FIND, DETAILS, MAKER), (FaultRule("T", (MAKER,)),)),
    "m2": Level(4, (FIND, DETAILS, MAKER), (FaultRule("L", (DETAILS,)), FaultRule("M", (FIND,), field="maker"))),
    "h1": Level(5, (FIND, DETAILS, MAKER),
                (FaultRule("T", (DETAILS,), times=2), FaultRule("L", (MAKER,)), FaultRule("G", trait="gap"))),
}  # fmt: skip


def _prompt(task: Scenario) -> str:
    entry = {"name": outsider(task), "maker": "Corvo", "weight": 250, "class": "light"}  # `colour` is in the reference
    return task_prompt(
        task,
        PromptParts(
            title="My family inventory",
            purpose="You put together an inventory from the catalogue of things.",
            goals=("Look up every thing of the table with the lookup tools.",),
            columns=("thing",),
            rows=[(task.titles[thing["id"]],) for thing in task.records],
            example={"things": [entry], "summary": {"total_things": 1}},
            hints={FIND: "find a thing", DETAILS: "one thing in full", MAKER: "things of a maker"},
            steps=("Find it in the catalogue.", "Class it: up to 500 light, 501 or more heavy."),
            reference="reference/my-family.md",
        ),
    )


REFERENCE = (HERE / "reference.md").read_text(encoding="utf-8")


def _route(task: Scenario) -> list[Call]:
    return calls_by_tool(task, (FIND, DETAILS, MAKER), skip={MAKER: "gap"})


FAMILY = FamilySpec(
    name="my-family",
    version="1",
    skill="my-family",
    population=POPULATION,
    traits={"gap": lambda _, thing: thing["maker"] == UNKNOWN},
    distinct=("maker",),
    tools={tool.name: tool for tool in TOOLS},
    levels=LEVELS,
    contract=CONTRACT,
    prompt=_prompt,
    files=lambda task: {"reference/my-family.md": REFERENCE, "plan.json": stale_plan(task, "things.json")},
    route=_route,
    critical=frozenset({("h1", 0)}),
    behaviour="behaviour.py",
    folder=HERE,
)
