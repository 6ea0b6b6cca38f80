"""The tool `skill_manage`: an agent looks after its skills itself, through the gates like everyone else."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from ..core.errors import SkillevoError
from ..core.review.editing import ACTIONS, edited
from ..core.review.signals import MANAGE_TOOL
from ..core.skill import Skill

#: After so many refusals in one run the tool says no to everything (spec/hermes.md 1.5).
MAX_REFUSALS: Final = 2

GUIDANCE: Final = """\
## Looking after skills
- Use skill_manage when this task taught you a method that later tasks can reuse: after many calls, after errors that
  you overcame, after a correction by the user.
- Patch a skill at once when it turned out wrong; load it first.
- Teach methods, no facts, names or values of this task. Changes pass checks, and most wait for a person."""


@dataclass(frozen=True, slots=True)
class DeskAnswer:
    """What became of a change that was handed in."""

    accepted: bool
    #: A sentence for the agent.
    sentence: str
    revision: str = ""


class SkillDesk(Protocol):
    """Where changes of skills are handed in. Raises SkillevoError for what may not be changed."""

    def skill(self, name: str) -> Skill:
        """The skill as it is now; absent when there is none."""

    def hand_in(self, action: str, before: Skill, after: Skill, reason: str) -> DeskAnswer:
        """Hand one change in; the gates decide about it."""


class SkillManage:
    """`skill_manage(action, name, ...)`. What is changed must have been loaded in this run, in its present version."""

    name = MANAGE_TOOL
    description = (
        "Create, patch, edit or delete a skill, or write or remove one of its supporting files. "
        "Load a skill before you change it."
    )
    parameters: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": list(ACTIONS)},
            "name": {"type": "string", "description": "Name of the skill: a-z, 0-9 and hyphens."},
            "content": {"type": "string", "description": "create, edit: the whole SKILL.md; write_file: the file."},
            "old_text": {"type": "string", "description": "patch: text that stands once in the file."},
            "new_text": {"type": "string", "description": "patch: what takes its place."},
            "replace_all": {"type": "boolean"},
            "path": {"type": "string", "description": "A file below references, templates, scripts or assets."},
            "reason": {"type": "string", "description": "Why, in one sentence."},
        },
        "required": ["action", "name"],
        "additionalProperties": False,
    }
    final = False

    def __init__(self, desk: SkillDesk, offered: Mapping[str, Skill], loaded: Collection[str]) -> None:
        self._desk = desk
        self._offered = offered
        self._loaded = loaded
        self._refusals = 0

    def __call__(self, arguments: Mapping[str, Any]) -> str:
        """Carry one change out, or say why not, as JSON."""
        if self._refusals >= MAX_REFUSALS:
            return self._refused("no more changes in this task: go on with the task itself")
        try:
            return self._change(arguments)
        except SkillevoError as error:
            self._refusals += 1
            return self._refused(str(error))

    def _change(self, arguments: Mapping[str, Any]) -> str:
        name, action = str(arguments.get("name") or ""), str(arguments.get("action") or "")
        before = self._desk.skill(name)
        after = edited(before, arguments)
        if action != "create":
            seen = self._offered.get(name)
            if name not in self._loaded or seen is None:
                return self._refused(f"load {name!r} with skill_load before you change it")
            if seen.digest != before.digest:
                return self._refused(f"{name!r} has changed since this task began; leave it to the next one")
        if after.digest == before.digest:
            return self._refused("that changes nothing")
        answer = self._desk.hand_in(action, before, after, str(arguments.get("reason") or ""))
        if not answer.accepted:
            self._refusals += 1
            return self._refused(answer.sentence)
        told = {"success": True, "name": name, "status": answer.sentence, "revision": answer.revision}
        return json.dumps(told, ensure_ascii=False)

    def _refused(self, sentence: str) -> str:
        return json.dumps({"success": False, "error": sentence, "code": "REFUSED"}, ensure_ascii=False)
