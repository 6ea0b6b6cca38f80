"""The Skill itself: reading, one component at a time, growing from nothing."""

from __future__ import annotations

import itertools
import subprocess
import sys

import pytest

from pytest_skillevo.core.errors import SkillError
from pytest_skillevo.core.skill import Skill, SkillSpec, slug

DOCUMENT = """\
---
name: recipe
description: Cook.
---

# Recipe

Intro.

## When to use

When hungry.

## Steps

1. Read.
2. Cook.

## Notes

Enjoy.
"""


def recipe(text: str = DOCUMENT, **files: bytes) -> Skill:
    return Skill.from_bytes("recipe", text.encode(), files)


def test_a_structured_document_has_four_components_first_and_then_its_other_sections() -> None:
    skill = recipe()
    assert dict(skill.components) == {
        "description": "Cook.",
        "when_to_use": "When hungry.",
        "steps": "1. Read.\n2. Cook.",
        "pitfalls": "",
        "preamble": "Intro.",
        "section:notes": "Enjoy.",
    }
    assert list(skill.components)[:4] == ["description", "when_to_use", "steps", "pitfalls"]
    assert skill.spec == SkillSpec("recipe", "Cook.", "When hungry.", ("Read.", "Cook."), ())
    assert (skill.name, skill.description, skill.exists, skill.warnings) == ("recipe", "Cook.", True, ())
    assert skill.text == DOCUMENT
    assert skill.body == DOCUMENT.split("---\n")[2]


def test_changing_the_steps_changes_nothing_else() -> None:
    child = recipe().with_component("steps", "1. Read twice.\n2. Cook.")
    assert child.text == DOCUMENT.replace("1. Read.", "1. Read twice.")


def test_new_pitfalls_become_a_section_after_the_steps() -> None:
    child = recipe().with_component("pitfalls", "- Salt.")
    assert child.text == DOCUMENT.replace("## Notes", "## Pitfalls\n\n- Salt.\n\n## Notes")
    assert list(child.components) == list(recipe().components)


def test_new_pitfalls_at_the_end_of_a_file_without_final_newline_start_on_a_line_of_their_own() -> None:
    text = "# T\r\n\r\n## When to use\r\n\r\nNow.\r\n\r\n## Steps\r\n\r\n1. a"
    child = recipe(text).with_component("pitfalls", "- b\n- c")
    assert child.text == text + "\r\n\r\n## Pitfalls\r\n\r\n- b\r\n- c\r\n"


def test_new_pitfalls_take_the_heading_level_of_the_steps() -> None:
    child = recipe("## Recipe\n### When to use\nNow.\n### Steps\n1. a\n").with_component("pitfalls", "- b")
    assert child.text.endswith("1. a\n\n### Pitfalls\n\n- b\n")


def test_a_section_without_text_is_filled_below_its_heading() -> None:
    skill = recipe("## When to use\n## Steps\n\n\n## Notes")
    assert skill.with_component("when_to_use", "Now.").text == "## When to use\n\nNow.\n\n## Steps\n\n\n## Notes"
    assert skill.with_component("steps", "1. a").text == "## When to use\n## Steps\n\n1. a\n\n## Notes"
    assert skill.with_component("section:notes", "x").text == "## When to use\n## Steps\n\n\n## Notes\n\nx\n"


def test_a_rule_that_closes_a_section_stays_when_the_section_changes() -> None:
    text = "## A\n\nOld.\n\n---\n\n## B\n\n---\n\n## C\n\nEnd.\n"
    skill = recipe(text)
    assert skill.components["section:a"] == "Old."
    assert skill.with_component("section:a", "New.\n\n---").text == text.replace("Old", "New")
    assert skill.with_component("section:b", "Filled.").text == text.replace("## B\n", "## B\n\nFilled.\n")


def test_a_component_can_be_emptied() -> None:
    child = recipe().with_component("steps", "")
    assert child.components["steps"] == ""
    assert child.spec is not None
    assert "## Steps\n\n\n## Notes" in child.text
    assert child.with_component("steps", "1. Read.\n2. Cook.").components == recipe().components


def test_an_emptied_preamble_can_be_filled_again() -> None:
    child = recipe().with_component("preamble", "")
    assert "preamble" not in child.components
    assert child.with_component("preamble", "Intro.").document == recipe().document


def test_new_lines_get_the_line_ends_of_the_document() -> None:
    skill = recipe(DOCUMENT.replace("\n", "\r\n"))
    child = skill.with_component("steps", "1. a\n2. b\r\n3. c")
    assert child.text == DOCUMENT.replace("1. Read.\n2. Cook.", "1. a\n2. b\n3. c").replace("\n", "\r\n")
    assert child.components["steps"] == "1. a\n2. b\n3. c"


def test_a_byte_order_mark_stays_and_is_no_part_of_the_text() -> None:
    skill = Skill.from_bytes("recipe", b"\xef\xbb\xbf" + DOCUMENT.encode())
    assert skill.text == DOCUMENT
    child = skill.with_component("steps", "1. a").with_component("description", "Bake.")
    assert child.document.startswith(b"\xef\xbb\xbf---\nname: recipe\ndescription: Bake.\n")


