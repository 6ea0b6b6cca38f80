"""The Skill: bytes in, bytes out, and one component at a time."""

from __future__ import annotations

import base64
import difflib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from ..canonical import digest, digest_json
from ..errors import SkillError
from .folder import MAIN_FILE, check_files, read_folder, write_folder
from .markdown import common_newline, is_blank, normal_block, scan, split_lines, universal
from .outline import PREAMBLE, Outline, outline
from .own import OWN_COMPONENTS, render, slug
from .page import Page, decode, notes, parse
from .spec import SkillSpec, bullet_list, numbered_list, spec_of
from .yamledit import plain_or_quoted, with_value

_NO_FILES: Final[Mapping[str, bytes]] = MappingProxyType({})


@dataclass(frozen=True, eq=False, repr=False)
class Skill:
    """One version of a skill: SKILL.md and its supporting files, immutable. Made by load, from_bytes, absent or create.

    Texts of components are in normal form: LF line ends, no blank lines at the edges and no rule at the end (for the
    description: no space at the edges), no final line end. What `skill.with_component(name, text).components[name]`
    gives back is the normal form of `text`.
    """

    #: The frontmatter's name, else the folder's.
    name: str
    #: SKILL.md, the exact bytes; empty for a skill that does not exist yet.
    document: bytes
    #: Supporting files by POSIX relative path, without SKILL.md.
    files: Mapping[str, bytes]
    #: "path:line: sentence" for what was read leniently.
    warnings: tuple[str, ...]
    #: False for Skill.absent(name).
    exists: bool
    _page: Page
    #: The folder's name; of a growing skill the name as it was given, which becomes the title.
    _folder: str
    _where: str
    #: The components of a skill that grows out of nothing, whose missing sections are empty; None for any other.
    _grown: Mapping[str, str] | None = None

    @classmethod
    def load(cls, folder: Path) -> Skill:
        """The skill in a folder. Raises SkillError with file and line when it cannot be used."""
        folder = Path(folder)
        files = read_folder(folder)
        document = files.pop(MAIN_FILE)
        name = folder.name or folder.resolve().name
        return cls.from_bytes(name, document, files, where=str(folder / MAIN_FILE))

    @classmethod
    def from_bytes(
        cls, name: str, document: bytes, files: Mapping[str, bytes] = _NO_FILES, *, where: str = MAIN_FILE
    ) -> Skill:
        """The skill of these bytes. `name` is the folder's name, `where` the file's in messages. Raises SkillError."""
        return cls._make(name, document, files, where, None)

    @classmethod
    def absent(cls, name: str) -> Skill:
        """A skill that does not exist yet: all components are empty, and filling them makes a strict document grow.

        As long as it grows, equal components give equal bytes, whatever the order in which they were filled. Read back
        from its bytes, it is free-form until it has both when-to-use and steps.
        """
        empty = Page("", "", "", "", 0, 0, None, None)
        grown = MappingProxyType(dict.fromkeys(OWN_COMPONENTS, ""))
        return cls(slug(name), b"", _NO_FILES, (), False, empty, name, MAIN_FILE, grown)

    @classmethod
    def create(cls, spec: SkillSpec) -> Skill:
        """A new skill in the strict form: numbered steps, bulleted pitfalls. Raises SkillError."""
        skill = cls.absent(spec.name)
        texts = (spec.description, spec.when_to_use, numbered_list(spec.steps), bullet_list(spec.pitfalls))
        for name, text in zip(OWN_COMPONENTS, texts, strict=True):
            skill = skill.with_component(name, text)
        return skill

    @classmethod
    def _make(
        cls, folder: str, document: bytes, files: Mapping[str, bytes], where: str, grown: Mapping[str, str] | None
    ) -> Skill:
        check_files({MAIN_FILE: document, **files}, where)
        if MAIN_FILE in files:
            raise SkillError(f"{where}: {MAIN_FILE} is given twice, as the document and among the files")
        page = parse(decode(document, where), where)
        entry = page.fields.get("name") if page.fields else None
        name = page.value("name") if entry and isinstance(entry.value, str) else ""
        warnings = tuple(f"{where}:{line}: {text}." for line, text in sorted(notes(page, folder)))
        kept = MappingProxyType(dict(sorted(files.items())))
        return cls(name or folder, document, kept, warnings, True, page, folder, where, grown)

    @property
    def text(self) -> str:
        """SKILL.md as text, without a byte order mark, line ends as they are."""
        return self._page.text

    @property
    def body(self) -> str:
        """The text below the frontmatter, line ends as they are."""
        return self._page.body

    @property
    def description(self) -> str:
        """The frontmatter's description in normal form, "" if there is none."""
        return self._page.value("description")

    @cached_property
    def digest(self) -> str:
        """SHA-256 over paths and contents of all files, equal on every platform; of an absent skill, over its name."""
        if not self.exists:
            return digest_json({"absent": self.name})
        contents = {MAIN_FILE: self.document, **self.files}
        return digest_json({"files": {path: digest(data) for path, data in contents.items()}})

    @cached_property
    def components(self) -> Mapping[str, str]:
        """Text by component name: description, when_to_use, steps, pitfalls (structured only), preamble, section:..."""
        if self._grown is not None:
            return self._grown
        return MappingProxyType(self._read_components())

    @cached_property
    def spec(self) -> SkillSpec | None:
        """The structured view, None for a free-form skill. Of a skill that still grows, missing parts are empty."""
        return spec_of(self.name, self.components) if self._outline.structured else None

    @cached_property
    def _outline(self) -> Outline:
        return outline(split_lines(self.body), own=self._grown is not None)

    def _read_components(self) -> dict[str, str]:
        """The components as they stand in the bytes."""
        return {"description": self.description, **self._outline.texts}

    def with_component(self, name: str, text: str) -> Skill:
        """The skill with another text for one component; only that component's bytes change.

        Returns the skill itself when the normal form of the text is what the component holds already. Raises SkillError
        for an unknown component and for a text that the component cannot hold.
        """
        self._check_name(name)
        new = _normal_form(name, text, self._where)
        if new == self.components.get(name, ""):
            return self
        if name != "description":
            self._check_block(name, new)
        child = self._grow(name, new) if self._grown is not None else self._edit(name, new)
        self._check_child(child, name, new)
        return child

    def to_json(self) -> dict[str, Any]:
        """A JSON object for another process; file contents in base64."""
        return {
            "folder": self._folder,
            "where": self._where,
            "document": _base64(self.document) if self.exists else None,
            "files": {path: _base64(data) for path, data in self.files.items()},
            "grown": None if self._grown is None else dict(self._grown),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Skill:
        """The inverse of to_json; the result is equal in every respect, also as a skill that still grows."""
        folder = data["folder"]
        if data["document"] is None:
            return cls.absent(folder)
        grown = data["grown"]
        files = {path: base64.b64decode(text) for path, text in data["files"].items()}
        where, document = data["where"], base64.b64decode(data["document"])
        if grown is None:
            return cls._make(folder, document, files, where, None)
        skill = cls._make(slug(folder), document, files, where, MappingProxyType(dict(grown)))
        return replace(skill, _folder=folder)

    def write(self, folder: Path) -> None:
        """Write all files into the folder, SKILL.md last, each atomically; others there stay. Raises SkillError."""
        if not self.exists:
            raise SkillError(f"the skill '{self.name}' does not exist yet: there is nothing to write to {folder}")
        write_folder(Path(folder), {**self.files, MAIN_FILE: self.document})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Skill):
            return NotImplemented
        return self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    def __repr__(self) -> str:
        return f"Skill({self.name!r}, {'digest' if self.exists else 'absent'} {self.digest[:12]})"

    @property
    def _identity(self) -> tuple[str, str, tuple[str, ...]]:
        return self.name, self.digest, tuple(self.components)

    def _grow(self, name: str, text: str) -> Skill:
        grown = MappingProxyType({**self.components, name: text})
        if not any(grown.values()):
            return Skill.absent(self._folder)
        child = self._make(self.name, render(self._folder, grown).encode(), self.files, self._where, grown)
        return replace(child, _folder=self._folder)

    def _edit(self, name: str, text: str) -> Skill:
        newline = common_newline(self.text)
        if name == "description":
            whole = self._with_description(text, newline)
        else:
            lines = self._outline.replaced(name, text, newline)
            whole = self._page.with_body("".join(lines), newline)
        return self.from_bytes(self._folder, whole.encode("utf-8"), self.files, where=self._where)

    def _with_description(self, text: str, newline: str) -> str:
        page = self._page
        if page.fields is not None:
            yaml = with_value(page.yaml, page.fields, "description", text, newline)
            if yaml is None:
                raise self._refusal("description", "the frontmatter has no place for it; write one there by hand once")
            return page.with_yaml(yaml)
        lines = ["---", f"name: {plain_or_quoted(self.name)}", f"description: {plain_or_quoted(text)}", "---"]
        gap = newline if page.body and not is_blank(split_lines(page.body)[0]) else ""
        return page.bom + newline.join(lines) + newline + gap + page.body

    def _check_name(self, name: str) -> None:
        if name in self.components or (name == PREAMBLE and self._grown is None):
            return
        near = difflib.get_close_matches(name, self.components, n=1, cutoff=0.5)
        hint = f"Did you mean '{near[0]}'?" if near else f"It has {', '.join(self.components)}."
        raise SkillError(f"{self._where}: the skill '{self.name}' has no component '{name}'. {hint}")

    def _check_block(self, name: str, text: str) -> None:
        """Refuse, with the reason, what is known to spill out of a section."""
        found = scan(split_lines(text))
        level = self._outline.level
        if heading := next((heading for heading in found.headings if heading.level <= level), None):
            deeper = "#" * min(level + 1, 6)
            reason = f"its heading '{heading.title}' would start a section of its own: use '{deeper}' or plain text"
            raise self._refusal(name, reason)
        if found.unclosed:
            raise self._refusal(name, f"{found.unclosed} in it is never closed and would swallow what follows")

    def _check_child(self, child: Skill, name: str, text: str) -> None:
        """Refuse an edit that reads back as anything but this component changed."""
        before, after = {**self.components, name: text}, child._read_components()
        for components in (before, after):  # an empty preamble is not always listed
            if not components.get(PREAMBLE):
                components.pop(PREAMBLE, None)
        if before != after or child.name != self.name:
            raise self._refusal(name, "in its place it would change other parts of the document")

    def _refusal(self, name: str, reason: str) -> SkillError:
        return SkillError(f"{self._where}: the component '{name}' of '{self.name}' cannot hold this text: {reason}")


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _normal_form(name: str, text: str, where: str) -> str:
    problem = "a NUL character" if "\0" in text else ""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        problem = "half a character (a lone surrogate)"
    if problem:
        raise SkillError(f"{where}: the component '{name}' cannot hold {problem}")
    return universal(text).strip(" \t\n") if name == "description" else normal_block(text)
