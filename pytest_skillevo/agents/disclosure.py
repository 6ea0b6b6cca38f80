"""Progressive disclosure of skills: an index in the prompt, and a tool that hands out the text of one skill."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..core.errors import ConfigError
from ..core.skill import Skill
from ..core.suggest import did_you_mean

SKILL_TOOL: Final = "skill_load"
#: The name that other agents know the tool by; calls of it are answered alike.
VIEW_TOOL: Final = "skill_view"
MAIN_FILE: Final = "SKILL.md"

#: Characters of the index (about 3,000 tokens), and of one description in it.
INDEX_BUDGET: Final = 12_000
MAX_DESCRIPTION: Final = 1_024
#: Skills that are listed in an answer to a wrong name.
_LISTED: Final = 20

_INTRODUCTION: Final = "Load a skill with skill_load before you start when its description fits the task."


def index_section(skills: Sequence[Skill], budget: int = INDEX_BUDGET) -> str:
    """The section of the system prompt that lists the skills, each on one line; "" when none is offered.

    In the order in which they are offered; those beyond `budget` characters are counted in a last line.
    """
    if not skills:
        return ""
    lines = ["## Skills", _INTRODUCTION]
    room = budget - sum(map(len, lines))
    for place, skill in enumerate(skills):
        line = f"- {skill.name}: {' '.join(skill.description.split())[:MAX_DESCRIPTION]}".rstrip()
        room -= len(line) + 1
        if room < 0:
            lines.append(f"{len(skills) - place} more skills are not listed; skill_load finds them by name.")
            break
        lines.append(line)
    return "\n".join(lines)


class SkillLoad:
    """The tool `skill_load(name, path?)`. `loaded` keeps the skills whose text was read, `viewed` every look."""

    name = SKILL_TOOL
    description = "Read a skill: its SKILL.md, or with `path` one of its supporting files."
    parameters: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "Name of a listed skill."},
            "path": {"type": "string", "description": "Relative path of a supporting file; SKILL.md if left out."},
        },
        "required": ["name"],
        "additionalProperties": False,
    }
    final = False

    def __init__(self, skills: Sequence[Skill]) -> None:
        self._skills = {skill.name: skill for skill in skills}
        if len(self._skills) < len(skills):
            names = [skill.name for skill in skills]
            twice = sorted({name for name in names if names.count(name) > 1})
            raise ConfigError(f"two skills of the same name were offered to one run: {', '.join(twice)}")
        self.loaded: list[str] = []
        self.viewed: list[str] = []

    def __call__(self, arguments: Mapping[str, Any]) -> str:
        """The skill's text as JSON, or an error that says what there is."""
        strange = sorted(set(arguments) - {"name", "path"})
        name, path = arguments.get("name"), arguments.get("path", MAIN_FILE)
        if strange or not isinstance(name, str) or not isinstance(path, str):
            return _failed("BAD_ARGUMENTS", "skill_load takes the texts `name` and, if you like, `path`.")
        skill = self._skills.get(name)
        if skill is None:
            return _failed("NOT_FOUND", self._unknown(name))
        self.viewed.append(name)
        if path != MAIN_FILE:
            return self._file(skill, path)
        if name not in self.loaded:
            self.loaded.append(name)
        return json.dumps({"success": True, "name": name, "content": skill.text}, ensure_ascii=False)

    def _unknown(self, name: str) -> str:
        listed = f"Skills: {', '.join(self._skills)}." if len(self._skills) <= _LISTED else ""
        hint = did_you_mean(name, self._skills)
        return " ".join(part for part in (f"There is no skill {name!r}.", hint, listed) if part)

    def _file(self, skill: Skill, path: str) -> str:
        data = skill.files.get(path)
        if data is None:
            known = ", ".join([MAIN_FILE, *skill.files])
            return _failed("NOT_FOUND", f"The skill {skill.name!r} has no file {path!r}. Files: {known}.")
        try:
            content = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            return _failed("UNAVAILABLE", f"{path!r} is not a text file ({len(data)} bytes).")
        return json.dumps({"success": True, "name": skill.name, "path": path, "content": content}, ensure_ascii=False)


def _failed(code: str, sentence: str) -> str:
    return json.dumps({"success": False, "error": sentence, "code": code}, ensure_ascii=False)
