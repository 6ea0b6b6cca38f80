"""Practices: what a skill can teach, how a text states it, and how likely an agent lapses.

A practice is a switch of a behaviour. It is read from the text of a loaded skill by patterns over concepts, never by
whole sentences, so that any wording of the same rule counts. Each pattern is a short line such as

    "+retry failed +only !+whole <9"

read as: a word of concept `retry` that is affirmed, one of `failed` affirmed or denied, one of `only` affirmed, no
affirmed word of `whole`, and all of them within nine words. "-retry" asks for a denied word. A closing "=" asks for
all of this within one clause, that is between two punctuation marks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from types import MappingProxyType

from .language import Sentence, read_sentences, word_set
from .words import Terms, concepts

#: Named things to which a sentence limits itself: "for Bomaru Pot", "Bomaru Pot's category", "when the dish is Bomaru".
_SCOPE = re.compile(
    r"\b(?:[Ff]or|[Ww]hen|[Ii]f|[Oo]f|[Ww]ith|[Ii]n|[a-z]+ is|called|named)\s+(?:the\s+(?:[a-z]+\s+)?)?[\"'“`]?"
    r"([A-Z][a-z]+(?:[ -](?:[A-Z][a-z]+|of|with|and|the))*[ -][A-Z][a-z]+|[A-Z][a-z]{3,}|case-\d+)[\"'”`]?"
)
#: Capitalised words after such a preposition that are ordinary language, not somebody's name.
_ORDINARY = word_set(
    "Easy Medium Hard High Low Always Never When Before After Every Each Markdown Json Retry Only Keep Report"
)


@dataclass(frozen=True, slots=True)
class Need:
    """One requirement of a pattern: a concept, a sign (+1 affirmed, -1 denied, 0 either), whether absence is wanted.

    `concept` is a name of the vocabulary, or a concept of the practice's own.
    """

    concept: str | re.Pattern[str]
    sign: int
    absent: bool


@dataclass(frozen=True, slots=True)
class Pattern:
    """What a sentence must say. All needs must be met by different words, at most `within` words apart."""

    needs: tuple[Need, ...]
    within: int | None
    one_clause: bool = False

    @classmethod
    def parse(cls, line: str, own: Mapping[str, re.Pattern[str]] = MappingProxyType({})) -> Pattern:
        """A pattern from its line. Raises KeyError for an unknown concept."""
        needs: list[Need] = []
        within = None
        *parts, last = line.split()
        for part in parts if last == "=" else [*parts, last]:
            if part.startswith("<"):
                within = int(part[1:])
                continue
            absent = part.startswith("!")
            word = part.removeprefix("!")
            sign = {"+": 1, "-": -1}.get(word[0], 0)
            name = word.lstrip("+-")
            if name not in own and name not in concepts():
                raise KeyError(name)
            needs.append(Need(own.get(name, name), sign, absent))
        return cls(tuple(needs), within, last == "=")

    def matches(self, sentence: Sentence) -> bool:
        """Whether the sentence says it."""
        hits = []
        vocabulary = concepts(sentence.terms)
        for need in self.needs:
            words = vocabulary[need.concept] if isinstance(need.concept, str) else need.concept
            places = sentence.hits(words, need.sign)
            if not places and not need.absent:  # most sentences speak of something else
                return False
            hits.append(places)
        if not self.one_clause:
            return self._met(hits)
        return any(
            self._met([[place for place in places if sentence.clauses[place] == clause] for places in hits])
            for clause in dict.fromkeys(sentence.clauses)
        )

    def _met(self, hits: Sequence[Sequence[int]]) -> bool:
        if any(bool(places) == need.absent for need, places in zip(self.needs, hits, strict=True)):
            return False
        wanted = [places for need, places in zip(self.needs, hits, strict=True) if not need.absent]
        return _choose(wanted, self.within, ())


def _choose(wanted: Sequence[Sequence[int]], within: int | None, taken: tuple[int, ...]) -> bool:
    """Whether one place for each need can be chosen, all different and close enough."""
    if not wanted:
        return within is None or not taken or max(taken) - min(taken) <= within
    return any(place not in taken and _choose(wanted[1:], within, (*taken, place)) for place in wanted[0])


def patterns(*lines: str, **own: re.Pattern[str]) -> tuple[Pattern, ...]:
    """Patterns from their lines; `own` concepts come in addition to the common vocabulary."""
    return tuple(Pattern.parse(line, own) for line in lines)


@dataclass(frozen=True, slots=True, eq=False)
class Practice:
    """One switch: the patterns that state it, the patterns that state its opposite, and the lapse probabilities.

    `p0` in [0.3, 0.95] is the chance of a lapse when nothing is stated, `p1` in [0.02, 0.1] when the practice is
    stated. `lapses` are the kinds of lapse with their weights; a contrary statement pins the kind under which its
    pattern stands. `documented` marks what the family's reference file says as well.
    """

    name: str
    p0: float
    p1: float
    directive: tuple[Pattern, ...]
    contrary: Mapping[str, tuple[Pattern, ...]] = field(default_factory=lambda: MappingProxyType({}))
    lapses: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({"lapse": 1.0}))
    documented: bool = False

    def __post_init__(self) -> None:
        if not 0.3 <= self.p0 <= 0.95 or not 0.02 <= self.p1 <= 0.1:
            raise ValueError(f"practice {self.name}: p0={self.p0} or p1={self.p1} is out of range")
        if strange := set(self.contrary) - set(self.lapses):
            raise ValueError(f"practice {self.name}: no lapse of kind {', '.join(sorted(strange))}")

    def reads(self, sentence: Sentence) -> str | None:
        """What one sentence says of this practice: "stated", a kind of lapse that it asks for, or None."""
        for kind, contrary in self.contrary.items():
            if any(pattern.matches(sentence) for pattern in contrary):
                return kind
        return STATED if any(pattern.matches(sentence) for pattern in self.directive) else None


STATED = "stated"


class Stance(StrEnum):
    """What the loaded skills say of one practice."""

    SILENT = "silent"
    STATED = "stated"
    CONTRARY = "contrary"
    TORN = "torn"


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing that a text says: a practice, "stated" or a kind of lapse, and the names to which it is limited."""

    practice: str
    says: str
    scope: tuple[str, ...]
    raw: str


def scope_of(raw: str) -> tuple[str, ...]:
    """The proper names to which a sentence limits itself."""
    return tuple(name for name in _SCOPE.findall(raw) if name not in _ORDINARY)


@lru_cache(maxsize=256)
def read_statements(document: str, practices: tuple[Practice, ...], terms: Terms = ()) -> tuple[Statement, ...]:
    """What a skill's method text says of each practice, in the order of its sentences; `terms` are families' words."""
    found = []
    for sentence in read_sentences(document, terms):
        for practice in practices:
            if says := practice.reads(sentence):
                found.append(Statement(practice.name, says, scope_of(sentence.raw), sentence.raw))
    return tuple(found)


def applies(statement: Statement, prompt: str) -> bool:
    """Whether a statement concerns this task: it names nothing in particular, or something that the task names."""
    return not statement.scope or any(name in prompt for name in statement.scope)


def stance(statements: Sequence[Statement], practice: Practice, prompt: str) -> tuple[Stance, str]:
    """What the statements amount to for one practice and task, and the kind of lapse that a contrary one asks for."""
    said = [s.says for s in statements if s.practice == practice.name and applies(s, prompt)]
    wrong = next((says for says in said if says != STATED), "")
    if not said:
        return Stance.SILENT, ""
    if not wrong:
        return Stance.STATED, ""
    return (Stance.TORN if STATED in said else Stance.CONTRARY), wrong
