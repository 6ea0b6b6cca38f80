"""The skills that agents see: near before far, one version for one task, the next version for the next."""

from __future__ import annotations

import pytest

from pytest_skillevo.core.scopes import Scope
from pytest_skillevo.core.skill import Skill
from pytest_skillevo.store.repository import Repository

NAME = "recipe-cookbook"


def lay(folder, text: str, **files: bytes) -> None:
    Skill.from_bytes(folder.name, text.encode(), files).write(folder)


def test_the_index_has_names_and_descriptions_and_the_text_comes_on_demand(project):
    lay(project.skills / "cat-facts", "# Cats\n")
    library = Repository(project.skills).library()
    assert [(one.name, one.description, one.managed) for one in library.index] == [
        ("cat-facts", "", True),
        (NAME, "Build a cookbook from recipe lookups.", True),
    ]
    assert library.skill(NAME) == project.seed
    assert library.skill("nobody") is None
    assert [skill.name for skill in library.skills] == ["cat-facts", NAME]


def test_a_running_task_keeps_its_version_and_the_next_one_gets_the_new(store, project):
    repository = Repository(project.skills)
    running = repository.library()
    store.approve(project.enter(store).id, "nina")
    assert running.skill(NAME) == project.seed
    following = repository.library()
    assert following.skill(NAME) == project.better
    store.rollback(NAME, "omar")
    assert following.skill(NAME) == project.better
    assert repository.library().skill(NAME) == project.seed


def test_new_and_removed_skills_are_seen_by_the_next_task(store, project):
    repository = Repository(project.skills)
    assert repository.library().find("cat-facts") is None
    lay(project.skills / "cat-facts", "# Cats\n")
    assert repository.library().find("cat-facts") is not None
    (project.skills / "cat-facts" / "SKILL.md").unlink()
    assert repository.library().find("cat-facts") is None


def test_unchanged_skills_are_not_read_again_and_changed_ones_are(project, monkeypatch):
    lay(project.skills / "cat-facts", "# Cats\n", **{"notes.md": b"old"})
    repository = Repository(project.skills)
    repository.library()
    read = []
    real = Skill.load
    monkeypatch.setattr(Skill, "load", lambda folder: (read.append(folder.name), real(folder))[1])
    repository.library()
    assert read == []
    lay(project.skills / "cat-facts", "# Cats\n", **{"notes.md": b"new"})
    assert repository.library().skill("cat-facts").files["notes.md"] == b"new"
    assert set(read) == {"cat-facts"}


def test_the_nearest_skill_of_a_name_is_seen(project, tmp_path):
    lay(project.skills / "x", "# Shared\n")
    lay(project.skills / "@apps" / "crm" / "x", "# Of the app\n")
    lay(project.skills / "@users" / "crm" / "nina" / "x", "# Of Nina\n")
    lay(tmp_path / "bundled" / "x", "# Bundled\n")
    lay(tmp_path / "bundled" / "only-here", "# Bundled only\n")

    def seen(scope: Scope):
        return Repository(project.skills, scope, [tmp_path / "bundled"]).library()

    assert seen(Scope("crm", "nina")).skill("x").text == "# Of Nina\n"
    assert seen(Scope("crm", "omar")).skill("x").text == "# Of the app\n"
    assert seen(Scope("billing")).skill("x").text == "# Shared\n"
    nina = seen(Scope("crm", "nina"))
    assert {one.name: one.managed for one in nina.index} == {"x": True, "only-here": False, NAME: False}
    assert "@apps" not in {one.folder.name for one in nina.index}


def test_what_cannot_be_read_is_told_and_leaves_the_rest(project):
    (project.skills / "broken").mkdir()
    (project.skills / "broken" / "SKILL.md").write_bytes(b"\xff\xfe\0")
    library = Repository(project.skills).library()
    assert [one.name for one in library.index] == [NAME]
    assert len(library.problems) == 1
    assert "broken" in library.problems[0]


@pytest.mark.parametrize("name", [NAME, "Recipe cookbook"])
def test_a_skill_is_found_by_any_name_that_it_goes_by(project, name):
    assert Repository(project.skills).library().find(name).folder == project.folder


def test_without_folders_there_are_no_skills(tmp_path):
    assert Repository(None).library().index == ()
    assert Repository(tmp_path / "nowhere").library().index == ()


def test_a_folder_that_is_written_while_it_is_read_is_read_again(project, monkeypatch):
    real = Skill.load
    writes = [b"second", b"third"]

    def load(folder):
        skill = real(folder)
        if writes:
            (folder / "notes.md").write_bytes(writes.pop(0))
        return skill

    monkeypatch.setattr(Skill, "load", load)
    assert Repository(project.skills).library().skill(NAME).files["notes.md"] == b"third"
