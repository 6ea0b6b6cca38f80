"""Two reports side by side: the versions they ended with, paired case by case where both ran the same cases.

It compares records. It decides nothing: the cases were opened by both experiments, and nothing was declared beforehand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ..core.verdict import Comparison, PairedCase, Rules, compare
from ..core.verdict.words import p_value
from . import figures, story
from .evidence import cases_by_loss
from .table import Row, table_lines
from .text import one_line, visible, wrap

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Compared:
    """What two reports say of each other."""

    a: Json
    b: Json
    #: The version that A ended with against the one that B ended with, over the cases of both; None: not comparable.
    versions: Comparison | None
    #: The seed skill in A against the seed skill in B, when it was the same: how much two runs differ by themselves.
    seeds: Comparison | None
    #: Why the cases cannot be paired; empty when they are.
    why_not: str
    #: What else differs, in sentences.
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain JSON: both sides in short, the comparisons, and the words."""
        return {
            "a": _side(self.a),
            "b": _side(self.b),
            "versions": None if self.versions is None else self.versions.to_json(),
            "seeds": None if self.seeds is None else self.seeds.to_json(),
            "why_not": self.why_not or None,
            "notes": list(self.notes),
        }


def _side(report: Json) -> dict[str, Any]:
    holdout = {} if report["confirmation"] is None else report["confirmation"]["holdout"]
    return {
        "experiment": report["experiment"]["id"],
        "skill": report["skill"]["name"],
        "before": report["skill"]["before"],
        "after": report["skill"]["after"],
        "verdict": report["decision"]["verdict"],
        "model": report["model"]["name"],
        "change": holdout.get("change"),
        "cases": holdout.get("cases"),
    }


def compare_reports(a: Json, b: Json) -> Compared:
    """Pair what can be paired, and say what cannot and why."""
    why_not = _why_not(a, b)
    if why_not:
        return Compared(a, b, None, None, why_not, tuple(_notes(a, b)))
    rules = Rules(alpha=a["experiment"]["alpha"], repeats=min(r["experiment"]["repeats"] for r in (a, b)))
    versions = compare(_pairs(a, b, "after"), rules)
    same_seed = a["skill"]["before"] == b["skill"]["before"]
    seeds = compare(_pairs(a, b, "before"), rules) if same_seed else None
    return Compared(a, b, versions, seeds, "", tuple(_notes(a, b)))


def _why_not(a: Json, b: Json) -> str:
    for name, report in (("A", a), ("B", b)):
        if report["confirmation"] is None:
            verdict = story.verdict_words(report["decision"]["verdict"])
            return f"{name} ended with {verdict} before any confirmation, so its holdout cases did not run"
    if a["skill"]["name"] != b["skill"]["name"]:
        return "they are about different skills"
    if a["dataset"]["fingerprint"] != b["dataset"]["fingerprint"]:
        return "their cases differ (dataset fingerprints), so a score of one says nothing about the other"
    if not _pairs(a, b, "after"):
        return "no holdout case has runs in both"
    return ""


def _pairs(a: Json, b: Json, arm: str) -> list[PairedCase]:
    """The holdout cases that ran in both, with as many runs as both have."""
    others = {row["case"]: row for row in cases_by_loss(b, "holdout")}
    pairs = []
    for row in cases_by_loss(a, "holdout"):
        other = others.get(row["case"])
        runs = 0 if other is None else min(len(row[f"{arm}_runs"]), len(other[f"{arm}_runs"]))
        if other is None or not runs:
            continue
        tokens = row[f"tokens_{arm}"], other[f"tokens_{arm}"]
        before, after = (None if each is None else round(each) for each in tokens)
        pairs.append(
            PairedCase(
                case_id=row["case"],
                critical=row["critical"],
                before=tuple(row[f"{arm}_runs"][:runs]),
                after=tuple(other[f"{arm}_runs"][:runs]),
                tokens_before=(before,) * runs,
                tokens_after=(after,) * runs,
            )
        )
    return pairs


_FACTS: Final = (
    ("agent models", lambda report: report["model"]["roles"]["agent"]),
    ("seeds", lambda report: str(report["experiment"]["seed"])),
    ("versions of the plugin", lambda report: report["experiment"]["versions"]["pytest_skillevo"]),
    ("runs per case", lambda report: str(report["experiment"]["repeats"])),
)


def _notes(a: Json, b: Json) -> Iterator[str]:
    if a["experiment"]["id"] == b["experiment"]["id"]:
        yield "A and B are the same experiment"
    elif a["skill"]["after"] == b["skill"]["after"]:
        yield "both ended with the same version: what differs below is noise"
    for what, fact in _FACTS:
        left, right = (one_line(fact(report) or figures.UNKNOWN, 40) for report in (a, b))
        if left != right:
            yield f"the {what} differ ({left}, {right}): the difference may be theirs"
    if story.is_simulated(a) or story.is_simulated(b):
        yield story.SIMULATED


def comparison_lines(compared: Compared, width: int) -> Iterator[str]:
    """The answer first, then both sides, then what to keep in mind."""
    versions = compared.versions
    if versions is None:
        yield from wrap(f"A and B cannot be compared case by case: {compared.why_not}.", width)
    else:
        yield from wrap(_answer(versions, compared.a["experiment"]["alpha"]), width)
    yield ""
    for name, report in (("A", compared.a), ("B", compared.b)):
        yield from wrap(_about(report), width, first=f"  {name}  ")
    if versions is not None:
        level = round(versions.interval_level * 100)
        yield ""
        yield from table_lines(Row("", "A", "B", "change", f"{level} % interval"), list(_rows(compared)), width)
    yield ""
    for note in compared.notes:
        yield from wrap(note, width, first="  - ")
    yield from wrap(
        "this compares records and decides nothing: for a decision run pytest --evolve", width, first="  - "
    )


def _answer(versions: Comparison, alpha: float) -> str:
    cases = figures.some(versions.cases, "holdout case")
    counts = f"better on {versions.better}, same on {versions.same}, worse on {versions.worse} of {cases}"
    change, p, p_worse = versions.change or 0.0, versions.p, versions.p_worse
    chance = p if change > 0 else p_worse
    if not change or chance is None or chance > alpha:
        verdict = "The records cannot tell B from A"
    else:
        verdict = "B did better than A" if change > 0 else "B did worse than A"
    told = f"; chance alone: {p_value(chance, alpha)}, limit {alpha:g}" if change and chance is not None else ""
    return f"{verdict}: {counts}{told}."


def _about(report: Json) -> str:
    experiment, skill = report["experiment"], report["skill"]
    verdict = story.verdict_words(report["decision"]["verdict"])
    change = f"{visible(skill['before'][:8])} -> {visible(skill['after'][:8])}"
    name = one_line(skill["name"], 40)
    return f"{one_line(experiment['id'], 24)}: {name} {change}, {verdict}, goal {visible(experiment['goal'])}"


def _rows(compared: Compared) -> Iterator[Row]:
    for label, part in (("version reached", compared.versions), ("same seed skill", compared.seeds)):
        if part is not None:
            means = figures.score(part.mean_before), figures.score(part.mean_after)
            bounds = "none" if part.interval is None else figures.interval(part.interval)
            yield Row(label, *means, figures.change(part.change), bounds)
    tokens = None if compared.versions is None else compared.versions.tokens
    if tokens is not None:
        bounds = "none" if tokens.interval is None else figures.interval(tokens.interval, "plain")
        means = figures.count(tokens.before_mean), figures.count(tokens.after_mean)
        yield Row("tokens per case", *means, figures.ratio(tokens.ratio), bounds)
