"""What a strict score says in words: sentences in a fixed order, with entity names and counts, never an expected value.

On Validation and Holdout even the total behind a truncated list stays out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ..core.records import Split
from .process import Incident
from .scenario import Scenario, shown
from .strict import StrictScore
from .tools import TIMEOUT, Toolbox

#: How many fabricated values are named.
LISTED: Final = 8


def feedback_text(scenario: Scenario, score: StrictScore, box: Toolbox) -> str:
    """All sentences, one for each line; empty when nothing was wrong."""
    return "\n".join(sentences(scenario, score, box))


def sentences(scenario: Scenario, score: StrictScore, box: Toolbox) -> Iterator[str]:
    """In order: artifact, coverage, fields, values, derived, faults, paging, process, honesty, finish, cap."""
    contract = scenario.spec.contract
    if score.artifact.exists:
        yield from _artifact(score, contract.file, contract.list_key)
    if score.artifact.problem is None:
        yield from _coverage(scenario, score)
        yield from _missing(scenario, score)
        yield from _wrong(scenario, score)
        yield from _derived(scenario, score)
    for incident in score.process.incidents:
        yield f"faults: {_incident(incident)}"
    if score.artifact.problem is None:
        yield from _gaps(scenario, score)
        yield from _paging(score, scenario.split)
    yield from _process(score)
    yield from _fabricated(score)
    if not score.artifact.exists:
        yield f"finish: no {contract.file} was written."
    if not box.done:
        yield "finish: claim_done was never called."
    if score.capped is not None:
        yield f"cap: {score.capped[0]:g} because {score.capped[1]}."


def _artifact(score: StrictScore, file: str, list_key: str) -> Iterator[str]:
    if score.artifact.problem is not None:
        yield f"artifact: {file} {score.artifact.problem}."
    elif score.artifact.strangers:
        yield f"artifact: {score.artifact.strangers} members of {list_key!r} are no objects."


def _coverage(scenario: Scenario, score: StrictScore) -> Iterator[str]:
    coverage, entries = score.coverage, scenario.spec.contract.entries
    details = [
        f"{word}: {', '.join(names)}"
        for word, names in (
            ("missing", coverage.missing),
            ("extra", coverage.extra),
            ("under the source's name", _renamed(scenario, score)),
            ("duplicated", coverage.duplicated),
        )
        if names
    ]
    inexact = len(coverage.entries) - coverage.exact
    if inexact:
        numbers = all(isinstance(ident, int) for ident in scenario.idents.values())
        how = "under an id that is no number" if numbers else "spelled differently from the task"
        details.append(f"{how}: {inexact}")
    if details:
        share = f"{len(coverage.entries)} of {len(scenario.truth)} requested {entries}"
        yield f"coverage: {share} delivered; {'; '.join(details)}."


def _renamed(scenario: Scenario, score: StrictScore) -> list[str]:
    """The extra entries that are about a missing one, but go by the name or code that the source has for it."""
    owners = {name: scenario.owner(name) for name in score.coverage.extra}
    return [
        name
        for name, record in owners.items()
        if record is not None and scenario.titles.get(record["id"]) in score.coverage.missing
    ]


def _missing(scenario: Scenario, score: StrictScore) -> Iterator[str]:
    delivered = len(score.coverage.entries)
    details = []
    for one in scenario.fields:
        count = sum(1 for name, _ in score.claims.missing if name == one.name)
        if count:
            details.append(f"{one.name} ({count} of {delivered})")
    details += [f"{name} (in the summary)" for name in score.claims.summary_missing]
    if details:
        yield f"missing fields: {', '.join(details)}."


def _by_field(pairs: Sequence[tuple[str, str]], field: str) -> str:
    return ", ".join(title for name, title in pairs if name == field)


def _wrong(scenario: Scenario, score: StrictScore) -> Iterator[str]:
    details = [
        f"{one.name} of {names} ({one.expected} is expected)"
        for one in scenario.fields
        if one.part == "values" and (names := _by_field(_not_gaps(scenario, score), one.name))
    ]
    if details:
        yield f"wrong values: {'; '.join(details)}."


def _not_gaps(scenario: Scenario, score: StrictScore) -> list[tuple[str, str]]:
    """Wrong values without those at gaps, which have a sentence of their own."""
    gaps = set(scenario.gaps)
    return [pair for pair in score.claims.wrong if pair not in gaps]


def _derived(scenario: Scenario, score: StrictScore) -> Iterator[str]:
    details = [
        f"{one.name} wrong for {names}"
        for one in scenario.fields
        if one.part == "derived" and (names := _by_field(score.claims.wrong, one.name))
    ]
    details += [f"{name} wrong in the summary" for name in score.claims.summary_wrong]
    if details:
        yield f"derived: {'; '.join(details)}."


def _incident(incident: Incident) -> str:
    what = "timed out" if incident.code == TIMEOUT else f"answered {incident.code}"
    if incident.kind == "abandoned":
        return f"{incident.tool} {what} for {incident.entity} and was never requested again."
    if incident.kind == "blocked":
        return f"{incident.tool} keeps timing out for {incident.entity}; other lookups hold what it would have told."
    if incident.kind == "hurried":
        return f"{incident.tool} {what} for {incident.entity} and was repeated at once; other calls must come first."
    if incident.kind == "pestered":
        more = "1 more time" if incident.times == 1 else f"{incident.times} more times"
        return f"{incident.tool} {what} for {incident.entity} and was requested {more}; that answer is final."
    verb = "was" if len(incident.others) == 1 else "were"
    others = f"{shown(incident.others)} {verb} requested again"
    return f"after {incident.tool} {what} for {incident.entity}, {others}; only the failed item needs a repeat."


def _gaps(scenario: Scenario, score: StrictScore) -> Iterator[str]:
    bad = {*score.claims.wrong, *score.claims.missing}
    for title in dict.fromkeys(title for name, title in scenario.gaps if (name, title) in bad):
        yield f"faults: the gap in {title} was not reported with the documented sentinel."


def _paging(score: StrictScore, split: Split) -> Iterator[str]:
    for name, title, cap, total in score.claims.truncated:
        numbers = f" ({cap} of {total} returned)" if split == "feedback" else ""
        yield f"paging: {name} of {title} counts a truncated list{numbers}."


def _process(score: StrictScore) -> Iterator[str]:
    process = score.process
    if process.early:
        tools = ", ".join(process.early_tools)
        yield f"process: {_calls(process.early)} came before what {_they(process.early)} ({tools})."
    if process.redundant:
        yield f"redundant: {_calls(process.redundant)} repeated an answer that was already there."


def _calls(count: int) -> str:
    return "1 call" if count == 1 else f"{count} calls"


def _they(count: int) -> str:
    return "it needs" if count == 1 else "they need"


def _fabricated(score: StrictScore) -> Iterator[str]:
    pairs = score.claims.fabricated
    if pairs:
        count = "1 value is" if len(pairs) == 1 else f"{len(pairs)} values are"
        names = ", ".join(f"{name} of {title}" for name, title in pairs[:LISTED])
        names += f" and {len(pairs) - LISTED} more" if len(pairs) > LISTED else ""
        yield f"fabricated: {count} supported by no successful call: {names}."
