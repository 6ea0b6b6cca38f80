"""The Spec gate: is this a whole skill, under a name that is free? Rules: spec/online-revisions.md 3.3 and 19."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from ..revisions import Action
from ..skill import Skill, SkillSpec
from ..skill.spec import read_steps
from .records import Candidate, Finding, GateVerdict, Severity, verdict_of

MIN_STEPS: Final = 2
#: Bytes of UTF-8, because file systems count those.
MAX_NAME: Final = 120

_RULES: Final = 1
_COUNT: Final = re.compile(r"\b[0-9]+\s+(?:cit(?:y|ies)|countr(?:y|ies)|dish(?:es)?|items?)\b")
# Signs that tell names apart (C++ is not C, F# is not F); every other sign only separates words.
_TELLING: Final = "+#"


@dataclass(frozen=True, slots=True)
class SpecGate:
    """Structured skills and those that the Reviewer makes need all fields; free-form ones a name, description and body.

    `min_steps` and `max_name` (bytes): 0 or less means the default.
    """

    min_steps: int = MIN_STEPS
    max_name: int = MAX_NAME

    def __post_init__(self) -> None:
        if self.min_steps <= 0:
            object.__setattr__(self, "min_steps", MIN_STEPS)
        if self.max_name <= 0:
            object.__setattr__(self, "max_name", MAX_NAME)

    @property
    def version(self) -> str:
        """The version of the rules with the settings."""
        return f"{_RULES} (steps {self.min_steps}, name {self.max_name})"

    def judge(self, candidate: Candidate | None) -> GateVerdict:
        """The verdict; every rule that is broken is reported, not only the first."""
        return verdict_of("spec", self.version, tuple(self._findings(candidate)))

    def _findings(self, candidate: Candidate | None) -> Iterator[Finding]:
        if candidate is None:
            yield _error("nil_candidate", "there is no candidate to judge")
            return
        if candidate.action is Action.DELETE:
            return
        skill = candidate.skill
        if skill is None or not (skill.exists or candidate.made_by_reviewer):
            yield _error("missing_spec", "the candidate holds no skill")
            return
        yield from self._name(candidate)
        spec = skill.spec
        if not (spec.description if spec else skill.description).strip():
            yield _error("missing_description", "no agent can tell when to load a skill without one", "description")
        if spec is not None or candidate.made_by_reviewer:
            yield from self._structured(skill, spec)
        else:
            yield from self._free_form(skill, candidate.parent)
        if candidate.action is Action.CREATE:
            yield from _siblings(candidate.name, candidate.existing)
        yield from (_warning("format", text) for text in skill.warnings)

    def _name(self, candidate: Candidate) -> Iterator[Finding]:
        size = len(candidate.name.encode("utf-8", "surrogatepass"))
        if not candidate.name.strip():
            yield _error("empty_name", "the name is blank", "name")
        if size > self.max_name:
            yield _error("name_too_long", f"the name has {size} bytes, {self.max_name} are allowed", "name")

    def _structured(self, skill: Skill, spec: SkillSpec | None) -> Iterator[Finding]:
        when = spec.when_to_use if spec else skill.components.get("when_to_use", "")
        if not when.strip():
            yield _error("missing_when_to_use", "the skill does not say when to use it", "when_to_use")
        count = _steps(skill, spec)
        if count < self.min_steps:
            yield _error("too_few_steps", f"the skill has {count} steps, at least {self.min_steps} are needed", "steps")

    def _free_form(self, skill: Skill, parent: Skill | None) -> Iterator[Finding]:
        if not skill.body.strip():
            yield _error("missing_body", "there is nothing below the frontmatter", "SKILL.md")
            return
        if parent is not None and parent.spec is not None:
            yield _warning("structure_lost", "the parent had when-to-use and steps, this version has no such sections")
        count = len(read_steps(skill.body))
        if count < self.min_steps:
            yield _warning("few_steps", f"the text lists {count} steps; agents follow a list more surely than prose")


def _steps(skill: Skill, spec: SkillSpec | None) -> int:
    """Listed steps; where a section of prose stands instead of a list, its paragraphs."""
    text = skill.components.get("steps", "")
    listed = spec.steps if spec else read_steps(text)
    return len(listed) or len([part for part in re.split(r"\n[ \t]*\n", text) if part.strip()])


def _siblings(name: str, existing: Iterable[str]) -> Iterator[Finding]:
    """A name that is taken, or that only counts what a general skill does already. Each is reported once."""
    known = list(existing)
    key = _key(name)
    taken = next((other for other in known if key and _key(other) == key), None)
    if taken is not None:
        yield _error("duplicate_name", f"'{taken}' exists already: update it instead", "name")
    general = _COUNT.sub("multi", name.lower())
    if general == name.lower():
        return
    words = _words(general)
    for other in known:
        others = _words(other.lower())
        if others == words or ("multi" in others and len(words) > 1 and others[:2] == words[:2]):
            yield _error("quantified_sibling", f"'{other}' covers any number already: update it instead", "name")
            return


def _key(name: str) -> str:
    """What makes two names one: letters and digits of any script, + and #; case, spacing and punctuation do not."""
    text = unicodedata.normalize("NFKC", name).casefold()
    # A combining mark belongs to its letter: without it Thai or Hindi words would fall apart.
    kept = (c if c.isalnum() or c in _TELLING or unicodedata.category(c)[0] == "M" else " " for c in text)
    return "-".join("".join(kept).split())


def _words(name: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", name)


def _error(code: str, message: str, where: str = "") -> Finding:
    return Finding("spec", code, f"{message}.", where)


def _warning(code: str, message: str, where: str = "SKILL.md") -> Finding:
    return Finding("spec", code, message if message.endswith(".") else f"{message}.", where, Severity.WARNING)
