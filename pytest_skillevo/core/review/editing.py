"""The verbs of the tool skill_manage as a pure function: a skill and a request give the skill afterwards.

Limits and refusals follow spec/hermes.md 1.2 and 1.5: a patch must hit one place, an edit must not lose most of a
skill, supporting files stay in their folders.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from ..errors import SkillError
from ..naming import is_folder_name
from ..skill import Skill
from ..skill.folder import MAIN_FILE

#: What may be asked for.
ACTIONS: Final = ("create", "patch", "edit", "delete", "write_file", "remove_file")
FOLDERS: Final = ("references", "templates", "scripts", "assets")
MAX_DOCUMENT: Final = 100_000
MAX_FILE: Final = 1_000_000
#: An edit that leaves less of the body than this share is refused.
LEAST_LEFT: Final = 0.5
#: Bodies shorter than this may shrink as they like.
SMALL: Final = 400


def edited(skill: Skill, request: Mapping[str, Any]) -> Skill:
    """The skill after one request; `skill` is absent for a new one, and so is the result of a deletion.

    Raises SkillError, with what to do instead, for a request that cannot be carried out.
    """
    action = request.get("action")
    if action not in _VERBS:
        raise SkillError(f"action must be one of {', '.join(ACTIONS)}, not {action!r}")
    if action == "create" and skill.exists:
        raise SkillError(f"there already is a skill {skill.name!r}; patch it")
    if action != "create" and not skill.exists:
        raise SkillError(f"there is no skill {skill.name!r}")
    return _VERBS[action](skill, request)


def _create(skill: Skill, request: Mapping[str, Any]) -> Skill:
    if not is_folder_name(skill.name):
        raise SkillError("a name has 1 to 64 of a-z, 0-9 and single hyphens")
    return _document(skill.name, _text(request, "content"), {})


def _patch(skill: Skill, request: Mapping[str, Any]) -> Skill:
    path = _path(request, default=MAIN_FILE)
    before, old, new = _content(skill, path), _text(request, "old_text"), _text(request, "new_text", blank=True)
    count = before.count(old)
    if count == 0:
        raise SkillError(f"old_text is not in {path}; load the skill and copy the text exactly")
    if count > 1 and request.get("replace_all") is not True:
        raise SkillError(f"old_text stands {count} times in {path}; give more of it, or replace_all")
    after = before.replace(old, new)
    return _written(skill, path, after)


def _edit(skill: Skill, request: Mapping[str, Any]) -> Skill:
    after = _document(skill.name, _text(request, "content"), skill.files)
    before, left = len(skill.body.strip()), len(after.body.strip())
    if before >= SMALL and left < LEAST_LEFT * before:
        raise SkillError(
            f"that would leave {left} of {before} characters: patch what is wrong instead of writing the skill anew"
        )
    return after


def _delete(skill: Skill, request: Mapping[str, Any]) -> Skill:
    return Skill.absent(skill.name)


def _write_file(skill: Skill, request: Mapping[str, Any]) -> Skill:
    path = _path(request)
    if path == MAIN_FILE:
        raise SkillError(f"{MAIN_FILE} is changed by patch or edit")
    return _written(skill, path, _text(request, "content", blank=True))


def _remove_file(skill: Skill, request: Mapping[str, Any]) -> Skill:
    path = _path(request)
    if path not in skill.files:
        raise SkillError(f"the skill has no file {path!r}; it has {', '.join(skill.files) or 'none'}")
    return Skill.from_bytes(skill.name, skill.document, {key: data for key, data in skill.files.items() if key != path})


_VERBS: Final[Mapping[Any, Callable[[Skill, Mapping[str, Any]], Skill]]] = {
    "create": _create,
    "patch": _patch,
    "edit": _edit,
    "delete": _delete,
    "write_file": _write_file,
    "remove_file": _remove_file,
}


def _written(skill: Skill, path: str, text: str) -> Skill:
    if path == MAIN_FILE:
        return _document(skill.name, text, skill.files)
    if len(text) > MAX_FILE:
        raise SkillError(f"a supporting file has at most {MAX_FILE:,} characters, not {len(text):,}")
    return Skill.from_bytes(skill.name, skill.document, {**skill.files, path: text.encode("utf-8")})


def _document(name: str, text: str, files: Mapping[str, bytes]) -> Skill:
    if len(text) > MAX_DOCUMENT:
        raise SkillError(f"{MAIN_FILE} has at most {MAX_DOCUMENT:,} characters, not {len(text):,}")
    skill = Skill.from_bytes(name, text.encode("utf-8"), files)
    if skill.name != name:
        raise SkillError(f"the frontmatter names the skill {skill.name!r}; it must stay {name!r}")
    if not skill.description or not skill.body.strip():
        raise SkillError(f"{MAIN_FILE} needs frontmatter with name and description, and a text below it")
    return skill


def _content(skill: Skill, path: str) -> str:
    if path == MAIN_FILE:
        return skill.text
    if path not in skill.files:
        raise SkillError(f"the skill has no file {path!r}; it has {', '.join(skill.files) or 'none'}")
    try:
        return skill.files[path].decode("utf-8")
    except UnicodeDecodeError:
        raise SkillError(f"{path!r} is not a text file") from None


def _path(request: Mapping[str, Any], default: str = "") -> str:
    path = request.get("path", default)
    if not isinstance(path, str) or not path:
        raise SkillError("path must be the path of a file inside the skill")
    folder, _, rest = path.partition("/")
    if path != MAIN_FILE and (folder not in FOLDERS or not rest or ".." in path.split("/") or "\\" in path):
        raise SkillError(f"path must be {MAIN_FILE} or below {', '.join(FOLDERS)}, not {path[:100]!r}")
    return path


def _text(request: Mapping[str, Any], key: str, *, blank: bool = False) -> str:
    value = request.get(key)
    if not isinstance(value, str) or not (value or blank):
        raise SkillError(f"{request.get('action')} needs the text {key}")
    return value
