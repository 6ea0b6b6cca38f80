"""The strict form of documents that this project creates: one layout, so that equal content has equal bytes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Final

from .page import MAX_NAME
from .roles import ROLES, TITLES
from .yamledit import plain_or_quoted

OWN_COMPONENTS: Final = ("description", *ROLES)


def slug(name: str) -> str:
    """The name as the published grammar has it: 1 to 64 of a-z, 0-9, single inner hyphens; "unnamed-skill" if none."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    words = re.sub(r"[^a-z0-9]+", "-", plain)[: 2 * MAX_NAME].strip("-")
    return words[:MAX_NAME].strip("-") or "unnamed-skill"


def render(name: str, components: Mapping[str, str]) -> str:
    """A document from components in normal form; a section appears when it has text."""
    lines = [
        "---",
        f"name: {plain_or_quoted(slug(name))}",
        f"description: {plain_or_quoted(components['description'])}",
        "---",
    ]
    lines += ["", f"# {_title(name)}"]
    for role in ROLES:
        if components[role]:
            lines += ["", f"## {TITLES[role]}", "", components[role]]
    return "\n".join(lines) + "\n"


def _title(name: str) -> str:
    """The heading: a name in the grammar as words, any other as it was given."""
    words = " ".join(name.split())
    if words == slug(name):
        words = words.replace("-", " ")
        return words[0].upper() + words[1:]
    return words.replace("#", "").strip() or slug(name)
