"""Complaints: what the sentences of an evaluator's feedback ask for, and which practice answers them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from .library import (
    ALPHABETICAL,
    AMBIGUITY,
    COMMON_YEAR,
    DETOUR,
    FINISH,
    GAP,
    HONESTY,
    MERGE,
    NUMERIC_IDS,
    ORDER,
    PAGING,
    RATE_LIMIT,
    RETRY,
    REUSE,
    SUMMARY,
    SUMMARY_BLOCK,
    TASK_WINS,
    TITLES,
    UNITS,
    VERIFY,
    as_asked,
    by_rule,
    include_field,
    own_count,
)
from .practices import Practice

_FIELD_COUNT = re.compile(r"(\w+) \((?:(\d+) of (\d+)|in the summary)\)")
_VALUES = re.compile(r"(\w+) of ([^();]+?) \(([^)]*)\)")
_WRONG_FOR = re.compile(r"(\w+) wrong (?:for|in) ([^;.]+)")
_CUT_SHORT = re.compile(r"^paging: (\w+) of (.+?) counts a truncated", re.MULTILINE)
_PART = re.compile(r"\b(missing|extra|duplicated|under the source's name|spelled differently from the task): ([^;.]+)")


@dataclass(frozen=True, slots=True)
class Complaint:
    """One complaint: the remedy's name in the phrase bank, the practice that answers it, and what it names."""

    remedy: str
    practice: Practice
    field: str = ""
    entities: tuple[str, ...] = ()
    #: How many sentences complain of it: one, and one more if it explains why the score was capped.
    weight: int = 1

    @property
    def key(self) -> tuple[str, str]:
        """Equal for complaints that the same rule answers."""
        return self.remedy, self.field


def read_complaints(feedback: str) -> tuple[Complaint, ...]:
    """The complaints of one evaluation's feedback, in the order of its sentences; each at most once.

    A complaint that is only the consequence of another one in the same feedback is left out.
    """
    found: dict[tuple[str, str], Complaint] = {}
    cut_short = {name for _, name in _CUT_SHORT.findall(feedback)}
    for line in feedback.splitlines():
        kind, _, rest = line.partition(": ")
        for complaint in _read(kind, rest.strip()):
            found.setdefault(complaint.key, complaint)
    remedies = {remedy for remedy, _ in found}
    left_out = {consequence for cause, consequence in _CONSEQUENCES if cause in remedies}
    capping = {remedy for phrase, names in _CAPPING.items() if phrase in feedback for remedy in names}
    return tuple(
        replace(complaint, weight=2) if complaint.remedy in capping else complaint
        for complaint in found.values()
        if complaint.remedy not in left_out
        and not (complaint.remedy in ("alphabetical", "block") and set(complaint.entities) <= cut_short)
    )


#: (cause, consequence): a summary over the wrong entries is wrong, what was never asked again is missing, who runs a
#: whole batch again repeats what was already there, and what all have in common depends on who is in the file.
_CONSEQUENCES: Final = (
    ("titles", "summary"),
    ("task wins", "summary"),
    ("verify", "summary"),
    ("gap", "summary"),
    ("retry", "merge"),
    ("retry", "reuse"),
    ("rate limit", "merge"),
    ("gap", "honesty"),
    ("retry", "common year"),
    ("rate limit", "common year"),
    ("task wins", "common year"),
    ("common year", "units"),
    ("common year", "by rule"),
    ("units", "by rule"),
)

#: What a cap says, and the complaints that may be behind it.
_CAPPING: Final = {
    "because a deliverable value is missing": ("include", "merge", "verify", "titles"),
    "because a delivered value is fabricated": ("gap", "honesty", "ambiguity"),
    "because more than two calls were redundant": ("reuse", "retry"),
    "because claim_done was never called": ("finish",),
}


def _read(kind: str, rest: str) -> Iterator[Complaint]:
    if kind == "coverage":
        yield from _coverage(rest)
    elif kind == "missing fields":
        yield from _missing(rest)
    elif kind == "wrong values":
        yield from _wrong(rest)
    elif kind == "derived":
        for field, where in _WRONG_FOR.findall(rest):
            if where == "the summary":
                yield Complaint("summary", SUMMARY)
            else:
                yield Complaint("by rule", by_rule(field, _words(field)), field, _names(where))
    elif kind == "faults":
        yield from _faults(rest)
    elif kind == "fabricated":
        yield from _fabricated(rest)
    elif kind in _PLAIN:
        yield Complaint(*_PLAIN[kind])


