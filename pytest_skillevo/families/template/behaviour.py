"""How the simulated model works on my-family: lookups, fields and practices (models/simulated/conduct.py)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pytest_skillevo.models.simulated.conduct import Conduct, Fill, Item, Lookup, gap_or
from pytest_skillevo.models.simulated.library import ALPHABETICAL, by_rule, include_field
from pytest_skillevo.models.simulated.lookups import object_in
from pytest_skillevo.models.simulated.worker import LookupBehaviour, Worker

COLOUR: Final = include_field("colour")
CLASS: Final = by_rule("class", "class|classes|light|heavy", "weight*")


def _found(thing: Item, row: Mapping[str, Any]) -> None:
    thing.learn(row, "id", "name", "maker")


def _studied(thing: Item, answer: Mapping[str, Any]) -> None:
    thing.learn(object_in(answer, "thing"), "maker", "weight", "colour")


def _listed(thing: Item, answer: Mapping[str, Any]) -> None:
    thing.known["list"] = {"count": answer["total"], "names": [row["name"] for row in answer["things"]]}


def _known(argument: str, name: str) -> Any:
    """Ask with what is known of the thing, if it is."""
    return lambda thing, _: {argument: thing.known[name]} if name in thing.known else None


def _class(thing: Item, worker: Worker) -> str | None:
    weight = thing.get("weight")
    if weight is None:
        return None
    return "light" if weight <= (300 if worker.lapses(CLASS) else 500) else "heavy"


def _of_maker(thing: Item, worker: Worker) -> Any:
    found = thing.get("list")
    if found is not None:
        names = found["names"] if worker.lapses(ALPHABETICAL) else sorted(found["names"])
        found = {"count": found["count"], "top3": names[:3]}
    return gap_or(thing, worker, "thing_by_maker", found, {"count": 1, "top3": []})


def _maker(thing: Item, worker: Worker) -> Any:
    return gap_or(thing, worker, "thing_by_maker", thing.get("maker"), "Adlor")


def _summary(_: Worker, entries: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    return {"total_things": len(entries)}


BEHAVIOUR: Final = LookupBehaviour(
    Conduct(
        name="my-family",
        title="My family inventory",
        stages=(
            (Lookup(tool="thing_find", ask=lambda thing, _: {"name": thing.title}, learn=_found, rows="things"),),
            (Lookup(tool="thing_details", ask=_known("thing_id", "id"), learn=_studied,
                    early=lambda thing, _: {"thing_id": thing.title}),),
            (Lookup(tool="thing_by_maker", ask=_known("maker", "maker"), learn=_listed, rows="things", whole=True),),
        ),
        fields=(
            Fill(name="maker", value=_maker, invented=lambda _: "Adlor"),
            Fill(name="weight", value=lambda thing, _: thing.get("weight"), invented=lambda at: 100 + int(at * 800)),
            Fill(name="class", value=_class, invented=lambda _: "light"),
            Fill(name="colour", value=lambda thing, _: thing.get("colour"), invented=lambda _: "ivory", include=COLOUR),
            Fill(name="maker_things", value=_of_maker, invented=lambda at: {"count": 1 + int(at * 9), "top3": []},
                 tools=("thing_by_maker",)),
        ),
        summary=_summary,
        practices=(COLOUR, CLASS),
        terms=(("item", "thing"), ("items", "things"), ("artifact", "inventory|inventory.json"), ("id", "thing_id")),
    )
)  # fmt: skip
