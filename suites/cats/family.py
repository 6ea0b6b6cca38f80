"""The cats family: look up breeds of an invented registry, write an encyclopedia of them (spec/suites.md 1.5, 3.12)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_skillevo.families.compare import SENTINEL, members, ordered, parts, text, whole
from pytest_skillevo.families.faults import FaultRule
from pytest_skillevo.families.projections import OFFSET, fact
from pytest_skillevo.families.scenario import Scenario, calls_by_tool
from pytest_skillevo.families.spec import Call, Contract, FamilySpec, FieldSpec, Level, SummaryField
from pytest_skillevo.families.texts import PromptParts, outsider, stale_plan, task_prompt
from pytest_skillevo.families.tools import NO_DATA, NOT_FOUND, Answer, Ask, ToolSpec, failed
from pytest_skillevo.families.world import Chance, Population, Record, Syllables, World, words

HERE = Path(__file__).parent

# --- the world ---------------------------------------------------------------------------------------------------

#: How many breeds a country has. The largest country alone does not fit into one page of relatives.
SIZES = (18, 9, 8, 7, 6, 5, 4, 3)
COUNTRIES = words("Velria, Ombra, Tasqa, Kellmark, Sarun, Norvia, Pelago, Brumland, Quennia, Dravos, Ishalor")
PAGE = 12
#: The kinds of breeds, in turn. The name of each that is `contained` stands inside that of the next, an `older` one.
TURNS = (
    "plain",
    "plain",
    "contained",
    "older",
    "wide",
    "plain",
    "plain",
    "plain",
    "contained",
    "older",
    "wide",
    "bare",
)


def _shape(chance: Chance, breeds: list[Record]) -> None:
    """Countries of these sizes, kinds in turn, and how many facts the registry holds in all."""
    wide, *others = chance.at("countries").order(COUNTRIES)[: len(SIZES)]
    for place, breed in enumerate(breeds):
        breed["kind"] = TURNS[place % len(TURNS)]
    rank = {kind: place for place, kind in enumerate(("wide", "older"))}
    large = sorted(range(len(breeds)), key=lambda place: rank.get(breeds[place]["kind"], len(rank)))[: SIZES[0]]
    slots = [home for home, size in zip(others, SIZES[1:], strict=True) for _ in range(size)]
    homes = iter(chance.at("homes").order(slots))
    for place, breed in enumerate(breeds):
        breed["country"] = wide if place in large else next(homes)
        if breed["kind"] == "older":
            breed["name"] = f"Royal {breeds[place - 1]['name']}"
            breed["id"], breeds[place - 1]["id"] = sorted((breed["id"], breeds[place - 1]["id"]))
    tagged = sum(breed["tagged"] for breed in breeds)
    total = tagged + chance.at("facts").whole(40, 75)
    for breed in breeds:
        breed["facts"] = total // 7 * 7 + 8  # one more than a multiple of seven: see _told


POPULATION = Population(
    size=60,
    syllables=Syllables(
        onsets=("b", "c", "d", "f", "l", "m", "n", "p", "r", "s", "t", "z", "sh", "tr", "k"),
        rhymes=("a", "e", "i", "o", "u", "an", "el", "ir", "on", "un"),
    ),
    kinds=("Shorthair", "Longhair", "Rex", "Bobtail", "Curl", "Point"),
    attributes={
        "coat": lambda chance, _: chance.pick(words("Short, Semi-long, Long, Rexed, Hairless, Plush")),
        "pattern": lambda chance, _: chance.pick(words("Solid, Tabby, Ticked, Spotted, Colorpoint, Tortoiseshell")),
        "origin": lambda chance, _: chance.pick(words("Natural, Crossbred, Mutation, Hybrid")),
        "tagged": lambda chance, _: chance.pick((0, 0, 1, 1, 2, 3)),
        "sections": lambda chance, _: [
            chance.at(place).whole(60, 320) for place in range(chance.at("count").whole(4, 8))
        ],
        "weight": lambda chance, _: chance.whole(25, 90),
    },
    shape=_shape,
    groups=("country", "coat", "pattern"),
    denied=words(
        """persian, siamese, maine, ragdoll, bengal, sphynx, birman, burmese, korat, manx, somali, balinese,
        rape, anus, anal, tit, homo, nazi, puta, tumor, pedo, pus, haram, satan, nigg, slut, bitch, cunt, coon, pube,
        nip, fap, turd, dick, cum"""
    ),
)


def relatives(world: World, breed: Record) -> tuple[Record, ...]:
    """The other breeds of its country, as the registry lists them."""
    return tuple(other for other in world.group("country", breed["country"]) if other["id"] != breed["id"])


# --- the tools ---------------------------------------------------------------------------------------------------

PROFILE, RELATIVES, COAT, FACTS, ENCYCLOPEDIA = (
    f"catfacts_breed_{name}" for name in ("profile", "relatives", "coat_family", "facts", "encyclopedia")
)
#: (payload, what its answers reveal about the breed)
Told = tuple[dict[str, Any], tuple[str, ...]]


def resolve(world: World, arguments: Mapping[str, Any]) -> Record | None:
    """The first breed whose name contains the text or, if asked so, is the text."""
    wanted = str(arguments["breed_name"]).strip().casefold()
    for breed in world.records if wanted else ():
        name = breed["name"].casefold()
        if name == wanted or (wanted in name and not arguments.get("exact")):
            return breed
    return None


def _meant(world: World, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    breed = resolve(world, arguments)
    return arguments if breed is None else {**arguments, "breed_name": breed["name"], "exact": True}


def _about_one(
    name: str, description: str, project: Callable[[Ask, Record], Told | Answer], *, paged: bool = False
) -> ToolSpec:
    """A tool about one breed by its name."""

    def answer(ask: Ask) -> Answer:
        breed = resolve(ask.world, ask.arguments)
        if breed is None:
            return failed(NOT_FOUND, f"There is no breed {ask.arguments['breed_name']!r}.")
        told = project(ask, breed)
        if isinstance(told, Answer):
            return told
        payload, aspects = told
        source = {"api_version": "1", "queries_made": 1, "total_breeds_fetched": len(ask.world.records)}
        return Answer(
            {"success": True, **payload, "api_info": source},
            frozenset((breed["id"], aspect) for aspect in aspects),
            about=breed["id"],
        )

    return ToolSpec(
        name=name,
        description=description,
        parameters={
            "breed_name": {"type": "string"},
            "exact": {"type": "boolean", "default": False},
            **({"offset": OFFSET} if paged else {}),
        },
        answer=answer,
        about=lambda breed: {"breed_name": breed["name"], "exact": True},
        meant=_meant,
    )


#: Characters of padding in a row of the largest payload, by the block that holds the rows.
NOTES = {"all_breeds_reference": 490, "cross_comparison_matrix": 190, "other_coat_types_analysis": 790}
PADDING = "Kept indoors and out, fond of high shelves, warm windows and whoever opens the tins. "


def _block(ask: Ask, name: str) -> dict[str, Any]:
    """A large block that no entry wants: every breed of the registry with its build."""
    if ask.profile == "lean":
        return {}
    note = (PADDING * 11)[: NOTES[name]] if ask.profile == "original" else ""
    return {
        name: [
            {"breed": one["name"], "weight_kg": one["weight"] / 10, "life_span_years": 9 + one["weight"] % 9,
             "temperament": ("calm", "lively", "shy", "bold")[one["weight"] % 4], "note": note}
            for one in ask.world.records
        ]
    }  # fmt: skip


def _profile(ask: Ask, breed: Record) -> Told:
    known = {key: breed[key] for key in ("name", "country", "origin", "coat", "pattern")}
    alike = ask.world.group("pattern", breed["pattern"])
    payload = {
        "breed": known | {"characteristics": {"weight_kg": breed["weight"] / 10}},
        "related_breeds": {"same_pattern_count": len(alike)},
        "database_statistics": {"total_breeds": len(ask.world.records)},
        **_block(ask, "all_breeds_reference"),
    }
    return payload, ("profile",)


def _relatives(ask: Ask, breed: Record) -> Told:
    found, offset = relatives(ask.world, breed), ask.arguments["offset"]
    rows = [{"name": one["name"], "weight_kg": one["weight"] / 10} for one in found[offset:][:PAGE]]
    payload = {
        "target_breed": breed["name"], "country": breed["country"], "total_relatives": len(found),
        "returned_count": len(rows), "offset": offset, "relatives": rows,
        "country_statistics": {"total_breeds_in_country": len(found) + 1},
        **_block(ask, "cross_comparison_matrix"),
    }  # fmt: skip
    return payload, ("relatives",)


def _coat_family(ask: Ask, breed: Record) -> Told:
    family = ask.world.group("coat", breed["coat"])
    payload = {
        "target_breed": breed["name"],
        "coat_type": breed["coat"],
        "coat_family": [{"name": one["name"]} for one in family[: 4 if ask.profile == "lean" else 6]],
        "coat_statistics": {"total_breeds_with_coat": len(family)},
        **_block(ask, "other_coat_types_analysis"),
    }
    return payload, ("coat",)


#: How many facts an answer shows and how long the text of each is.
SHOWN = {"lean": (5, 60), "standard": (90, 360), "original": (150, 900)}


def _told(world: World, place: int) -> Record | None:
    """The breed with which the fact of this number is tagged. Tags lie seven apart, so that all lists hold some."""
    tags = [breed for breed in world.records for _ in range(breed["tagged"])]
    at = place * 7 % int(world.records[0]["facts"])
    return tags[at] if at < len(tags) else None


def _facts(ask: Ask, breed: Record) -> Told:
    count, length = SHOWN[ask.profile]
    rows = []
    for place in range(min(count, breed["facts"])):
        tag = _told(ask.world, place)
        sentence = f"Fact {place + 1} of the registry. {PADDING * 11}"[:length]
        rows.append({"fact": sentence, "length": length, "breed": tag["name"] if tag else None})
    payload = {
        "target_breed": breed["name"],
        "facts_collection": {"all_facts": rows},
        "facts_statistics": {"total_facts": breed["facts"], "average_length": length},
        "breed_context": {"breed_name": breed["name"], "related_to_breed": breed["tagged"]},
    }
    return payload, ("facts",)


def _encyclopedia(ask: Ask, breed: Record) -> Told | Answer:
    if breed["kind"] == "bare":
        return failed(NO_DATA, "Nobody has written about this breed. This is final.")
    heads = words("Overview, History, Build, Coat, Character, Care, Health, Sources")
    text_of = {"lean": 0, "standard": 240, "original": 720}[ask.profile]
    sections = [
        {"heading": head, "words": count, "text": (PADDING * 9)[:text_of]}
        for head, count in zip(heads, breed["sections"], strict=False)
    ]
    payload = {
        "breed": breed["name"],
        "encyclopedia_entry": {"title": breed["name"], "sections": sections},
        "metadata": {"word_count": sum(breed["sections"]), "section_count": len(sections)},
        **_block(ask, "all_breeds_reference"),
    }
    return payload, ("article",)


TOOLS = (
    _about_one(PROFILE, "What the registry knows of a breed.", _profile),
    _about_one(RELATIVES, "The other breeds of its country, by page.", _relatives, paged=True),
    _about_one(COAT, "The breeds with the same coat.", _coat_family),
    _about_one(FACTS, "Facts about cats, some of them tagged with a breed.", _facts),
    _about_one(ENCYCLOPEDIA, "The article on a breed, with all its sections.", _encyclopedia),
)

# --- the contract ------------------------------------------------------------------------------------------------


def _kin(task: Scenario, breed: Record) -> dict[str, Any]:
    names = sorted(one["name"] for one in relatives(task.world, breed))
    return {"count": len(names), "sample": names[:3]}


def _cut(task: Scenario, breed: Record, value: Any) -> tuple[int, int] | None:
    total = len(relatives(task.world, breed))
    return (PAGE, total) if total > PAGE and isinstance(value, dict) and value.get("count") == PAGE else None


def _article(_: Scenario, breed: Record) -> Any:
    if breed["kind"] == "bare":
        return SENTINEL
    return {"sections": len(breed["sections"]), "word_count": sum(breed["sections"])}


PROFILE_KEYS = ("country", "coat", "pattern", "origin")
CONTRACT = Contract(
    file="cat_encyclopedia.json",
    list_key="breeds",
    id_key="breed_name",
    entries="breeds",
    fields=(
        FieldSpec("profile", "values", parts(country=text, coat=text, pattern=text, origin=text),
                  lambda _, breed: {key: breed[key] for key in PROFILE_KEYS}, fact("profile"),
                  "country, coat, pattern and origin of the right breed", tools=(PROFILE,)),
        FieldSpec("country_relatives", "values", parts(count=whole, sample=ordered), _kin, fact("relatives"),
                  "count and a sorted list of three, over all relatives", tools=(RELATIVES,), truncated=_cut),
        FieldSpec("coat_family", "values", parts(coat=text, count=whole),
                  lambda task, breed: {"coat": breed["coat"], "count": len(task.world.group("coat", breed["coat"]))},
                  fact("coat"), "the figures of the summary block", tools=(COAT,)),
        FieldSpec("facts", "values", parts(count=whole, tagged=whole),
                  lambda _, breed: {"count": breed["facts"], "tagged": breed["tagged"]}, fact("facts"),
                  "the figures of the summary blocks", tools=(FACTS,)),
        FieldSpec("encyclopedia_entry", "values", parts(sections=whole, word_count=whole), _article, fact("article"),
                  "the figures of the summary block", tools=(ENCYCLOPEDIA,)),
    ),
    summary=(
        SummaryField("total_breeds", whole, lambda task: len(task.records)),
        SummaryField("countries_covered", members,
                     lambda task: sorted({breed["country"] for breed in task.records})),
    ),
)  # fmt: skip

# --- levels and texts --------------------------------------------------------------------------------------------

_STANDING = FaultRule("B", trait="contained")
LEVELS = {
    "e1": Level(3, (PROFILE, RELATIVES, COAT), (_STANDING,)),
    "e2": Level(3, (PROFILE, FACTS, ENCYCLOPEDIA), (FaultRule("T", (PROFILE, FACTS)), _STANDING)),
    "e3": Level(3, (RELATIVES, COAT, FACTS), (_STANDING,)),
    "m1": Level(4, (PROFILE, RELATIVES, COAT, FACTS),
                (FaultRule("T", (PROFILE, COAT)), FaultRule("P", trait="wide"), _STANDING)),
    "m2": Level(4, (RELATIVES, COAT, FACTS, ENCYCLOPEDIA),
                (FaultRule("L", (COAT, FACTS)), FaultRule("M", (ENCYCLOPEDIA,), field="metadata.word_count"),
                 _STANDING)),
    "h1": Level(5, (PROFILE, RELATIVES, COAT, FACTS, ENCYCLOPEDIA),
                (FaultRule("T", (FACTS,), times=2), FaultRule("L", (PROFILE, COAT)), FaultRule("P", trait="wide"),
                 FaultRule("G", trait="bare"), _STANDING)),
}  # fmt: skip
HINTS = {
    PROFILE: "what it is",
    RELATIVES: "breeds of its country",
    COAT: "breeds with its coat",
    FACTS: "facts on cats",
    ENCYCLOPEDIA: "its article",
}
#: The example's blocks; `coat_family` and `encyclopedia_entry` are only in the reference.
EXAMPLE: Mapping[str, tuple[str, dict[str, Any]]] = {
    PROFILE: ("profile", {"country": "Velria", "coat": "Plush", "pattern": "Solid", "origin": "Natural"}),
    RELATIVES: ("country_relatives", {"count": 2, "sample": ["Example Rex", "Sample Curl"]}),
    FACTS: ("facts", {"count": 20, "tagged": 4}),
}


def _prompt(task: Scenario) -> str:
    entry = {"breed_name": outsider(task)} | dict(EXAMPLE[tool] for tool in task.rung.tools if tool in EXAMPLE)
    return task_prompt(
        task,
        PromptParts(
            title="Cat encyclopedia",
            purpose="You put together an encyclopedia of some cat breeds from a registry.",
            goals=(
                "Look up every breed of the table with the lookup tools.",
                "Sum up what each tool tells of a breed: counts and samples, no long lists.",
                "Name the countries from which the breeds come.",
            ),
            columns=("breed",),
            rows=[(task.titles[breed["id"]],) for breed in task.records],
            example={"breeds": [entry], "summary": {"total_breeds": 1, "countries_covered": ["Velria"]}},
            hints=HINTS,
            steps=("Ask every lookup tool for the breed.", "Note its figures before you go on to the next one."),
            reference="reference/cats.md",
        ),
    )


REFERENCE = (HERE / "reference.md").read_text(encoding="utf-8")


def _route(task: Scenario) -> Sequence[Call]:
    """Every tool for every breed, relatives to the last page."""
    return calls_by_tool(
        task,
        (PROFILE, RELATIVES, COAT, FACTS, ENCYCLOPEDIA),
        skip={ENCYCLOPEDIA: "bare"},
        pages={RELATIVES: lambda world, breed: (len(relatives(world, breed)), PAGE)},
    )


def _kind(name: str) -> Callable[[World, Record], bool]:
    return lambda _, breed: bool(breed["kind"] == name)


FAMILY = FamilySpec(
    name="cats",
    version="1",
    skill="cat-encyclopedia",
    population=POPULATION,
    traits={name: _kind(name) for name in ("contained", "older", "wide", "bare")},
    distinct=(),
    tools={tool.name: tool for tool in TOOLS},
    levels=LEVELS,
    contract=CONTRACT,
    official="cat-facts-collector",
    prompt=_prompt,
    files=lambda task: {"reference/cats.md": REFERENCE, "plan.json": stale_plan(task, "collections.json")},
    route=_route,
    critical=frozenset({("m2", 1), ("h1", 0), ("h1", 2)}),
    behaviour="behaviour.py",
    folder=HERE,
)
