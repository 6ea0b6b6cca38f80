"""What only the store knows of an experiment: how versions differ from their parents, and the conversations.

A report holds neither, because they are long and because the texts of holdout cases are closed (design: holdout
integrity). The text of holdout cases is read only when the person asked for it and the opening was recorded.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from ..core.records import Outcome
from ..stages.packing import unpacked
from . import figures
from .lineage import read_lineage

if TYPE_CHECKING:
    from ..store import Store

Json = Mapping[str, Any]

#: Characters of all conversations together, of one run, and of one message; what is cut is told.
MOST: Final = 3_000_000
_MOST_OF_RUN: Final = 60_000
_MOST_OF_MESSAGE: Final = 6_000


@dataclass(frozen=True, slots=True)
class Said:
    """One message of a conversation: who spoke, and the text."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """One run of a case: what it was worth, what was said about it, and how it went."""

    score: float | None
    feedback: str
    messages: tuple[Said, ...]
    #: What is missing, as a sentence; empty when nothing is.
    cut: str = ""

    @property
    def size(self) -> int:
        """Characters of all its texts."""
        return len(self.feedback) + sum(len(said.text) for said in self.messages)


@dataclass(frozen=True, slots=True)
class CasePair:
    """The same repeat of one case with both versions."""

    repeat: int
    before: Conversation
    after: Conversation


@dataclass(frozen=True, slots=True)
class Details:
    """What the store adds to a report."""

    #: Digest of a version -> its difference to its parent.
    diffs: Mapping[str, str] = field(default_factory=dict)
    #: Case -> the pair of runs that differ most.
    pairs: Mapping[str, CasePair] = field(default_factory=dict)
    #: Whether conversations of holdout cases may be shown.
    holdout: bool = False
    #: What is missing, as a sentence; empty when nothing is.
    cut: str = ""


def read_details(store: Store, report: Json, *, holdout: bool = False) -> Details:
    """Everything the store knows about the experiment of the report. The caller records an opening of the holdout."""
    experiment = report["experiment"]["id"]
    lineage = read_lineage(store, experiment)
    diffs = {one.entry.digest: one.diff for one in lineage.candidates}
    wanted = [row["case"] for row in _rows(report) if holdout or row["split"] != "holdout"]
    pairs: dict[str, CasePair] = {}
    used = left = 0
    for case, pair in _pairs(store, experiment, wanted):
        size = pair.before.size + pair.after.size
        if used + size > MOST:
            left += 1
            continue
        pairs[case] = pair
        used += size
    many = figures.some(left, "more case")
    cut = f"the conversations of {many} are left out: this page would grow too large" if left else ""
    return Details(diffs, pairs, holdout, cut)


def _rows(report: Json) -> Sequence[Json]:
    return () if report["confirmation"] is None else report["confirmation"]["cases"]


def _pairs(store: Store, experiment: str, wanted: Sequence[str]) -> Iterator[tuple[str, CasePair]]:
    """The pairs of the wanted cases in their order, read one after the other."""
    runs: dict[str, dict[int, dict[str, Json]]] = {}
    for entry in store.entries(experiment):
        if entry.kind == "rollout" and entry.key.startswith("confirm/"):
            # The key of a request: confirm/holdout0039/after/r1.
            _, _, arm, number = entry.key.split("/")
            runs.setdefault(entry.payload.get("case", ""), {}).setdefault(int(number[1:]), {})[arm] = entry.payload
    for case in wanted:
        complete = {number: arms for number, arms in runs.get(case, {}).items() if len(arms) == 2}
        if complete:
            repeat = max(complete, key=lambda number: (_distance(complete[number]), -number))
            arms = complete[repeat]
            yield case, CasePair(repeat, _conversation(store, arms["before"]), _conversation(store, arms["after"]))


def _distance(arms: Mapping[str, Json]) -> float:
    before, after = (unpacked(arms[arm]["outcome"]).evaluation for arm in ("before", "after"))
    return -1.0 if before is None or after is None else abs(after.score - before.score)


def _conversation(store: Store, payload: Json) -> Conversation:
    outcome = unpacked(payload["outcome"])
    trace = store.trace(payload["trace"]) if "trace" in payload else None
    return conversation(outcome, trace)


def conversation(outcome: Outcome, trace: Any) -> Conversation:
    """One run for reading: its messages, else what the test recorded, in bounded size."""
    cuts = []
    if isinstance(trace, dict) and set(trace) == {"cut", "trace"}:
        cuts.append(f"the stored trace was {trace['cut']}")
        trace = trace["trace"]
    messages: list[Said] = []
    room = _MOST_OF_RUN
    said = list(_said(trace))
    for one in said:
        text = _clipped(one.text, min(_MOST_OF_MESSAGE, room))
        room -= len(text)
        messages.append(Said(one.role, text))
        if room <= 0:
            cuts.append(f"{len(said) - len(messages)} later messages are left out")
            break
    evaluation = outcome.evaluation
    feedback = outcome.reason if evaluation is None else evaluation.feedback
    score = None if evaluation is None else evaluation.score
    return Conversation(score, _clipped(feedback, _MOST_OF_MESSAGE), tuple(messages), "; ".join(cuts))


def _clipped(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return f"{text[:most]}\n[... {len(text) - most:,} more characters]"


def _said(trace: Any) -> Iterator[Said]:
    """The messages of all agent sessions; of other traces their text."""
    sessions = trace.get("sessions") if isinstance(trace, dict) else None
    if not isinstance(sessions, list):
        if trace is not None:
            yield Said("recorded", trace if isinstance(trace, str) else _json(trace))
        return
    for number, session in enumerate(sessions):
        if len(sessions) > 1:
            yield Said("session", f"{number + 1} of {len(sessions)}")
        messages = session.get("messages") if isinstance(session, dict) else None
        for message in messages if isinstance(messages, list) else []:
            yield from _message(message)


def _message(message: Any) -> Iterator[Said]:
    if not isinstance(message, dict):
        yield Said("recorded", _json(message))
        return
    role, content = str(message.get("role", "unknown")), message.get("content")
    name = message.get("name")
    label = f"{role} {name}" if isinstance(name, str) else role
    if content not in (None, "", []):
        yield Said(label, content if isinstance(content, str) else _json(content))
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else []:
        function = call.get("function") if isinstance(call, dict) else None
        known = function if isinstance(function, dict) else call
        if isinstance(known, dict):
            yield Said(f"{role} calls {known.get('name', 'a tool')}", _arguments(known.get("arguments")))


def _arguments(value: Any) -> str:
    return value if isinstance(value, str) else _json(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)
