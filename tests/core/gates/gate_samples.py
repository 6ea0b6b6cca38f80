"""Skills and candidates that the tests of the gates share."""

from __future__ import annotations

from typing import Any

from pytest_skillevo.core.gates.records import Candidate
from pytest_skillevo.core.revisions import Action
from pytest_skillevo.core.skill import Skill, SkillSpec

SPEC = SkillSpec(
    "ledger-export", "Reconciles ledger rows.", "Month-end close.", ("Pull the export.", "Match rows."), ()
)

FREE_FORM = """\
---
name: free
description: Explains things.
---

# Free

Some words about it.
"""


def created(**changes: Any) -> Candidate:
    """A new skill by the Reviewer; `changes` are fields of the spec."""
    values = {name: getattr(SPEC, name) for name in SPEC.__slots__} | changes
    return Candidate(Action.CREATE, values["name"], Skill.create(SkillSpec(**values)), "reviewer")


def written(text: str, files: dict[str, bytes] | None = None, parent: Skill | None = None) -> Candidate:
    """A skill with this SKILL.md, as somebody hands it in."""
    skill = Skill.from_bytes("free", text.encode(), files or {})
    action = Action.CREATE if parent is None else Action.UPDATE
    return Candidate(action, skill.name, skill, "submission", parent)
