"""Reading the sections of a prompt: <tag> on a line of its own, JSON or a word, </tag> on a line of its own."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from ...core.records import Message


def section(text: str, tag: str) -> str | None:
    """The text between <tag> and </tag>, or None. Untrusted text cannot hold a tag, since its "<" is escaped."""
    match = re.search(rf"<{tag}>\s*(.*?)\s*</{tag}>", text, re.DOTALL)
    return None if match is None else match[1]


def json_section(text: str, tag: str, default: Any) -> Any:
    """The JSON value of a section; the default if the section is missing or is of another type."""
    found = section(text, tag)
    try:
        value = json.loads(found) if found else default
    except (ValueError, RecursionError):
        return default
    return value if isinstance(value, type(default)) else default


def last_user(messages: Sequence[Message]) -> str:
    """The last user message."""
    return next((str(m.get("content") or "") for m in reversed(messages) if m.get("role") == "user"), "")
