"""Whether a skill folder follows the Agent Skills format (spec/ecosystem.md 3.2).

An error is what real clients cannot load at all; whatever they accept is a warning at most, however the published text
puts it. Both say what to do.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from ..core.errors import SkillError
from ..core.skill import Skill
from ..core.skill.folder import MAIN_FILE as MAIN

ERROR: Final = "error"
WARNING: Final = "warning"

#: Recommended by the published format.
MAX_LINES: Final = 500
MAX_TOKENS: Final = 5_000
#: Characters of one token, on average over English text and code.
_PER_TOKEN: Final = 4

_LINK: Final = re.compile(r"\]\(\s*<?([^)>\s]+)>?(?:\s+[\"'(][^)]*)?\)")
_REMOTE: Final = re.compile(r"[a-z][a-z0-9+.-]*:|//|#", re.IGNORECASE)
_PLACED: Final = re.compile(r"(?P<path>.*?):(?P<line>\d+): (?P<text>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing about a skill. `line` is None where it is about no line."""

    severity: str
    path: str
    line: int | None
    message: str

    def to_json(self) -> dict[str, Any]:
        """A JSON object with all fields."""
        return {"severity": self.severity, "path": self.path, "line": self.line, "message": self.message}


def validate(folder: Path) -> tuple[Finding, ...]:
    """What is to be said about the skill in a folder, errors first."""
    try:
        skill = Skill.load(folder)
    except SkillError as error:
        return (_placed(ERROR, str(error), folder),)
    found = [_placed(WARNING, text, folder) for text in skill.warnings]
    found += [Finding(WARNING, MAIN, line, message) for line, message in _advice(folder, skill)]
    return tuple(sorted(found, key=lambda one: (one.path, one.line or 0, one.message)))


def _advice(folder: Path, skill: Skill) -> Iterator[tuple[int | None, str]]:
    lines = skill.text.splitlines()
    if not skill.body.strip():
        yield len(lines) or 1, "there is nothing below the frontmatter: an agent that loads the skill learns nothing"
    if len(lines) > MAX_LINES:
        yield None, f"SKILL.md has {len(lines)} lines; over {MAX_LINES}, move details into files that it refers to"
    tokens = len(skill.body) // _PER_TOKEN
    if tokens > MAX_TOKENS:
        yield None, f"the body has about {tokens} tokens; over {MAX_TOKENS}, move details into files that it refers to"
    yield from _links(skill, lines)
    if os.name == "posix":
        for path, content in skill.files.items():
            if content.startswith(b"#!") and not os.access(folder / path, os.X_OK):
                yield None, f"{path} begins with #! but may not be executed: chmod +x it"


def _links(skill: Skill, lines: list[str]) -> Iterator[tuple[int | None, str]]:
    fenced = False
    for number, line in enumerate(lines, 1):
        fenced ^= line.lstrip().startswith(("```", "~~~"))
        for target in () if fenced else _LINK.findall(line):
            path = unquote(target).partition("#")[0].removeprefix("./")
            if _REMOTE.match(target) or not path:
                continue
            if path.startswith("/") or "\\" in path or ".." in path.split("/"):
                yield number, f"the link to {path!r} leaves the skill's folder: refer to files by relative paths in it"
            elif path not in skill.files and not any(other.startswith(f"{path.rstrip('/')}/") for other in skill.files):
                yield number, f"the link to {path!r} leads nowhere: there is no such file in the folder"
            elif path.count("/") > 1:
                yield number, f"{path!r} is more than one folder deep; agents find files next to SKILL.md more surely"


def _placed(severity: str, text: str, folder: Path) -> Finding:
    match = _PLACED.match(text)
    if match is None:
        return Finding(severity, ".", None, text.removeprefix(f"{folder}: "))
    path = Path(match["path"])
    inside = path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.as_posix()
    return Finding(severity, inside, int(match["line"]), match["text"])
