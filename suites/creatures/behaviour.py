"""How the simulated model writes on creatures: lookups, fields and practices (models/simulated/conduct.py)."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pytest_skillevo.models.simulated.conduct import Conduct, Fill, Item, Learn, Lookup, gap_or
from pytest_skillevo.models.simulated.library import (
    AMBIGUITY,
    MERGE,
    NUMERIC_IDS,
    SUMMARY,
    SUMMARY_BLOCK,
    include_field,
)
from pytest_skillevo.models.simulated.lookups import object_in
from pytest_skillevo.models.simulated.worker import LookupBehaviour, Worker

CHAIN: Final = include_field("evolution")
COUNTS: Final = include_field("moves")
DETAILS, SPECIES, EVOLUTION, MOVES, ABILITIES = (
    f"pokemon_get_{name}" for name in ("details", "species", "evolution", "moves", "abilities")
)
METHODS: Final = ("level_up", "machine", "egg", "tutor")

# --- looking up --------------------------------------------------------------------------------------------------


def _asked(creature: Item, worker: Worker) -> Mapping[str, Any]:
    """A name alone may be that of two creatures."""
    by_name = not creature.get("id") or worker.lapses(AMBIGUITY)
    return {"pokemon_id": creature.title if by_name else int(creature.get("id"))}


def _learn_details(creature: Item, answer: Mapping[str, Any]) -> None:
    pokemon = object_in(answer, "pokemon")
    creature.learn(pokemon, "types", "type_names", "stats", "stats_summary", "stat_total", "ability_names")
    creature.learn(pokemon, number="id", other_chain="evolution_chain_id")


def _learn_species(creature: Item, answer: Mapping[str, Any]) -> None:
    species = object_in(answer, "species")
    creature.known["species"] = {key: species[key] for key in ("genus", "generation", "is_legendary")}
    creature.learn(species, number="id", chain="evolution_chain_id")
    creature.learn(species["varieties"][0], "ability_names")


def _learn_moves(creature: Item, answer: Mapping[str, Any]) -> None:
    creature.known["moves"] = answer
    creature.learn(answer, number="pokemon_id", other_chain="evolution_chain_id")


def _learn_chain(creature: Item, answer: Mapping[str, Any]) -> None:
    chain = object_in(answer, "evolution_chain")
    names = {"stages": "stages_count", "total": "total_pokemon", "branching": "has_branching"}
    creature.known["evolution"] = {key: chain[theirs] for key, theirs in names.items()}


def _learn_abilities(creature: Item, answer: Mapping[str, Any]) -> None:
    creature.known["carriers"] = {row["name"]: row["pokemon_count"] for row in answer["abilities"]}


def _chain(creature: Item, worker: Worker) -> Mapping[str, Any] | None:
    """The chain's number, from another answer where the species leaves it open."""
    number = creature.get("chain") or (None if worker.lapses(MERGE) else creature.get("other_chain"))
    return None if number is None else {"chain_id": number}


def _own_number(creature: Item, _: Worker) -> Mapping[str, Any]:
    return {"chain_id": int(creature.get("id") or 0)}


def _skills(creature: Item, _: Worker) -> Mapping[str, Any] | None:
    names = creature.get("ability_names")
    return {"ability_names": names} if names else None


def _about(tool: str, learn: Learn) -> Lookup:
    return Lookup(tool=tool, ask=_asked, learn=learn)


# --- filling in --------------------------------------------------------------------------------------------------


def _types(creature: Item, worker: Worker) -> Any:
    return creature.get("types" if worker.lapses(SUMMARY_BLOCK) else "type_names")


def _stats(creature: Item, worker: Worker) -> Any:
    return creature.get("stats" if worker.lapses(SUMMARY_BLOCK) else "stats_summary")


