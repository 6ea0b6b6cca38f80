"""A skill that travels to another process is the same skill there."""

from __future__ import annotations

import json

import pytest

from pytest_skillevo.core.skill import Skill

DOCUMENT = b"\xef\xbb\xbf---\r\nname: demo\r\ndescription: D.\r\n---\r\n# Demo\r\n\r\n## Steps\r\n\r\n1. Look.\r\n"
GROWING = Skill.absent("Demo Skill").with_component("steps", "1. Look.").with_component("description", "D.")


@pytest.mark.parametrize(
    "skill",
    [Skill.from_bytes("folder", DOCUMENT, {"a/b.bin": bytes(range(256))}), Skill.absent("Demo Skill"), GROWING],
    ids=["with files", "absent", "growing"],
)
def test_a_skill_survives_json(skill: Skill) -> None:
    there = Skill.from_json(json.loads(json.dumps(skill.to_json())))
    assert there == skill
    assert (there.components, there.spec, there.document, there.files) == (
        skill.components,
        skill.spec,
        skill.document,
        skill.files,
    )
    changed = [one.with_component("steps", "1. Go on.") for one in (skill, there) if "steps" in one.components]
    assert len({one.digest for one in changed}) <= 1
