"""A first suite for a skill that exists: three cases made of the skill's own words, and the agent that solves them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

from ...core.skill import Skill, slug

KINDS: Final = ("built-in", "function", "openai", "command")
#: Words that a case looks for in an answer.
TERMS: Final = 3
_CODE: Final = re.compile(r"`([^`\n]{2,40})`")
_FENCE: Final = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_WORD: Final = re.compile(r"[^\W\d_]{6,}")
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s")


@dataclass(frozen=True, slots=True)
class Suite:
    """The files of a suite by name, all text."""

    files: Mapping[str, str]


def suite_for(skill: Skill, folder: str, kind: str, command: Sequence[str] = ()) -> Suite:
    """The files for the skill in a folder of that name and one of KINDS; `command` is the program of "command"."""
    module = slug(folder).replace("-", "_")
    about = _SENTENCE.split(" ".join(skill.description.split()), 1)[0] or f"work with the skill {folder}."
    terms = terms_of(skill)
    cases = {
        "FEEDBACK": (f"How do you go about this: {about} List your steps.", terms[:TERMS]),
        "VALIDATION": (
            f"A colleague asks you for this: {about} Tell her what to do, and what to avoid.",
            terms[:TERMS],
        ),
        "HOLDOUT": (f"{about} Name what must not be forgotten.", terms[:1]),
    }
    values = {"SKILL": _python(folder), "COMMAND": _python(list(command) or ["my-agent", "--json"])}
    for split, (prompt, wanted) in cases.items():
        values |= {f"{split}_PROMPT": _python(prompt), f"{split}_TERMS": _python(wanted)}
    templates = files("pytest_skillevo.commands.starter").joinpath("template")
    sources = {f"test_{module}.py": "test_skill.txt", "conftest.py": f"conftest_{kind.replace('-', '_')}.txt"}
    return Suite(
        {
            name: _filled(templates.joinpath(source).read_text(encoding="utf-8"), values)
            for name, source in sources.items()
        }
    )


def terms_of(skill: Skill) -> list[str]:
    """Words of the skill that an agent who read it would use: code first, then the long words said most often.

    Words of the description do not count: an agent knows them from the task.
    """
    body = _FENCE.sub("", skill.body)
    known = {word.casefold() for word in _WORD.findall(skill.description)}
    code = [term for term in dict.fromkeys(_CODE.findall(body)) if term.casefold() not in known]
    said: dict[str, int] = {}
    for word in _WORD.findall(_CODE.sub(" ", body)):
        lower = word.lower()
        if lower.casefold() not in known:
            said[lower] = said.get(lower, 0) + 1
    words = sorted(said, key=lambda word: (-said[word], -len(word), word))
    return [*code, *words][: 2 * TERMS]


def _python(value: object) -> str:
    """A value as Python source: JSON text and lists of texts are the same there."""
    return json.dumps(value, ensure_ascii=False)


def _filled(template: str, values: Mapping[str, str]) -> str:
    """Each {{NAME}} replaced, once: what a skill says is never read as a template."""
    return re.sub(r"\{\{([A-Z_]+)\}\}", lambda match: values[match[1]], template)
