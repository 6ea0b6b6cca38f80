"""Headings, code and the roles that headings play."""

from __future__ import annotations

import pytest

from pytest_skillevo.core.skill import Skill, normal_block
from pytest_skillevo.core.skill.markdown import scan, split_lines
from pytest_skillevo.core.skill.roles import find_roles


def headings(text: str) -> list[tuple[int, str]]:
    return [(heading.level, heading.title) for heading in scan(split_lines(text)).headings]


def components(body: str) -> dict[str, str]:
    return dict(Skill.from_bytes("x", body.encode()).components)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("# A\n## B ##\n### C#\n#\n", [(1, "A"), (2, "B"), (3, "C#"), (1, "")]),
        ("#A\n####### B\n    # C\n\\# D\n", []),
        ("   ## A\r\n##\tB\r", [(2, "A"), (2, "B")]),
        ("A\n===\n\nB\n---\n", [(1, "A"), (2, "B")]),
        ("- A\n---\n\n> B\n---\n\n| c |\n---\n\nd\ne\n---\n\n---\n---\n", []),
        ("# A\n---\n", [(1, "A")]),
        ("```\n# A\n```\n# B\n", [(1, "B")]),
        ("~~~\n```\n# A\n~~~\n# B\n", [(1, "B")]),
        ("````\n```\n# A\n````\n# B\n", [(1, "B")]),
        ("```\n# A\n    ```\n# B\n```\n# C\n", [(1, "C")]),
        ("``` a`b\n# A\n", [(1, "A")]),
        ("```\n# A\n", []),
        ("- ```\n  # A\n  ```\n# B\n", [(1, "B")]),
        ("1. x\n\n      ```\n# A\n      ```\n# B\n", [(1, "B")]),
        ("1. x\n\n      ```\n# A\n", [(1, "A")]),
        ("<!-- # A\n# B -->\n# C\n", [(1, "C")]),
        ("<!-- a --> \n# B\n", [(1, "B")]),
        ("<!--\n# A\n", []),
    ],
)
def test_headings_are_those_outside_code_and_comments(text, found) -> None:
    assert headings(text) == found


def test_only_lf_cr_and_crlf_end_a_line() -> None:
    text = "a\x0bb\x0cc\x85d\u2028e\r\nf\rg\n\nh"
    assert split_lines(text) == ["a\x0bb\x0cc\x85d\u2028e\r\n", "f\r", "g\n", "\n", "h"]


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("\n \n  a \r\n\r\nb\t\n \n", "  a \n\nb\t"),
        ("a\n\n---\n\n***\n", "a"),
        ("a\n---\n", "a\n---"),
        ("---\n\na", "---\n\na"),
        ("\n- - -\n", ""),
        ("", ""),
    ],
)
def test_the_normal_form_has_no_blank_lines_at_its_edges_and_no_rule_at_its_end(text, normal) -> None:
    assert normal_block(text) == normal
    assert normal_block(normal) == normal


WORDINGS = {
    "when_to_use": """
        When to use | When to Use This Skill | When To Apply | When should I use this? | Use when | When to activate
        Use this skill when | When to invoke the skill | When to use / when not to use | When to reach for it
        When this skill applies | Triggers | Trigger conditions | Activation | Use cases | Usage Scenarios
        🎯 When to use | **When to use:** | 1. When to Use | When to use (and why) | 何时使用 | 使用场景
        When to use the recipe skill | Applicability""",
    "steps": """
        Steps | The steps | Step-by-step | Step by step guide | Steps to follow | Procedure | Workflow | Core Workflow
        Process | The Process | Instructions | Instructions for Claude | Execution steps | Methodology | How to use
        What to do | ⚙️ Workflow | 2. Workflow | Review process | Playbook | 操作步骤 | 工作流程
        Procedure for refunds""",
    "pitfalls": """
        Pitfalls | Common Pitfalls | Pitfalls to avoid | Gotchas | Common mistakes | Anti-patterns | Red Flags
        Red flags - STOP | What not to do | Don'ts | Troubleshooting | Common issues | Caveats | 常见错误 | 注意事项""",
    "": """
        When not to use | When to use Redis or Postgres in production | Overview | Next steps | Installation steps
        Setup instructions | Step 1: Look | Steps to reproduce | Examples | References | Output format | Notes | Usage
        Quick start | 🎯""",
}


def titles(role: str) -> list[str]:
    return [title.strip() for line in WORDINGS[role].strip().split("\n") for title in line.split("|")]


@pytest.mark.parametrize("role", ["when_to_use", "steps", "pitfalls"])
def test_a_role_is_recognised_in_many_wordings(role) -> None:
    assert [title for title in titles(role) if find_roles([title]) != {role: 0}] == []


def test_other_headings_play_no_role() -> None:
    assert [title for title in [*titles(""), "", "x " * 60] if find_roles([title])] == []


def test_the_surest_wording_decides() -> None:
    found = ["Review process", "Triggers", "Instructions", "Caveats", "When to use", "Steps", "Gotchas"]
    assert find_roles(found) == {"when_to_use": 4, "steps": 5, "pitfalls": 6}


def test_two_equally_sure_step_sections_are_none() -> None:
    assert find_roles(["When to use", "Steps", "Steps", "Procedure"]) == {"when_to_use": 0}
    assert find_roles(["Pitfalls", "Common pitfalls"]) == {"pitfalls": 0}


def test_a_document_with_steps_alone_is_free_form() -> None:
    skill = Skill.from_bytes("x", b"# T\n\n## Steps\n\n1. a\n")
    assert skill.spec is None
    assert list(skill.components) == ["description", "section:steps"]


def test_roles_count_only_at_one_level() -> None:
    assert "steps" not in components("# T\n## When to use\nNow.\n## Rest\n### Steps\n1. a\n")
    assert components("# T\n## Overview\n### When to use\nNow.\n### Steps\n1. a\n")["steps"] == "1. a"


def test_deeper_headings_belong_to_their_section() -> None:
    found = components("# T\n\n## A\n\na\n\n### A1\n\nb\n\n# B\n\nc\n\n### B1\n")
    assert found == {"description": "", "section:a": "a\n\n### A1\n\nb", "section:b": "c\n\n### B1"}


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("", ["preamble"]),
        ("text", ["preamble"]),
        ("# T\n", ["preamble"]),
        ("## A\n", ["section:a"]),
        ("# A\n# B\n", ["section:a", "section:b"]),
        ("# T\n### A\n### B\n", ["section:a", "section:b"]),
        ("intro\n\n# T\n\n## A\n", ["preamble", "section:a"]),
        ("# T\nintro\n### deep\n## A\n", ["preamble", "section:a"]),
        ("## A b, c!\n## a-b C\n##\n", ["section:a-b-c", "section:a-b-c-2", "section:untitled"]),
    ],
)
def test_free_form_documents_have_one_component_a_section(body, names) -> None:
    assert list(components(body)) == ["description", *names]


def test_text_above_the_title_makes_the_title_part_of_the_preamble() -> None:
    assert components("intro\n\n# T\n\nmore\n\n## A\n")["preamble"] == "intro\n\n# T\n\nmore"
