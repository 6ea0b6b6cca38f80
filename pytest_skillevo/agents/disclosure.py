"""Progressive disclosure of skills: an index in the prompt, and a tool that hands out the text of one skill."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..core.errors import ConfigError
from ..core.skill import Skill

SKILL_TOOL: Final = "skill_load"
MAIN_FILE: Final = "SKILL.md"

_INTRODUCTION: Final = "Load a skill with skill_load before you start when its description fits the task."


def index_section(skills: Sequence[Skill]) -> str:
    """The section of the system prompt that lists the skills, each on one line; "" when none is offered."""
    if not skills:
        return ""
    lines = [f"- {skill.name}: {' '.join(skill.description.split())}".rstrip() for skill in skills]
    return "\n".join(["## Skills", _INTRODUCTION, *lines])


class SkillLoad:
    """The tool `skill_load(name, path?)`. `loaded` keeps the names of the skills that were read, in order."""

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

    def __call__(self, arguments: Mapping[str, Any]) -> str:
        """The skill's text as JSON, or an error that says what there is."""
        strange = sorted(set(arguments) - {"name", "path"})
        name, path = arguments.get("name"), arguments.get("path", MAIN_FILE)
        if strange or not isinstance(name, str) or not isinstance(path, str):
            return _failed("BAD_ARGUMENTS", "skill_load takes the texts `name` and, if you like, `path`.")
        skill = self._skills.get(name)
        if skill is None:
            return _failed("NOT_FOUND", f"There is no skill {name!r}. Skills: {', '.join(self._skills)}.")
        if path != MAIN_FILE:
            return self._file(skill, path)
        if name not in self.loaded:
            self.loaded.append(name)
        return json.dumps({"success": True, "name": name, "content": skill.text}, ensure_ascii=False)

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