def test_an_equal_text_returns_the_skill_itself() -> None:
    skill = recipe()
    assert skill.with_component("steps", "\n\n1. Read.\r\n2. Cook.\n") is skill
    assert skill.with_component("description", "  Cook.\n") is skill


@pytest.mark.parametrize(
    ("component", "text", "reason"),
    [
        ("steps", "1. a\n\n## More\n\nb", "its heading 'More' would start a section of its own: use '###'"),
        ("steps", "# Big", "its heading 'Big' would start a section of its own"),
        ("steps", "More\n----\nb", "its heading 'More' would start a section of its own"),
        ("steps", "```\nmake", "a code fence in it is never closed"),
        ("section:notes", "~~~\nmake\n```", "a code fence in it is never closed"),
        ("section:notes", "<!-- hidden", "an HTML comment in it is never closed"),
        ("steps", "a\0b", "cannot hold a NUL character"),
        ("description", "a\ud800b", "cannot hold half a character"),
    ],
)
def test_a_text_that_the_component_cannot_hold_is_refused_with_the_reason(component, text, reason) -> None:
    with pytest.raises(SkillError, match=r"^SKILL\.md: ") as caught:
        recipe().with_component(component, text)
    assert reason in str(caught.value)


def test_deeper_headings_and_headings_in_code_are_held() -> None:
    text = "### Step 1\n\n```\n# not a heading\n```\n\n### Step 2\n\nb"
    assert recipe().with_component("steps", text).components["steps"] == text


def test_a_nested_fence_that_would_pair_with_a_later_one_is_refused() -> None:
    later = recipe(DOCUMENT + "\n- more\n\n      ```\n      a\n      ```\n")
    with pytest.raises(SkillError, match="it would change other parts of the document"):
        later.with_component("steps", "- a\n\n      ```\n      b")


def test_a_preamble_that_would_turn_into_frontmatter_is_refused() -> None:
    with pytest.raises(SkillError, match="it would change other parts of the document"):
        recipe("Text.\n").with_component("preamble", "---\nname: evil\n---\nText.")


def test_an_edit_that_would_turn_a_section_into_the_title_is_refused() -> None:
    with pytest.raises(SkillError, match="it would change other parts of the document"):
        recipe("## Note\n# Recipe\n").with_component("preamble", "")


def test_growing_sections_that_would_swallow_each_other_are_refused() -> None:
    growing = Skill.absent("x").with_component("when_to_use", "    ```")
    with pytest.raises(SkillError, match="it would change other parts of the document"):
        growing.with_component("steps", "    ```")


def test_an_unknown_component_is_refused_with_a_suggestion() -> None:
    with pytest.raises(SkillError, match=r"the skill 'recipe' has no component 'step'\. Did you mean 'steps'\?"):
        recipe().with_component("step", "x")
    with pytest.raises(SkillError, match="It has description, when_to_use, steps, pitfalls, preamble, section:notes"):
        recipe().with_component("zzz", "x")
    with pytest.raises(SkillError, match="has no component 'preamble'"):
        Skill.absent("recipe").with_component("preamble", "x")


def test_supporting_files_stay_with_the_skill() -> None:
    skill = Skill.from_bytes("recipe", DOCUMENT.encode(), {"b.md": b"2", "a/x.md": b"1"})
    assert list(skill.files) == ["a/x.md", "b.md"]
    assert skill.with_component("steps", "1. a").files == skill.files


def test_a_skill_cannot_be_changed_in_place() -> None:
    source = {"a": b"1"}
    skill = Skill.from_bytes("recipe", DOCUMENT.encode(), source)
    source["a"] = b"2"
    assert skill.files["a"] == b"1"
    with pytest.raises(TypeError):
        skill.files["a"] = b"3"
    with pytest.raises(TypeError):
        skill.components["steps"] = "x"
    with pytest.raises(AttributeError):
        skill.name = "other"


def test_skills_of_equal_content_are_equal() -> None:
    assert recipe() == recipe()
    assert hash(recipe()) == hash(recipe())
    assert recipe() != recipe().with_component("steps", "1. x")
    assert recipe() != "recipe"
    assert repr(recipe()) == f"Skill('recipe', digest {recipe().digest[:12]})"


def test_without_frontmatter_a_description_adds_one() -> None:
    skill = Skill.from_bytes("My Folder", b"# T\r\n\r\nText.\r\n")
    child = skill.with_component("description", "What: it does")
    head = b'---\r\nname: My Folder\r\ndescription: "What: it does"\r\n---\r\n\r\n'
    assert child.document == head + skill.document
    assert (child.name, child.description) == ("My Folder", "What: it does")


# --- a skill that does not exist yet ---