def _counts(creature: Item, worker: Worker) -> Any:
    """The counts of the block, those by machine over all pages; in a lapse the rows that are shown."""
    answer = creature.get("moves")
    if answer is None:
        return None
    block, machine = object_in(answer, "moves_summary"), answer["total"]
    if worker.lapses(SUMMARY_BLOCK):
        counts = {method: len(answer[f"{method}_moves"]) for method in METHODS}
        return {"total": sum(counts.values()), **counts}
    counts = {method: machine if method == "machine" else block[f"{method}_count"] for method in METHODS}
    return {"total": block["total_unique_moves"], **counts}


def _abilities(creature: Item, _: Worker) -> Any:
    names, carriers = creature.get("ability_names"), creature.get("carriers")
    return None if not names or carriers is None else {"names": names, "carriers": sum(carriers[n] for n in names)}


def _summary(worker: Worker, entries: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    if worker.lapses(SUMMARY):
        return {**worker.order.summary, "total_pokemon": len(entries)}
    totals = [entry["stat_total"] for entry in entries if "stat_total" in entry]
    kinds = [entry["species"] for entry in entries if "species" in entry]
    return {
        "total_pokemon": len(entries),
        **({"average_stat_total": round(statistics.mean(totals), 1)} if totals else {}),
        **({"legendary_count": sum(kind["is_legendary"] is True for kind in kinds)} if kinds else {}),
    }


def _ident(creature: Item, worker: Worker) -> Any:
    number = creature.get("id") or creature.get("number")
    return str(number) if worker.lapses(NUMERIC_IDS) else int(number)


BEHAVIOUR: Final = LookupBehaviour(
    Conduct(
        name="creatures",
        title="Creature index",
        stages=(
            (
                _about(DETAILS, _learn_details),
                _about(SPECIES, _learn_species),
                Lookup(tool=MOVES, ask=_asked, learn=_learn_moves, rows="machine_moves", whole=True),
            ),
            (
                Lookup(tool=EVOLUTION, ask=_chain, learn=_learn_chain, early=_own_number),
                Lookup(tool=ABILITIES, ask=_skills, learn=_learn_abilities),
            ),
        ),
        fields=(
            Fill(name="name", value=lambda creature, _: creature.title, invented=str),
            Fill(name="types", value=_types, tools=(DETAILS,), invented=lambda _: ["moss"]),
            Fill(name="stats", value=_stats, tools=(DETAILS,),
                 invented=lambda at: {"hp": round(100 * at), "attack": 60, "defense": 60, "speed": 60}),
            Fill(name="stat_total", value=lambda creature, _: creature.get("stat_total"), tools=(DETAILS,),
                 invented=lambda at: round(300 + 200 * at)),
            Fill(name="species", value=lambda creature, _: creature.get("species"), tools=(SPECIES,),
                 invented=lambda _: {"genus": "Unknown", "generation": "generation-i", "is_legendary": False}),
            Fill(name="evolution", tools=(EVOLUTION,), include=CHAIN,
                 value=lambda creature, worker: gap_or(creature, worker, EVOLUTION, creature.get("evolution"),
                                                       {"stages": 1, "total": 1, "branching": False}),
                 invented=lambda _: {"stages": 2, "total": 2, "branching": False}),
            Fill(name="moves", value=_counts, tools=(MOVES,), include=COUNTS,
                 invented=lambda at: {"total": round(99 * at), **dict.fromkeys(METHODS, 9)}),
            Fill(name="abilities", value=_abilities, tools=(ABILITIES,),
                 invented=lambda at: {"names": [], "carriers": round(20 * at)}),
        ),
        summary=_summary,
        ident=_ident,
        practices=(CHAIN, COUNTS, SUMMARY_BLOCK, NUMERIC_IDS),
        stranger={"id": ""},
        terms=(
            ("item", "creature|pokemon"), ("items", "creatures"), ("artifact", "index|pokedex_entries.json"),
            ("summary", "average_stat_total|legendary_count|total_pokemon"), ("id", "chain number|evolution_chain_id"),
            ("details", "evolution|chain"), ("reference", "creatures.md"), ("ambiguous", "namesake*"),
        ),
    )
)  # fmt: skip
