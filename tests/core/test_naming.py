from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_skillevo.core.naming import folder_name, is_folder_name, renamed, same_name
from pytest_skillevo.core.skill import Skill, SkillSpec

NAMES = st.text(st.characters(blacklist_categories=("Cs",)), min_size=1, max_size=90).filter(str.strip)


def nobody(folder: str) -> tuple[str, ...]:
    return ()


def held_by(owners: dict[str, str]):
    return lambda folder: [owners[folder]] if folder in owners else []


@pytest.mark.parametrize("name", ["Ledger Export", "ledger-export", "Release: Notes/2", "Café Menu"])
def test_a_name_that_the_grammar_can_spell_stays_readable(name):
    assert folder_name(name, nobody) in ("ledger-export", "release-notes-2", "cafe-menu")


@pytest.mark.parametrize(
    "names", [("月次決算", "在庫確認"), ("Отчёт", "Ответ"), ("..", "!!"), ("ß", "s"), ("x" * 70, "x" * 71)]
)
def test_names_that_the_grammar_cannot_spell_get_folders_of_their_own(names):
    folders = [folder_name(name, nobody) for name in names]
    assert len(set(folders)) == 2
    assert all(map(is_folder_name, folders))


def test_a_folder_that_another_name_has_is_not_taken_from_it():
    owners = {"c-build": "C++ Build"}
    assert folder_name("C++ build", held_by(owners)) == "c-build"
    other = folder_name("C Build", held_by(owners))
    assert other.startswith("c-build-")
    owners[other] = "C Build"
    assert folder_name("C Build", held_by(owners)) == other
    assert folder_name("C# Build", held_by(owners)) not in owners


@given(st.lists(NAMES, min_size=2, max_size=12))
def test_no_two_names_ever_share_a_folder(names):
    owners: dict[str, str] = {}
    for name in names:
        folder = folder_name(name, held_by(owners))
        assert is_folder_name(folder)
        assert same_name(owners.setdefault(folder, name), name)
    for name in names:
        assert same_name(owners[folder_name(name, held_by(owners))], name)


def test_a_hash_that_is_taken_too_is_made_longer():
    first = folder_name("在庫確認", nobody)
    longer = folder_name("在庫確認", held_by({first: "somebody else"}))
    assert longer.startswith(first)
    assert len(longer) > len(first)


def test_a_new_skill_is_named_as_its_folder_and_keeps_its_title():
    skill = Skill.create(SkillSpec("C Build", "Builds C.", "When C is built.", ("Configure.", "Make."), ()))
    named = renamed(skill, "c-build-123abc")
    assert named.name == "c-build-123abc"
    assert named.warnings == ()
    assert "# C Build" in named.text
    assert named.text.replace("c-build-123abc", "c-build") == skill.text
    assert renamed(named, "c-build-123abc") is named


def test_a_skill_without_frontmatter_is_named_by_its_folder_anyway():
    skill = Skill.from_bytes("a", b"# Alpha\n", {"notes.md": b"n"})
    named = renamed(skill, "b")
    assert (named.name, named.document, dict(named.files)) == ("b", skill.document, dict(skill.files))
    assert renamed(Skill.absent("a"), "b").exists is False