def test_an_absent_skill_has_four_empty_components_and_no_bytes() -> None:
    skill = Skill.absent("recipe-cookbook")
    assert dict(skill.components) == {"description": "", "when_to_use": "", "steps": "", "pitfalls": ""}
    assert (skill.name, skill.exists, skill.document) == ("recipe-cookbook", False, b"")
    assert (skill.text, skill.body, dict(skill.files)) == ("", "", {})
    assert skill.spec == SkillSpec("recipe-cookbook", "", "", (), ())
    assert skill.digest == Skill.absent("recipe-cookbook").digest != Skill.absent("other").digest
    assert skill.digest != Skill.from_bytes("recipe-cookbook", b"").digest
    assert repr(skill).startswith("Skill('recipe-cookbook', absent ")


def test_an_absent_skill_grows_into_a_strict_document() -> None:
    skill = Skill.absent("recipe-cookbook")
    parts = {"pitfalls": "- Salt.", "steps": "1. Cook.", "description": "Cook: well.", "when_to_use": "When hungry."}
    for name, text in parts.items():
        skill = skill.with_component(name, text)
        assert skill.exists
    assert skill.text == (
        '---\nname: recipe-cookbook\ndescription: "Cook: well."\n---\n\n# Recipe cookbook\n\n'
        "## When to use\n\nWhen hungry.\n\n## Steps\n\n1. Cook.\n\n## Pitfalls\n\n- Salt.\n"
    )
    assert skill.warnings == ()
    assert skill == Skill.from_bytes("recipe-cookbook", skill.document)


def test_a_growing_skill_has_its_four_components_from_the_first_one_on() -> None:
    skill = Skill.absent("x").with_component("steps", "1. a")
    assert skill.text == '---\nname: x\ndescription: ""\n---\n\n# X\n\n## Steps\n\n1. a\n'
    assert skill.components["steps"] == "1. a"
    assert list(skill.components) == ["description", "when_to_use", "steps", "pitfalls"]
    assert skill.spec == SkillSpec("x", "", "", ("a",), ())


def test_a_growing_skill_has_equal_bytes_whatever_the_order() -> None:
    parts = [("description", "d"), ("when_to_use", "w"), ("steps", "1. s"), ("pitfalls", "- p")]
    grown = set()
    for order in itertools.permutations(parts):
        skill = Skill.absent("x")
        for name, text in order:
            skill = skill.with_component(name, "a detour").with_component(name, text)
        grown.add(skill.document)
    assert len(grown) == 1


def test_a_growing_skill_that_is_emptied_is_absent_again() -> None:
    skill = Skill.absent("x").with_component("steps", "1. a").with_component("steps", "")
    assert skill == Skill.absent("x")
    assert not skill.exists


def test_a_grown_skill_that_was_loaded_changes_as_the_growing_one_does() -> None:
    growing = Skill.absent("x").with_component("when_to_use", "w").with_component("steps", "1. s")
    loaded = Skill.from_bytes("x", growing.document)
    for name, text in [("pitfalls", "- p"), ("steps", "1. s\n2. t"), ("description", "d # e")]:
        growing, loaded = growing.with_component(name, text), loaded.with_component(name, text)
        assert growing.document == loaded.document


def test_a_growing_skill_refuses_what_any_skill_refuses() -> None:
    with pytest.raises(SkillError, match="would start a section of its own"):
        Skill.absent("x").with_component("steps", "## Steps\n\n1. a")


@pytest.mark.parametrize(
    ("name", "identifier", "heading"),
    [
        ("Bay / Log!", "bay-log", "# Bay / Log!"),
        ("café_tools", "cafe-tools", "# café_tools"),
        ("天气", "unnamed-skill", "# 天气"),
        ("123", "123", "# 123"),
        ("x" * 80, "x" * 64, "# " + "x" * 80),
        ("##", "unnamed-skill", "# unnamed-skill"),
    ],
)
def test_a_name_outside_the_grammar_gives_a_slug_and_a_heading(name, identifier, heading) -> None:
    skill = Skill.absent(name).with_component("steps", "1. a").with_component("description", "d")
    assert skill.warnings == ()
    assert skill.name == slug(name) == identifier
    assert heading in skill.text.split("\n")
    assert Skill.from_bytes(identifier, skill.document).name == identifier


def test_a_skill_is_created_from_a_spec() -> None:
    steps = ("Open it.\nAll of it.", "Search.")
    spec = SkillSpec("log-reader", "Read logs.", "When a build fails.", steps, ("Colours.",))
    skill = Skill.create(spec)
    assert skill.spec == spec
    assert "1. Open it.\n   All of it.\n2. Search.\n" in skill.text
    assert "- Colours.\n" in skill.text
    assert skill.warnings == ()


def test_yaml_is_imported_only_when_a_frontmatter_is_read() -> None:
    code = (
        "import sys; from pytest_skillevo.core.skill import Skill; "
        "Skill.from_bytes('x', b'# T'); assert 'yaml' not in sys.modules; "
        "Skill.from_bytes('x', b'---\\nname: x\\n---\\n'); assert 'yaml' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
