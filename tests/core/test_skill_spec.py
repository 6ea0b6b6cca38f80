"""Steps and pitfalls as plain data."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_skillevo.core.skill.spec import bullet_list, numbered_list, read_pitfalls, read_steps


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("1. a\n2. b\n", ("a", "b")),
        ("1) a\n2) b\n10) c", ("a", "b", "c")),
        ("Intro.\n\n1. a\n   - x\n   - y\n2. b\n   more\n", ("a\n- x\n- y", "b\nmore")),
        ("1. a\n\n   second paragraph\n\n2. b\nlazy\n\nClosing words.", ("a\n\nsecond paragraph", "b\nlazy")),
        (
            "1. a\n\n```\n1. no step\n```\n\n2. b\n\n```\nx\n```\n\nEnd.",
            ("a\n\n```\n1. no step\n```", "b\n\n```\nx\n```"),
        ),
        ("1. ```\n   make\n   ```\n2. b", ("```\nmake\n```", "b")),
        ("1. a\n\nBetween.\n\n2. b", ("a\n\nBetween.", "b")),
        ("1. a\n   1. a1\n   2. a2\n2. b", ("a\n1. a1\n2. a2", "b")),
        ("1. a\n  1. a1\n", ("a\n1. a1",)),
        ("### One\n\n1. a\n2. b\n\n### Two\n\n1. c\n", ("a", "b", "c")),
        ("- x\n  1. x1\n- y\n", ("x\n1. x1", "y")),
        ("①a\n② b", ("a", "b")),
        ("1、甲\n2．乙", ("甲", "乙")),
        ("### Step 1: a\n\nmore\n\n#### Detail\n\nx\n\n### Step 2 - b\n", ("a\n\nmore\n\n#### Detail\n\nx", "b")),
        ("### Phase 1\n\na\n\n### Phase 2\n\nb\n\n### Note\n\nc", ("a", "b")),
        ("### 1. a\n- x\n### 2. b\n", ("a\n- x", "b")),
        ("### Step One: a\n### Stage B. b\n### 第三步：c\n### 步骤4：d\n", ("a", "b", "c", "d")),
        ("### 🔍 Step 1: a\n### **Step 2:** b\n", ("a", "b")),
        ("**Step 1: a.** x\n\ny\n\n**Step 2**\n\nz", ("a. x\n\ny", "z")),
        ("* a\n  * a1\n* b\n\nEnd.", ("a\n* a1", "b")),
        ("- [ ] a\n- [x] b", ("[ ] a", "[x] b")),
        ("Just prose. 1. is not a list here.\n\n2024 was a year.", ()),
        ("1.\n2. b\n", ("b",)),
        ("3.5 percent\n1.a\n", ()),
        ("", ()),
    ],
)
def test_steps_are_numbered_items_else_step_headings_else_bullets(text, steps) -> None:
    assert read_steps(text) == steps


@pytest.mark.parametrize(
    ("text", "pitfalls"),
    [
        ("- a\n  more\n- b\n", ("a\nmore", "b")),
        ("1. a\n2. b\n", ("a", "b")),
        ("- a\n  1. a1\n- b", ("a\n1. a1", "b")),
        ("1. a\n   - a1\n2. b", ("a\n- a1", "b")),
        ("### A\n\nx\n\n### B\n\ny", ("A\n\nx", "B\n\ny")),
        ("One.\n\nTwo\nlines.\n\n```\na\n\nb\n```\n", ("One.", "Two\nlines.", "```\na\n\nb\n```")),
        ("", ()),
    ],
)
def test_pitfalls_are_list_items_else_sub_sections_else_paragraphs(text, pitfalls) -> None:
    assert read_pitfalls(text) == pitfalls


ITEMS = st.lists(st.text("ab `.,:()\n", max_size=12).map(lambda text: f"x{text.strip()}z"), max_size=12)


@given(ITEMS)
def test_a_written_list_reads_back(items) -> None:
    assert read_steps(numbered_list(items)) == tuple(items)
    assert read_pitfalls(bullet_list(items)) == tuple(items)
