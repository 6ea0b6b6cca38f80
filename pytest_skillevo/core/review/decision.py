"""What a Reviewer may decide: nothing, new skills, changes of skills, deletions. Normalised, never repaired."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from ..skill import SkillSpec

#: Characters; longer parts are refused, never cut: half a rule may say the opposite.
MAX_TEXT: Final = 20_000
MAX_LINE: Final = 2_000
MAX_ITEMS: Final = 60
#: Folders of a skill that a Reviewer may put supporting files into.
FILE_FOLDERS: Final = ("references", "templates", "assets")

_HEADING: Final = re.compile(r"\n[ \t]*(?:#{1,6}[ \t]|=+[ \t]*$|-+[ \t]*$)", re.MULTILINE)

_TEXTS: Final = {"type": "array", "items": {"type": "string"}}
_SPEC: Final = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "description": {"type": "string"},
        "when_to_use": {"type": "string"},
        "steps": _TEXTS,
        "pitfalls": _TEXTS,
    },
    "required": ["name", "description", "when_to_use", "steps", "pitfalls"],
    "additionalProperties": False,
}
_UPDATE: Final = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "reason": {"type": "string"},
        "add_steps": _TEXTS,
        "add_pitfalls": _TEXTS,
        "add_files": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"path": {"type": "string"}, "text": {"type": "string"}},
                "required": ["path", "text"],
                "additionalProperties": False,
            },
        },
        "component": {"type": ["string", "null"]},
        "text": {"type": ["string", "null"]},
        "new_spec": {"anyOf": [_SPEC, {"type": "null"}]},
    },
    "required": ["name", "reason", "add_steps", "add_pitfalls", "add_files", "component", "text", "new_spec"],
    "additionalProperties": False,
}
#: What a structured answer must look like; given to models that take a response schema.
SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "skip_reason": {"type": ["string", "null"]},
        "updates": {"type": "array", "items": _UPDATE},
        "skills": {"type": "array", "items": _SPEC},
        "deletions": _TEXTS,
    },
    "required": ["skip_reason", "updates", "skills", "deletions"],
    "additionalProperties": False,
}
KEYS: Final = frozenset(SCHEMA["properties"])


@dataclass(frozen=True, slots=True)
class SkillUpdate:
    """A change of one skill in one of three forms: additions, one component's whole text, or a whole new spec.

    A whole spec replaces description, when-to-use and steps; pitfalls that are there already stay (applying.py).
    """

    name: str
    reason: str = ""
    new_spec: SkillSpec | None = None
    component: str = ""
    text: str = ""
    add_steps: tuple[str, ...] = ()
    add_pitfalls: tuple[str, ...] = ()
    #: Path below the skill's folder -> text.
    add_files: Mapping[str, str] | None = None

    def to_json(self) -> dict[str, Any]:
        """The update as the Reviewer would write it, empty parts left out."""
        parts = {
            "name": self.name,
            "reason": self.reason,
            "new_spec": None if self.new_spec is None else spec_json(self.new_spec),
            "component": self.component,
            "text": self.text if self.component else None,
            "add_steps": list(self.add_steps),
            "add_pitfalls": list(self.add_pitfalls),
            "add_files": [{"path": path, "text": text} for path, text in (self.add_files or {}).items()],
        }
        # A component may become empty; anything else that is empty was not said.
        return {key: value for key, value in parts.items() if (key == "text" and value is not None) or value}


@dataclass(frozen=True, slots=True)
class ReviewDecision:
    """A decision as a whole. A skip excludes the rest; all empty means that there is nothing to do."""

    skip_reason: str = ""
    skills: tuple[SkillSpec, ...] = ()
    updates: tuple[SkillUpdate, ...] = ()
    deletions: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing shall change."""
        return not (self.skills or self.updates or self.deletions)

    def to_json(self) -> dict[str, Any]:
        """The decision as the Reviewer would write it, empty parts left out; `normalised` reads it back."""
        parts = {
            "skip_reason": self.skip_reason,
            "skills": [spec_json(spec) for spec in self.skills],
            "updates": [update.to_json() for update in self.updates],
            "deletions": list(self.deletions),
        }
        return {key: value for key, value in parts.items() if value}


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why an answer is no decision; one sentence. `kind` is "parse" or "invalid"."""

    reason: str
    kind: str = "parse"


class Invalid(Exception):
    """The sentence of a Rejection of the kind "invalid"."""


class WrongShape(Exception):
    """The sentence of a Rejection of the kind "parse"."""


def spec_json(spec: SkillSpec) -> dict[str, Any]:
    """A spec as the Reviewer would write it; pitfalls only where there are any."""
    told: dict[str, Any] = {
        "name": spec.name,
        "description": spec.description,
        "when_to_use": spec.when_to_use,
        "steps": list(spec.steps),
    }
    return told | {"pitfalls": list(spec.pitfalls)} if spec.pitfalls else told


def normalised(data: Mapping[str, Any], *, salvage: bool = False) -> tuple[ReviewDecision, tuple[str, ...]]:
    """The decision in a JSON object, and what was left out of it, in sentences (spec/online-review.md 6.4).

    One broken entry makes the whole invalid; with `salvage` it is left out instead. Raises Invalid and WrongShape.
    """
    reader = _Reader(salvage)
    skip = _text(data.get("skip_reason"), "skip_reason", MAX_LINE)
    deletions = reader.deletions(_list(data.get("deletions"), "deletions"))
    updates = reader.updates(_list(data.get("updates"), "updates"))
    skills = reader.skills(_list(data.get("skills"), "skills"))
    decision = ReviewDecision(skip, skills, updates, deletions)
    if skip and not decision.is_empty:
        raise Invalid("skip_reason excludes skills, updates and deletions")
    return decision, tuple(reader.left_out)


class _Reader:
    """Reads entries; a name belongs to the first that claims it: deletion, then update, then create."""

    def __init__(self, salvage: bool) -> None:
        self._salvage = salvage
        self._claimed: set[str] = set()
        self.left_out: list[str] = []

    def deletions(self, entries: Sequence[Any]) -> tuple[str, ...]:
        names = [_text(entry, "a deletion", MAX_LINE) for entry in entries if entry is not None]
        return tuple(name for name in names if name and self._claim(name))

    def updates(self, entries: Sequence[Any]) -> tuple[SkillUpdate, ...]:
        found = (self._read(_update, entry, "update") for entry in entries)
        return tuple(one for one in found if isinstance(one, SkillUpdate) and self._claim(one.name))

    def skills(self, entries: Sequence[Any]) -> tuple[SkillSpec, ...]:
        found = (self._read(_spec, entry, "skill") for entry in entries)
        return tuple(one for one in found if isinstance(one, SkillSpec) and self._claim(one.name))

    def _read(self, read: Any, entry: Any, what: str) -> Any:
        if entry is None:
            return None
        try:
            if not isinstance(entry, Mapping):
                raise WrongShape(f"a {what} must be an object, not {type(entry).__name__}")
            return read(entry)
        except (Invalid, WrongShape) as problem:
            if not self._salvage:
                raise
            self.left_out.append(f"a broken {what} was left out: {problem}")
            return None

    def _claim(self, name: str) -> bool:
        key = name.strip().lower()
        if key in self._claimed:
            self.left_out.append(f"{name!r} was named twice; the first entry holds")
            return False
        self._claimed.add(key)
        return True


def _update(data: Mapping[str, Any]) -> SkillUpdate | None:
    name = _text(data.get("name"), "the name of an update", MAX_LINE)
    spec_data, component = data.get("new_spec"), _text(data.get("component"), "component", MAX_LINE)
    steps, pitfalls = _items(data.get("add_steps"), "add_steps"), _items(data.get("add_pitfalls"), "add_pitfalls")
    files = _files(data.get("add_files"))
    adds = bool(steps or pitfalls or files)
    if not name or not (spec_data is not None or component or adds):
        return None
    if (spec_data is not None) + bool(component) + adds > 1:
        raise Invalid(f"the update of {name!r} mixes forms: give additions, or component and text, or new_spec")
    reason = _text(data.get("reason"), "reason", MAX_LINE)
    if component:
        text = data.get("text")
        if not isinstance(text, str):
            raise Invalid(f"the update of {name!r} names a component and has no text")
        if len(text) > MAX_TEXT:
            raise Invalid(f"the text for {name!r} has {len(text)} characters; at most {MAX_TEXT} are allowed")
        return SkillUpdate(name, reason, component=component, text=text)
    if spec_data is not None:
        if not isinstance(spec_data, Mapping):
            raise WrongShape("new_spec must be an object")
        spec = _spec({**spec_data, "name": name})
        return None if spec is None else SkillUpdate(name, reason, new_spec=replace(spec, name=name))
    return SkillUpdate(name, reason, add_steps=steps, add_pitfalls=pitfalls, add_files=files or None)


def _spec(data: Mapping[str, Any]) -> SkillSpec | None:
    """A spec; None for one that says nothing at all. Raises Invalid naming the first part that is missing."""
    name = _text(data.get("name"), "name", MAX_LINE)
    description = _text(data.get("description"), "description", MAX_LINE)
    when = _text(data.get("when_to_use"), "when_to_use", MAX_LINE)
    steps, pitfalls = _items(data.get("steps"), "steps"), _items(data.get("pitfalls"), "pitfalls")
    parts = {"name": name, "description": description, "when_to_use": when, "steps": steps}
    if not any(parts.values()):
        return None
    missing = next((key for key, value in parts.items() if not value), None)
    if missing is not None:
        raise Invalid(f"the skill {name!r} has no {missing}" if name else "a skill has no name")
    return SkillSpec(name, description, when, steps, pitfalls)


def _text(value: Any, what: str, limit: int) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise WrongShape(f"{what} must be text, not {type(value).__name__}")
    if len(value) > limit:
        raise Invalid(f"{what} has {len(value)} characters; at most {limit} are allowed")
    return value.strip()


def _list(value: Any, what: str) -> Sequence[Any]:
    if value is None or value == "":
        return ()
    if not isinstance(value, list):
        raise WrongShape(f"{what} must be a list, not {type(value).__name__}")
    if len(value) > MAX_ITEMS:
        raise Invalid(f"{what} has {len(value)} entries; at most {MAX_ITEMS} are allowed")
    return value


def _items(value: Any, what: str) -> tuple[str, ...]:
    items = (_text(item, f"an item of {what}", MAX_LINE) for item in _list(value, what))
    return tuple(_one_item(item) for item in items if item)


def _one_item(text: str) -> str:
    """The item on one line where a line of it would be a heading: an item stays inside its list."""
    return " ".join(text.split()) if _HEADING.search(text) else text


def _files(value: Any) -> dict[str, str]:
    files: dict[str, str] = {}
    for entry in _list(value, "add_files"):
        if not isinstance(entry, Mapping) or not isinstance(entry.get("text"), str):
            raise WrongShape("a file must be an object with path and text")
        path = _text(entry.get("path"), "the path of a file", MAX_LINE)
        folder, _, rest = path.partition("/")
        if folder not in FILE_FOLDERS or not rest or ".." in path.split("/"):
            raise Invalid(f"a file must lie in one of {', '.join(FILE_FOLDERS)}, not at {path[:100]!r}")
        if len(entry["text"]) > MAX_TEXT:
            raise Invalid(f"the file {path!r} has {len(entry['text'])} characters; at most {MAX_TEXT} are allowed")
        files[path] = entry["text"]
    return files
