"""The creatures family: look up creatures of an invented index, write entries on them (spec/suites.md 1.5, 3.12)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pytest_skillevo.families.compare import SENTINEL, members, near, parts, text, whole, yes_no
from pytest_skillevo.families.faults import FaultRule
from pytest_skillevo.families.projections import OFFSET, fact
from pytest_skillevo.families.scenario import Scenario, calls_by_tool
from pytest_skillevo.families.spec import Call, Contract, FamilySpec, FieldSpec, Level, SummaryField
from pytest_skillevo.families.texts import PromptParts, outsider, stale_plan, task_prompt
from pytest_skillevo.families.tools import NEEDS_PREREQUISITE, NO_DATA, NOT_FOUND, Answer, Ask, Aspect, ToolSpec, failed
from pytest_skillevo.families.world import Chance, Population, Record, Syllables, World, words

HERE = Path(__file__).parent

# --- the world ---------------------------------------------------------------------------------------------------

TYPES = words("ember, tide, moss, gale, stone, frost, spark, shade, lumen, venom, alloy")
STATS = ("hp", "attack", "defense", "special-attack", "special-defense", "speed")
GENERA = words("Lantern, Furrow, Tumble, Whisper, Anvil, Drift, Thistle, Mirror, Kettle, Comet")
#: How a creature learns its moves.
METHODS = ("level_up", "machine", "egg", "tutor")
PAGE = 50
#: The kinds of creatures, in turn. A `second` has the name of the `first` before it, and a higher id.
TURNS = ("plain", "plain", "plain", "versed", "plain", "plain", "plain", "lone", "plain", "plain", "first", "second")
#: The moves by machine of the versed ones and of the others.
MACHINES = {True: (54, 96), False: (6, 45)}


def _shape(chance: Chance, creatures: list[Record]) -> None:
    """Kinds in turn, chains of creatures whose numbers follow from nothing else, namesakes, who can what."""
    for place, number in enumerate(chance.at("chains").order(range(200, 900))[: len(creatures)]):
        creature = creatures[place]
        creature["chain"], creature["kind"] = number, TURNS[place % len(TURNS)]
        low, high = MACHINES[creature["kind"] == "versed"]
        creature["machine"] = chance.at("machine", place).whole(low, high)
        if creature["kind"] == "second":
            first = creatures[place - 1]
            creature["name"] = first["name"]
            first["id"], creature["id"] = sorted((first["id"], creature["id"]))


def _abilities(chance: Chance, _: Record) -> list[str]:
    """Names of one to three abilities that the creature may have."""
    return [f"{'-'.join(pair)}" for pair in _pairs(chance)[: chance.at("count").whole(1, 3)]]


def _pairs(chance: Chance) -> list[tuple[str, str]]:
    heads, tails = words("quick, deep, iron, soft, bright"), words("paw, hide, eye, song, root")
    return list(zip(chance.at("head").order(heads), chance.at("tail").order(tails), strict=True))


POPULATION = Population(
    size=120,
    syllables=Syllables(
        onsets=("b", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "t", "v", "z", "gr", "th", "w"),
        rhymes=("a", "e", "i", "o", "u", "ar", "im", "os", "ul", "en"),
    ),
    kinds=("Fin", "Tail", "Horn", "Wing", "Claw", "Shell"),
    attributes={
        "types": lambda chance, _: chance.several(TYPES, chance.at("count").whole(1, 2)),
        "stats": lambda chance, _: [chance.at(name).whole(20, 150) for name in STATS],
        "genus": lambda chance, _: f"{chance.pick(GENERA)} Creature",
        "generation": lambda chance, _: f"generation-{chance.pick(('i', 'ii', 'iii', 'iv', 'v'))}",
        "legendary": lambda chance, _: chance.whole(1, 4) == 1,
        "stages": lambda chance, _: chance.whole(1, 3),
        "siblings": lambda chance, _: chance.pick((0, 0, 1, 2)),
        "level_up": lambda chance, _: chance.whole(11, 24),
        "egg": lambda chance, _: chance.whole(0, 14),
        "tutor": lambda chance, _: chance.whole(0, 17),
        "abilities": _abilities,
    },
    shape=_shape,
    groups=("name", "chain", "abilities"),
    denied=words(
        """pikachu, charizard, garchomp, gengar, mewtwo, eevee, mew, muk, ditto, onix, abra, zubat, golem, pidgey,
        raichu, rape, anus, anal, tit, homo, nazi, puta, tumor, pedo, pus, haram, satan, nigg, slut, bitch, fag"""
    ),
)


def evolution(creature: Record) -> dict[str, Any]:
    """Its chain: the stages, all members, and whether one stage has several."""
    branching = creature["siblings"] > 0 and creature["stages"] > 1
    total = creature["stages"] + (creature["siblings"] if branching else 0)
    return {"stages": creature["stages"], "total": total, "branching": branching}


def moves(creature: Record) -> dict[str, int]:
    """The numbers of moves, in all and by method."""
    by_method = {method: int(creature[method]) for method in METHODS}
    return {"total": sum(by_method.values()), **by_method}


# --- the tools ---------------------------------------------------------------------------------------------------

DETAILS, SPECIES, EVOLUTION, MOVES, ABILITIES = (
    f"pokemon_get_{name}" for name in ("details", "species", "evolution", "moves", "abilities")
)
#: (payload, what its answers reveal about the creature)
Told = tuple[dict[str, Any], tuple[str, ...]]


def resolve(world: World, arguments: Mapping[str, Any]) -> Record | None:
    """A creature by id, as number or text, or the first one of a name."""
    wanted = str(arguments["pokemon_id"]).strip()
    return world.by_id.get(wanted) or next(iter(world.group("name", wanted)), None)


def _meant(world: World, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    creature = resolve(world, arguments)
    return arguments if creature is None else {**arguments, "pokemon_id": int(creature["id"])}


def _about_one(name: str, description: str, project: Callable[[Ask, Record], Told], *, paged: bool = False) -> ToolSpec:
    """A tool about one creature by its id."""

    def answer(ask: Ask) -> Answer:
        creature = resolve(ask.world, ask.arguments)
        if creature is None:
            return failed(NOT_FOUND, f"There is no creature {ask.arguments['pokemon_id']!r}.")
        payload, aspects = project(ask, creature)
        reveals = frozenset((creature["id"], aspect) for aspect in ("known", *aspects))
        return Answer({"success": True, **payload}, reveals, about=creature["id"])

    return ToolSpec(
        name=name,
        description=description,
        parameters={"pokemon_id": {"type": ["integer", "string"]}, **({"offset": OFFSET} if paged else {})},
        answer=answer,
        about=lambda creature: {"pokemon_id": int(creature["id"])},
        meant=_meant,
    )


def _padding(ask: Ask, name: str, standard: int, original: int) -> dict[str, Any]:
    """Rows that no entry wants."""
    count = {"lean": 0, "standard": standard, "original": original}[ask.profile]
    text = "A line of the field book, kept because nobody dared to throw it away. "
    return {name: [{"version": f"edition-{place}", "text": text} for place in range(count)]} if count else {}


def _identity(creature: Record) -> dict[str, Any]:
    return {"id": int(creature["id"]), "name": creature["name"]}


def _details(ask: Ask, creature: Record) -> Told:
    stats = dict(zip(STATS, creature["stats"], strict=True))
    pokemon = {
        **_identity(creature),
        "height": creature["stats"][0] % 30, "weight": creature["stats"][1] * 3,
        "types": [{"slot": slot, "type": {"name": name}} for slot, name in enumerate(creature["types"], 1)],
        "type_names": creature["types"],
        "abilities": [{"slot": slot, "ability": {"name": name}} for slot, name in enumerate(creature["abilities"], 1)],
        "ability_names": creature["abilities"],
        "stats": [{"base_stat": value, "effort": 0, "stat": {"name": name}} for name, value in stats.items()],
        "stats_summary": stats, "stat_total": sum(stats.values()), "evolution_chain_id": creature["chain"],
        **_padding(ask, "encounter_locations", 40, 420),
    }  # fmt: skip
    return {"pokemon": pokemon}, ("types", "stats")


def _species(ask: Ask, creature: Record) -> Told:
    species = {
        **_identity(creature),
        "genus": creature["genus"], "generation": creature["generation"], "is_legendary": creature["legendary"],
        "is_baby": False, "evolution_chain_id": creature["chain"],
        "varieties": [{"is_default": True, "ability_names": creature["abilities"]}],
        **_padding(ask, "flavor_texts", 30, 330),
    }  # fmt: skip
    return {"species": species}, ("species",)


def _moves(ask: Ask, creature: Record) -> Told:
    counts, offset = moves(creature), ask.arguments["offset"]
    machines = [{"name": f"machine-move-{place}"} for place in range(counts["machine"])][offset:][:PAGE]
    shown = {method: min(counts[method], 200 if ask.profile == "original" else 5) for method in METHODS}
    payload = {
        "pokemon_name": creature["name"], "pokemon_id": int(creature["id"]), "evolution_chain_id": creature["chain"],
        "moves_summary": {
            "total_unique_moves": counts["total"],
            **{f"{method}_count": counts[method] for method in METHODS if method != "machine"},
            "machine_count": len(machines),
        },
        "total_machine_moves": counts["machine"], "returned_count": len(machines), "offset": offset,
        "machine_moves": machines,
        **{
            f"{method}_moves": [{"name": f"{method}-move-{place}"} for place in range(shown[method])]
            for method in METHODS
            if method != "machine"
        },
        **_padding(ask, "move_details", 50, 700),
    }  # fmt: skip
    return payload, ("moves",)


def _evolution(ask: Ask) -> Answer:
    found = ask.world.group("chain", str(ask.arguments["chain_id"]))
    if not found:
        return failed(NEEDS_PREREQUISITE, f"No chain has this number; take evolution_chain_id from {SPECIES} first.")
    creature = found[0]
    if creature["kind"] == "lone":
        return failed(NO_DATA, "This chain has never been recorded. This is final.")
    told = evolution(creature)
    chain = {
        "id": creature["chain"], "stages_count": told["stages"], "total_pokemon": told["total"],
        "has_branching": told["branching"],
        "chain": {"stages": [{"stage": stage + 1} for stage in range(told["stages"])]},
        **_padding(ask, "triggers", 10, 60),
    }  # fmt: skip
    payload = {"success": True, "evolution_chain": chain}
    return Answer(payload, frozenset({(creature["id"], "evolution")}), about=creature["id"])


def _carriers(world: World, name: str) -> int:
    return len(world.group("abilities", name))


def _ability_list(ask: Ask) -> Answer:
    names = dict.fromkeys(name.strip().casefold() for name in ask.arguments["ability_names"])
    known = [name for name in names if _carriers(ask.world, name)]
    if not known:
        return failed(NOT_FOUND, "There is no ability of these names.")
    rows = [
        {"name": name, "pokemon_count": _carriers(ask.world, name), **_padding(ask, "effects", 8, 90)} for name in known
    ]
    payload = {"success": True, "abilities": rows, "total_abilities_fetched": len(rows)}
    return Answer(payload, frozenset(_ability_aspect(name) for name in known))


def _ability_aspect(name: str) -> Aspect:
    return (f"ability:{name}", "list")


TOOLS = (
    _about_one(DETAILS, "Types, stats and abilities of a creature.", _details),
    _about_one(SPECIES, "Genus, generation and chain number of a creature.", _species),
    ToolSpec(
        name=EVOLUTION, description="An evolution chain by its number.", parameters={"chain_id": {"type": "integer"}},
        answer=_evolution, about=lambda creature: {"chain_id": creature["chain"]},
    ),
    _about_one(MOVES, "The moves of a creature, those by machine in pages.", _moves, paged=True),
    ToolSpec(
        name=ABILITIES, description="Who has these abilities, and what they do.",
        parameters={"ability_names": {"type": "array", "items": {"type": "string"}}}, answer=_ability_list,
        about=lambda creature: {"ability_names": creature["abilities"]},
    ),
)  # fmt: skip

# --- the contract ------------------------------------------------------------------------------------------------


def _stats(_: Scenario, creature: Record) -> dict[str, int]:
    return dict(zip(STATS, creature["stats"], strict=True))


def _cut(_: Scenario, creature: Record, value: Any) -> tuple[int, int] | None:
    total = creature["machine"]
    return (PAGE, total) if total > PAGE and isinstance(value, dict) and value.get("machine") == PAGE else None


def _having(task: Scenario, creature: Record) -> dict[str, Any]:
    names = creature["abilities"]
    return {"names": names, "carriers": sum(_carriers(task.world, name) for name in names)}


def _average(task: Scenario) -> float:
    """Not rounded: within 0.05 of it is any way of rounding to tenths."""
    return sum(sum(creature["stats"]) for creature in task.records) / len(task.records)


CONTRACT = Contract(
    file="pokedex_entries.json",
    list_key="pokemon",
    id_key="id",
    entries="creatures",
    ident=lambda creature, _: int(creature["id"]),
    fields=(
        FieldSpec("name", "values", text, lambda _, creature: creature["name"], fact("known"),
                  "the name used by the task", shown=True),
        FieldSpec("types", "values", members, lambda _, creature: creature["types"], fact("types"),
                  "the names in the summary block type_names", tools=(DETAILS,)),
        FieldSpec("stats", "values", lambda given, truth: parts(**dict.fromkeys(truth, whole))(given, truth), _stats,
                  fact("stats"), "the figures of the summary block stats_summary", tools=(DETAILS,)),
        FieldSpec("stat_total", "values", whole, lambda _, creature: sum(creature["stats"]), fact("stats"),
                  "the sum of the stats of the right creature", tools=(DETAILS,)),
        FieldSpec("species", "values", parts(genus=text, generation=text, is_legendary=yes_no),
                  lambda _, creature: {"genus": creature["genus"], "generation": creature["generation"],
                                       "is_legendary": creature["legendary"]},
                  fact("species"), "genus and generation of the right creature", tools=(SPECIES,)),
        FieldSpec("evolution", "values", parts(stages=whole, total=whole, branching=yes_no),
                  lambda _, creature: SENTINEL if creature["kind"] == "lone" else evolution(creature),
                  fact("evolution"), "stages and members of the chain of the right creature", tools=(EVOLUTION,)),
        FieldSpec("moves", "values", parts(total=whole, **dict.fromkeys(METHODS, whole)),
                  lambda _, creature: moves(creature), fact("moves"),
                  "the figures of the summary block, those by machine over all pages", tools=(MOVES,), truncated=_cut),
        FieldSpec("abilities", "values", parts(names=members, carriers=whole), _having,
                  lambda creature: tuple(_ability_aspect(name) for name in creature["abilities"]),
                  "abilities of the right creature and who has them", tools=(ABILITIES,)),
    ),
    summary=(
        SummaryField("total_pokemon", whole, lambda task: len(task.records)),
        SummaryField("average_stat_total", near(0.05), _average, tools=(DETAILS,)),
        SummaryField("legendary_count", whole, lambda task: sum(creature["legendary"] for creature in task.records),
                     tools=(SPECIES,)),
    ),
)  # fmt: skip

# --- levels and texts --------------------------------------------------------------------------------------------

LEVELS = {
    "e1": Level(3, (DETAILS, MOVES, ABILITIES), ()),
    "e2": Level(3, (SPECIES, EVOLUTION, MOVES), (FaultRule("T", (SPECIES, MOVES)),)),
    "e3": Level(3, (SPECIES, EVOLUTION, ABILITIES), (FaultRule("B", trait="second"),)),
    "m1": Level(4, (DETAILS, SPECIES, EVOLUTION, MOVES),
                (FaultRule("T", (DETAILS, EVOLUTION)), FaultRule("P", trait="versed"))),
    "m2": Level(4, (SPECIES, EVOLUTION, MOVES, ABILITIES),
                (FaultRule("L", (EVOLUTION, MOVES)), FaultRule("M", (SPECIES,), field="species.evolution_chain_id"))),
    "h1": Level(5, (DETAILS, SPECIES, EVOLUTION, MOVES, ABILITIES),
                (FaultRule("T", (SPECIES,), times=2), FaultRule("L", (DETAILS, ABILITIES)),
                 FaultRule("P", trait="versed"), FaultRule("G", trait="lone"), FaultRule("B", trait="second"))),
}  # fmt: skip
HINTS = {
    DETAILS: "what it is",
    SPECIES: "what kind it is",
    EVOLUTION: "a chain by number",
    MOVES: "what it can do",
    ABILITIES: "what abilities mean",
}
#: The example's blocks; `evolution` and `moves` are only in the reference.
EXAMPLE: Mapping[str, dict[str, Any]] = {
    DETAILS: {"types": ["ember"], "stats": dict.fromkeys(STATS, 50), "stat_total": 300},
    SPECIES: {"species": {"genus": "Example Creature", "generation": "generation-i", "is_legendary": False}},
    ABILITIES: {"abilities": {"names": ["example-ability"], "carriers": 3}},
}


def _prompt(task: Scenario) -> str:
    other = task.world.by_name[outsider(task).casefold()]
    entry = _identity(other)
    for tool in task.rung.tools:
        entry |= EXAMPLE.get(tool, {})
    totals = {"total_pokemon": 1, "average_stat_total": 300.0, "legendary_count": 0}
    wanted = [one.name for one in task.spec.summary(task.level)]
    return task_prompt(
        task,
        PromptParts(
            title="Creature index",
            purpose="You put together entries on some creatures from a field index.",
            goals=(
                "Look up every creature of the table with the lookup tools.",
                "Report counts and names only, no lists of moves.",
                f"Sum up: {', '.join(wanted)}.",
            ),
            columns=("creature", "id"),
            rows=[(task.titles[creature["id"]], creature["id"]) for creature in task.records],
            example={"pokemon": [entry], "summary": {name: totals[name] for name in wanted}},
            hints=HINTS,
            steps=("Ask the lookup tools for it.", "A chain is asked by its own number, abilities by their names."),
            reference="reference/creatures.md",
        ),
    )


REFERENCE = (HERE / "reference.md").read_text(encoding="utf-8")


def _route(task: Scenario) -> list[Call]:
    """Every tool for every creature; one page tells the number of moves."""
    return calls_by_tool(task, (DETAILS, SPECIES, MOVES, EVOLUTION, ABILITIES), skip={EVOLUTION: "lone"})


def _kind(name: str) -> Callable[[World, Record], bool]:
    return lambda _, creature: bool(creature["kind"] == name)


FAMILY = FamilySpec(
    name="creatures",
    version="2",
    skill="creature-index",
    population=POPULATION,
    traits={name: _kind(name) for name in ("versed", "lone", "first", "second")},
    distinct=(),
    tools={tool.name: tool for tool in TOOLS},
    levels=LEVELS,
    contract=CONTRACT,
    official="pokeapi-pokedex",
    prompt=_prompt,
    files=lambda task: {"reference/creatures.md": REFERENCE, "plan.json": stale_plan(task, "pokedex.json")},
    route=_route,
    critical=frozenset({("m2", 1), ("h1", 0), ("h1", 2)}),
    behaviour="behaviour.py",
    folder=HERE,
)
