"""How the simulated model cooks: the agent of the recipe family, with its practices as switches.

It works from the prompt, the tool answers, the workspace files that it reads and the skill text that it loaded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pytest_skillevo.core.protocols import Reply
from pytest_skillevo.core.records import Message
from pytest_skillevo.models.simulated.caller import Caller, Fetch
from pytest_skillevo.models.simulated.library import (
    ALPHABETICAL,
    AMBIGUITY,
    FINISH,
    GAP,
    GENERIC,
    HONESTY,
    MERGE,
    ORDER,
    PAGING,
    REFERENCE,
    REUSE,
    SUMMARY,
    TASK_WINS,
    TITLES,
    VERIFY,
    WRITE_ONCE,
    as_asked,
    by_rule,
    include_field,
    own_count,
)
from pytest_skillevo.models.simulated.lookups import (
    find,
    follow,
    is_called,
    number_in,
    object_in,
    planned,
    resembles,
    text_in,
)
from pytest_skillevo.models.simulated.overrides import apply_overrides, read_overrides
from pytest_skillevo.models.simulated.practices import Practice
from pytest_skillevo.models.simulated.solver import (
    Answer,
    Call,
    Program,
    Situation,
    Switches,
    first_prompt,
    next_reply,
    tool_names,
)

ARTIFACT: Final = "recipe_cookbook.json"
PLAN: Final = "plan.json"
SENTINEL: Final = {"unavailable": True}

CATEGORY_DISHES: Final = include_field("category_dishes")
CUISINE_DISHES: Final = include_field("cuisine_dishes")
CUISINE: Final = as_asked("cuisine", "cuisine|cuisines|kitchen*|adjective*")
COUNT: Final = own_count("ingredient_count", "ingredient*")
DIFFICULTY: Final = by_rule("difficulty_rating", "difficult*|difficulty_rating|estimated_difficulty|rating|ratings")

PRACTICES: Final[tuple[Practice, ...]] = (CATEGORY_DISHES, CUISINE_DISHES, CUISINE, COUNT, DIFFICULTY, *GENERIC)

_TITLE = re.compile(r"^# Recipe cookbook: \d+ dishes x \d+ lookups$", re.MULTILINE)
_ROW = re.compile(r"^\|\s*\d+\s*\|\s*([^|]+?)\s*\|\s*([^|]+?)\s*\|\s*([^|]+?)\s*\|\s*$", re.MULTILINE)
_RULE = re.compile(r"up to (\d+) ingredients? Easy, (\d+) to (\d+) Medium, (\d+) or more Hard")
_REFERENCE = re.compile(r"`(reference/[\w.-]+)`")


@dataclass(slots=True)
class Dish:
    """What the agent knows of one dish. None means not found out."""

    title: str
    kitchen: str
    ingredient: str
    id: str | None = None
    name: str | None = None
    category: str | None = None
    area: str | None = None
    ingredients: int | None = None
    #: The count that meal_details prints, which may differ.
    printed_count: int | None = None
    minutes: int | None = None
    estimated_difficulty: str | None = None

    def learn(self, row: Mapping[str, Any]) -> None:
        """Take over what a row of an answer says; a null says nothing."""
        self.id = text_in(row, "id") or self.id
        self.name = text_in(row, "name") or self.name
        self.category = text_in(row, "category") or self.category
        self.area = text_in(row, "area") or self.area
        self.minutes = number_in(row, "total_time_minutes") or self.minutes
        self.printed_count = number_in(row, "ingredient_count") or self.printed_count
        ingredients = row.get("ingredients")
        if isinstance(ingredients, list):
            self.ingredients = len(ingredients)

    def study(self, details: Mapping[str, Any]) -> None:
        """Take over what an answer of meal_details says."""
        self.learn(object_in(details, "meal"))
        analysis = object_in(details, "analysis")
        self.minutes = number_in(analysis, "estimated_total_time_minutes") or self.minutes
        self.estimated_difficulty = text_in(analysis, "estimated_difficulty")


@dataclass(frozen=True, slots=True)
class Dishes:
    """A list of dishes as an answer gave it, or as far as the agent followed it."""

    names: tuple[str, ...]
    total: int
    gap: bool = False


def dishes_of(prompt: str) -> list[Dish]:
    """The table of the task."""
    return [Dish(*cells) for cells in _ROW.findall(prompt)]


class RecipeBehaviour:
    """The behaviour that the simulated model takes on for recipe cookbooks."""

    name = "recipe"

    def recognises(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]) -> bool:
        """A cookbook task with a workspace to write to."""
        return "write_file" in tool_names(tools) and _TITLE.search(first_prompt(messages)) is not None

    def reply(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], *, seed: int) -> Reply:
        """The next assistant turn."""
        return next_reply(lambda situation: Cook(situation).work(), messages, tools, seed)


BEHAVIOUR: Final = RecipeBehaviour()


class Cook:
    """One run of one cookbook task."""

    def __init__(self, situation: Situation) -> None:
        self._at = situation
        self._switches = Switches(PRACTICES, situation)
        self._caller = Caller(situation, self._switches, Call("list_files", {}))
        self._dishes = dishes_of(situation.prompt)
        self._lists: dict[tuple[str, str], Dishes] = {}

    def work(self) -> Program:
        """The whole run; returns the closing words."""
        yield from self._prepare()
        if self._lapses(ORDER) and "meal_details" in self._at.tools:
            yield from self._caller.fetch([Call("meal_details", {"meal_id": dish.title}) for dish in self._dishes])
        if "meal_search" in self._at.tools:
            yield from self._search()
        else:
            yield from self._find_by_ingredient()
        yield from self._details_and_areas()
        if not self._lapses(MERGE):
            yield from self._merge()
        yield from self._categories()
        return (yield from self._deliver())

    def _lapses(self, practice: Practice) -> str:
        return self._switches.lapse(practice)

    # -- looking up ------------------------------------------------------------------------------------------------

    def _prepare(self) -> Fetch:
        """Read the reference, or trust the plan that lies in the workspace."""
        reference = _REFERENCE.search(self._at.prompt)
        if reference and not self._lapses(REFERENCE):
            (answer,) = yield from self._caller.fetch([Call("read_file", {"path": reference[1]})])
            self._switches.documented = answer.ok
        if self._lapses(TASK_WINS):
            (answer,) = yield from self._caller.fetch([Call("read_file", {"path": PLAN})])
            strangers = planned(answer, "dishes", {dish.title for dish in self._dishes})
            self._dishes += [Dish(title, "not given", self._dishes[0].ingredient) for title in strangers[:1]]
        return []

    def _search(self) -> Fetch:
        """Search every title, with fewer words where nothing is found."""
        terms = {dish.title: dish for dish in self._dishes}
        for _ in range(2):
            answers = yield from self._caller.fetch([Call("meal_search", {"name": term}) for term in terms])
            missed = {}
            for (term, dish), answer in zip(terms.items(), answers, strict=True):
                if answer.ok:
                    yield from self._take_row(dish, Call("meal_search", {"name": term}), answer)
                elif answer.code == "NOT_FOUND" and " " in term:
                    missed[term.partition(" ")[2]] = dish
            if not missed:
                break
            terms = missed
        return []

    def _find_by_ingredient(self) -> Fetch:
        """Find ids through the lists of the key ingredients, where there is no search."""
        calls = {dish.ingredient: Call("meal_by_ingredient", {"ingredient": dish.ingredient}) for dish in self._dishes}
        answers = yield from self._caller.fetch(list(calls.values()))
        found = dict(zip(calls, answers, strict=True))
        for dish in self._dishes:
            if found[dish.ingredient].ok:
                yield from self._take_row(dish, calls[dish.ingredient], found[dish.ingredient])
        return []

    def _take_row(self, dish: Dish, call: Call, answer: Answer) -> Fetch:
        """Take the row of the dish: the one with its name, or in a lapse the first that begins alike."""
        same = resembles if self._lapses(AMBIGUITY) else is_called
        row = yield from find(self._caller, call, answer, "meals", lambda row: same(dish.title, row["name"]))
        dish.learn(row or {})
        return []

    def _details_and_areas(self) -> Fetch:
        """The details of every dish and the list of every area, in one turn where both can be asked for."""
        known = [dish for dish in self._dishes if dish.id and "meal_details" in self._at.tools]
        details = [Call("meal_details", {"meal_id": str(dish.id)}) for dish in known]
        areas = self._list_calls("meal_by_area", [dish.area for dish in self._dishes])
        answers = yield from self._caller.fetch([*details, *areas.values()])
        for dish, answer in zip(known, answers, strict=False):
            if answer.ok:
                dish.study(answer.data)
        yield from self._read_lists(areas, answers[len(details) :])
        return []

    def _categories(self) -> Fetch:
        calls = self._list_calls("meal_by_category", [dish.category for dish in self._dishes])
        answers = yield from self._caller.fetch(list(calls.values()))
        yield from self._read_lists(calls, answers)
        return []

    def _list_calls(self, tool: str, values: Iterable[str | None]) -> dict[str, Call]:
        """One call for each value that occurs, if the task has the tool."""
        argument = tool.removeprefix("meal_by_")
        wanted = dict.fromkeys(value for value in values if value) if tool in self._at.tools else {}
        return {value: Call(tool, {argument: value}) for value in wanted}

    def _read_lists(self, calls: Mapping[str, Call], answers: Sequence[Answer]) -> Fetch:
        for (value, call), answer in zip(calls.items(), answers, strict=True):
            if answer.ok:
                yield from self._follow(value, call, answer)
            elif answer.code == "NO_DATA":
                self._lists[call.tool, value] = Dishes((), 0, gap=True)
        return []

    def _follow(self, value: str, call: Call, answer: Answer) -> Fetch:
        """Page to the end of a list, or in a lapse take the first page for the whole."""
        rows, total = yield from follow(self._caller, call, answer, "meals", to_the_total=not self._lapses(PAGING))
        self._lists[call.tool, value] = Dishes(tuple(row["name"] for row in rows), total)
        if not self._lapses(MERGE):
            by_id = {row["id"]: row for row in rows}
            for dish in self._dishes:
                if row := by_id.get(dish.id):
                    dish.learn(row)
        return []

    def _merge(self) -> Fetch:
        """Look for a category that is still missing in the list of the key ingredient."""
        open_ = [dish for dish in self._dishes if dish.id and not dish.category]
        if open_ and "meal_by_ingredient" in self._at.tools:
            calls = [Call("meal_by_ingredient", {"ingredient": dish.ingredient}) for dish in open_]
            answers = yield from self._caller.fetch(calls)
            for dish, call, answer in zip(open_, calls, answers, strict=True):
                yield from self._take_row(dish, call, answer)
        return []

    # -- writing ---------------------------------------------------------------------------------------------------

    def _deliver(self) -> Program:
        """Write the file and close the task."""
        ending = self._lapses(FINISH)
        document = self._document()
        if ending == "no file":
            return f"Here is the cookbook: {json.dumps(document, ensure_ascii=False)}"
        if self._lapses(REUSE) and self._caller.made:
            yield self._caller.made[:4]
        if self._lapses(WRITE_ONCE):
            for part in range(1, len(document["recipes"])):
                yield [_write({"recipes": document["recipes"][:part]})]
        yield [_write(document)]
        if not ending:
            yield [Call("claim_done", {"summary": f"{ARTIFACT} is written."})]
        return f"I have written {ARTIFACT}."

    def _document(self) -> dict[str, Any]:
        dishes = list(self._dishes)
        lapse = self._lapses(VERIFY)
        if lapse:
            dishes = dishes[:-1] if lapse == "missing" else [*dishes, dishes[0]]
        overrides = [override for text in self._at.texts for override in read_overrides(text)]
        entries = [
            apply_overrides(self._entry(dish), overrides, [name for name in (dish.title, dish.name) if name])
            for dish in dishes
        ]
        return {"recipes": entries, "summary": self._summary(entries, dishes)}

    def _entry(self, dish: Dish) -> dict[str, Any]:
        """One recipe; a value that stayed open is left out, or in a lapse invented."""
        count = dish.ingredients
        if self._lapses(COUNT) and dish.printed_count is not None:
            count = dish.printed_count
        entry: dict[str, Any] = {
            "name": dish.name if self._lapses(TITLES) and dish.name else dish.title,
            "difficulty_rating": self._difficulty(dish, count),
            "estimated_cooking_time_min": dish.minutes,
            "ingredient_count": count,
            "category": dish.category,
            "cuisine": self._cuisine(dish),
        }
        if "meal_by_category" in self._at.tools and not self._lapses(CATEGORY_DISHES):
            entry["category_dishes"] = self._dishes_value(self._lists.get(("meal_by_category", dish.category or "")))
        if "meal_by_area" in self._at.tools and not self._lapses(CUISINE_DISHES):
            entry["cuisine_dishes"] = self._dishes_value(self._lists.get(("meal_by_area", dish.area or "")))
        if self._lapses(HONESTY):
            entry = {key: _invented(key, self._at) if value is None else value for key, value in entry.items()}
        return {key: value for key, value in entry.items() if value is not None}

    def _difficulty(self, dish: Dish, count: int | None) -> str | None:
        if self._lapses(DIFFICULTY):
            return dish.estimated_difficulty or _by_time(dish.minutes)
        rule = _RULE.search(self._at.prompt)
        if count is None or rule is None:
            return None
        return "Easy" if count <= int(rule[1]) else "Medium" if count < int(rule[4]) else "Hard"

    def _cuisine(self, dish: Dish) -> Any:
        found = self._lists.get(("meal_by_area", dish.area or ""))
        if found is not None and found.gap:
            return self._gap_value(dish)
        return dish.area if self._lapses(CUISINE) else dish.kitchen

    def _gap_value(self, dish: Dish) -> Any:
        """What is written where the catalogue has nothing: the sentinel, a guess, or nothing after asking in vain."""
        lapse = self._lapses(GAP)
        if lapse == "guess":
            return next((other.kitchen for other in self._dishes if other is not dish), dish.kitchen)
        return None if lapse else dict(SENTINEL)

    def _dishes_value(self, found: Dishes | None) -> Any:
        if found is None:
            return None
        if found.gap:
            return {"guess": {"count": 1, "top3": []}, "retry": None, "": dict(SENTINEL)}[self._lapses(GAP)]
        names = found.names if self._lapses(ALPHABETICAL) else sorted(found.names)
        return {"count": found.total, "top3": list(names[:3])}

    def _summary(self, entries: Sequence[Mapping[str, Any]], dishes: Iterable[Dish]) -> dict[str, Any]:
        if self._lapses(SUMMARY):
            return {"total_recipes": len(entries), "cuisines_covered": [dish.area or dish.kitchen for dish in dishes]}
        cuisines = {entry["cuisine"] for entry in entries if isinstance(entry.get("cuisine"), str)}
        return {"total_recipes": len(entries), "cuisines_covered": sorted(cuisines)}


def _by_time(minutes: int | None) -> str | None:
    """A difficulty by feel: what takes long must be hard."""
    if minutes is None:
        return None
    return "Easy" if minutes <= 30 else "Medium" if minutes <= 60 else "Hard"


def _write(document: Mapping[str, Any]) -> Call:
    content = json.dumps(document, ensure_ascii=False, indent=1)
    return Call("write_file", {"path": ARTIFACT, "content": content})


def _invented(field: str, at: Situation) -> Any:
    """A plausible value out of thin air."""
    if field.endswith("_dishes"):
        return {"count": 5 + int(at.draw("invent", field) * 20), "top3": []}
    if field in ("ingredient_count", "estimated_cooking_time_min"):
        return 5 + int(at.draw("invent", field) * 40)
    return {"difficulty_rating": "Medium", "category": "Broths"}.get(field, "Izarite")
