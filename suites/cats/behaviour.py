"""How the simulated model writes on cats: lookups, fields and practices (models/simulated/conduct.py)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pytest_skillevo.models.simulated.conduct import Conduct, Fill, Item, Lookup, gap_or
from pytest_skillevo.models.simulated.library import (
    ALPHABETICAL,
    AMBIGUITY,
    MERGE,
    SUMMARY,
    SUMMARY_BLOCK,
    include_field,
)
from pytest_skillevo.models.simulated.lookups import object_in
from pytest_skillevo.models.simulated.worker import LookupBehaviour, Worker

COAT_FAMILY: Final = include_field("coat_family")
ARTICLE: Final = include_field("encyclopedia_entry")
PROFILE, RELATIVES, COAT, FACTS, ENCYCLOPEDIA = (
    f"catfacts_breed_{name}" for name in ("profile", "relatives", "coat_family", "facts", "encyclopedia")
)


def _asked(breed: Item, worker: Worker) -> Mapping[str, Any]:
    """The text alone may be part of another breed's name."""
    return {"breed_name": breed.title} | ({} if worker.lapses(AMBIGUITY) else {"exact": True})


def _about(tool: str, rows: str = "") -> Lookup:
    """An answer about one breed; with rows, all their pages."""

    def learn(breed: Item, answer: Mapping[str, Any]) -> None:
        breed.known[tool] = answer
        breed.learn(answer, "country", name="target_breed")
        breed.learn(object_in(answer, "breed"), "country", "name")

    return Lookup(tool=tool, ask=_asked, learn=learn, rows=rows, whole=bool(rows))


# --- filling in --------------------------------------------------------------------------------------------------


def _profile(breed: Item, _: Worker) -> Any:
    known = object_in(breed.get(PROFILE) or {}, "breed")
    return {key: known[key] for key in ("country", "coat", "pattern", "origin") if key in known} or None


def _relatives(breed: Item, worker: Worker) -> Any:
    answer = breed.get(RELATIVES)
    if answer is None:
        return None
    names = [str(row["name"]) for row in answer["relatives"]]
    return {"count": answer["total"], "sample": (names if worker.lapses(ALPHABETICAL) else sorted(names))[:3]}


def _coat(breed: Item, worker: Worker) -> Any:
    answer = breed.get(COAT)
    if answer is None:
        return None
    by_eye = worker.lapses(SUMMARY_BLOCK)
    count = len(answer["coat_family"]) if by_eye else answer["coat_statistics"]["total_breeds_with_coat"]
    return {"coat": answer["coat_type"], "count": count}


def _facts(breed: Item, worker: Worker) -> Any:
    answer = breed.get(FACTS)
    if answer is None:
        return None
    if not worker.lapses(SUMMARY_BLOCK):
        return {
            "count": answer["facts_statistics"]["total_facts"],
            "tagged": answer["breed_context"]["related_to_breed"],
        }
    rows = answer["facts_collection"]["all_facts"]
    return {"count": len(rows), "tagged": sum(row["breed"] == answer["target_breed"] for row in rows)}


def _article(breed: Item, worker: Worker) -> Any:
    """Sections and words; words are added up where the block leaves them open."""
    answer, found = breed.get(ENCYCLOPEDIA), None
    if answer is not None:
        rows, block = answer["encyclopedia_entry"]["sections"], object_in(answer, "metadata")
        by_eye, total = worker.lapses(SUMMARY_BLOCK), block.get("word_count")
        if by_eye:
            rows, total = rows[:3], None
        if by_eye or total is not None or not worker.lapses(MERGE):
            total = sum(row["words"] for row in rows) if total is None else total
            found = {"sections": len(rows), "word_count": total}
    return gap_or(breed, worker, ENCYCLOPEDIA, found, {"sections": 6, "word_count": 900})


def _summary(worker: Worker, entries: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    if worker.lapses(SUMMARY):
        return {**worker.order.summary, "total_breeds": len(entries)}
    countries = {country for breed in worker.items if (country := breed.get("country"))}
    return {"total_breeds": len(entries), "countries_covered": sorted(countries)}


BEHAVIOUR: Final = LookupBehaviour(
    Conduct(
        name="cats",
        title="Cat encyclopedia",
        stages=(
            (_about(PROFILE), _about(RELATIVES, "relatives"), _about(COAT), _about(FACTS), _about(ENCYCLOPEDIA)),
        ),
        fields=(
            Fill(name="profile", value=_profile, tools=(PROFILE,),
                 invented=lambda _: {"country": "Ombra", "coat": "Short", "pattern": "Tabby", "origin": "Natural"}),
            Fill(name="country_relatives", value=_relatives, tools=(RELATIVES,),
                 invented=lambda at: {"count": round(9 * at), "sample": []}),
            Fill(name="coat_family", value=_coat, tools=(COAT,), include=COAT_FAMILY,
                 invented=lambda at: {"coat": "Short", "count": round(20 * at)}),
            Fill(name="facts", value=_facts, tools=(FACTS,),
                 invented=lambda at: {"count": round(300 * at), "tagged": 1}),
            Fill(name="encyclopedia_entry", value=_article, tools=(ENCYCLOPEDIA,), include=ARTICLE,
                 invented=lambda at: {"sections": 5, "word_count": round(2000 * at)}),
        ),
        summary=_summary,
        practices=(COAT_FAMILY, ARTICLE, SUMMARY_BLOCK),
        terms=(
            ("item", "breed|cat"), ("items", "breeds|cats"), ("artifact", "encyclopedia|cat_encyclopedia.json"),
            ("summary", "countries_covered|total_breeds"), ("reference", "cats.md"), ("lists", "relatives"),
            ("ambiguous", "partial*"),
        ),
    )
)  # fmt: skip