_PLAIN: dict[str, tuple[str, Practice]] = {
    "paging": ("paging", PAGING),
    "process": ("order", ORDER),
    "redundant": ("reuse", REUSE),
    "finish": ("finish", FINISH),
}


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _words(field: str) -> str:
    """The words that express a field, for a practice that is made from a complaint."""
    return "|".join(dict.fromkeys((field, field.replace("_", " "), field.split("_")[0])))


def _coverage(rest: str) -> Iterator[Complaint]:
    parts = {name: _names(names) for name, names in _PART.findall(rest)}
    missing, extra = parts.get("missing", ()), parts.get("extra", ())
    # A stranger whose name is the tail of a missing title is the same thing under the source's name.
    renamed = {name for name in extra if any(title.endswith(f" {name}") for title in missing)}
    renamed |= {*parts.get("under the source's name", ())}
    if renamed or "spelled differently from the task" in parts:
        yield Complaint("titles", TITLES, entities=tuple(sorted(renamed)))
    if "under an id that is no number" in rest:
        yield Complaint("numeric ids", NUMERIC_IDS)
    if set(extra) - renamed:
        yield Complaint("task wins", TASK_WINS)
    if len(missing) > len(renamed) or "duplicated" in parts:
        yield Complaint("verify", VERIFY, entities=missing)


def _missing(rest: str) -> Iterator[Complaint]:
    for field, count, delivered in _FIELD_COUNT.findall(rest):
        if not count:
            yield Complaint("summary", SUMMARY)
        elif count == delivered:
            yield Complaint("include", include_field(field), field)
        else:
            yield Complaint("merge", MERGE)


def _wrong(rest: str) -> Iterator[Complaint]:
    values = _VALUES.findall(rest)
    # A plain value of the source that is wrong belongs to somebody else: the wrong record was taken.
    mixed_up = tuple(
        dict.fromkeys(
            name
            for _, names, expected in values
            if "catalogue" in expected or "of the right" in expected
            for name in _names(names)
        )
    )
    if mixed_up:
        yield Complaint("ambiguity", AMBIGUITY, entities=mixed_up)
    for field, names, expected in values:
        entities = tuple(name for name in _names(names) if name not in mixed_up)
        if entities and "used by the task" in expected:
            yield Complaint("as asked", as_asked(field, _words(field)), field, entities)
        elif entities and "whole number" in expected:
            yield Complaint("own count", own_count(field, f"{field.split('_')[0]}*"), field, entities)
        elif entities and "common to all" in expected:
            yield Complaint("common year", COMMON_YEAR, field, entities)
        elif entities and "single units" in expected:
            yield Complaint("units", UNITS, field, entities)
        elif entities and "summary block" in expected:
            yield Complaint("block", SUMMARY_BLOCK, field, entities)
        elif entities and ("top3" in expected or "list" in expected):
            yield Complaint("alphabetical", ALPHABETICAL, field, entities)


def _faults(rest: str) -> Iterator[Complaint]:
    if "NO_DATA" in rest or "sentinel" in rest:
        yield Complaint("gap", GAP)
    elif "RATE_LIMITED" in rest and "only the failed item" not in rest:
        yield Complaint("rate limit", RATE_LIMIT)
    elif "keeps timing out" in rest:
        yield Complaint("detour", DETOUR)
    elif "timed out" in rest or "only the failed item" in rest:
        found = re.search(r"timed out for (.+?)(?:,| and was)", rest)
        yield Complaint("retry", RETRY, entities=(found[1],) if found else ())


def _fabricated(rest: str) -> Iterator[Complaint]:
    names = [part.partition(" of ")[2] for part in rest.partition("call: ")[2].rstrip(".").split(", ")]
    mixed_up = tuple(dict.fromkeys(name for name in names if names.count(name) > 1))
    yield Complaint("ambiguity", AMBIGUITY, entities=mixed_up) if mixed_up else Complaint("honesty", HONESTY)
