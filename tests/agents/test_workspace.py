"""The folder of a rollout: every change that nothing permits is seen (spec/wikiskill.md 4)."""

from __future__ import annotations

import os
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_skillevo.agents import workspace as module
from pytest_skillevo.agents.workspace import Workspace
from pytest_skillevo.core.errors import ConfigError
from pytest_skillevo.core.skill import Skill

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has neither modes nor links for everybody")


@pytest.fixture
def place():
    with Workspace() as fresh:
        fresh.write("port/ferry.md", "Ferry 7 leaves at 06:40.\n")
        fresh.write("notes.md", "old\n")
        yield fresh


def changes(place: Workspace) -> set[tuple[str, str, bool]]:
    return {(change.path, change.what, change.permitted) for change in place.changes()}


def test_what_was_put_in_is_no_change(place):
    assert place.changes() == ()


def test_a_permitted_write_is_a_change_and_no_breach(place):
    place.allow("out/*.csv")
    (place.root / "out").mkdir()
    (place.root / "out/a.csv").write_text("1\n", encoding="utf-8")
    assert changes(place) == {("out/a.csv", "added", True)}
    assert place.breaches() == ()
    assert place.read("out/a.csv") == b"1\n"


def test_every_other_change_is_a_breach(place):
    (place.root / "stray.txt").write_text("x", encoding="utf-8")
    (place.root / "port/ferry.md").write_text("Ferry 7 leaves at noon.\n", encoding="utf-8")
    (place.root / "notes.md").unlink()
    (place.root / "empty").mkdir()
    assert changes(place) == {
        ("stray.txt", "added", False),
        ("port/ferry.md", "edited", False),
        ("notes.md", "removed", False),
        ("empty", "added", False),
    }


def test_no_folder_is_a_hiding_place_unless_it_is_declared(place):
    for path in (".git/hooks/x", "node_modules/payload.js", "__pycache__/a.pyc", ".cache/x.bin"):
        (place.root / path).parent.mkdir(parents=True, exist_ok=True)
        (place.root / path).write_bytes(b"x")
    place.allow(".cache/**")
    breached = {change.path for change in place.breaches()}
    assert {".git/hooks/x", "node_modules/payload.js", "__pycache__/a.pyc"} <= breached
    assert not any(path.startswith(".cache") for path in breached)


@posix
def test_a_change_of_mode_alone_is_told_apart(place):
    (place.root / "port/ferry.md").chmod(0o755)
    assert changes(place) == {("port/ferry.md", "mode", False)}


@posix
def test_a_link_is_a_breach_even_where_files_may_be_written(place):
    place.allow("out/*")
    (place.root / "out").mkdir()
    (place.root / "out/l").symlink_to("/etc/hosts")
    assert ("out/l", "symlink", False) in changes(place)
    assert place.read("out/l") is None


@posix
def test_a_folder_that_nobody_can_look_into_is_a_breach_even_where_it_may_be(place, monkeypatch):
    place.allow("out/*")
    (place.root / "out/shut").mkdir(parents=True)
    (place.root / "out/shut/x").write_text("x", encoding="utf-8")
    monkeypatch.setattr(os, "access", lambda path, mode: "shut" not in str(path))  # root could look into every folder
    assert changes(place) == {("out/shut", "special", False)}


@posix
def test_the_name_of_a_stray_file_steers_no_terminal(place):
    (place.root / "a\x1b[31m\n").write_text("x", encoding="utf-8")
    (place.root / "größe").write_text("x", encoding="utf-8")
    assert sorted(map(str, place.breaches())) == [r"'a\x1b[31m\n' (added)", "größe (added)"]


@posix
def test_a_folder_behind_a_link_is_not_entered(place, tmp_path):
    (tmp_path / "secret.txt").write_text("x", encoding="utf-8")
    (place.root / "way").symlink_to(tmp_path, target_is_directory=True)
    assert changes(place) == {("way", "symlink", False)}
    assert place.read("way/secret.txt") is None


def test_a_folder_in_the_place_of_a_file_is_still_there(place):
    (place.root / "gone.md").mkdir()
    assert place.check("gone.md", "absent") == "gone.md: it is still there"
    assert place.check("port/ferry.md", "contains", ["06:40"]) == ""
    assert place.check("missing.md", "text", "x") == "missing.md: the file is missing"


def test_two_workspaces_know_nothing_of_each_other(place):
    with Workspace() as other:
        assert list(other.root.iterdir()) == []
        assert other.root != place.root


def test_a_closed_workspace_is_gone(place):
    with Workspace() as other:
        (other.root / "deep").mkdir()
        (other.root / "deep/file").write_text("x", encoding="utf-8")
        if os.name == "posix":
            (other.root / "deep").chmod(0o500)
    assert not other.home.exists()


def test_no_folder_above_holds_anything_of_the_project(place):
    assert not any((parent / "pyproject.toml").exists() for parent in place.root.parents)


def test_more_than_is_looked_at_is_a_breach(place, monkeypatch):
    monkeypatch.setattr(module, "MAX_ENTRIES", 5)
    place.allow("**")
    for number in range(6):
        (place.root / f"f{number}").write_text("", encoding="utf-8")
    assert [change.permitted for change in place.changes()] == [False]


@pytest.mark.parametrize("path", ["../out", "/etc/hosts", "a//b", "C:/x", "a\\b"])
def test_nothing_is_written_or_read_outside(place, path):
    with pytest.raises(ConfigError):
        place.write(path, "x")
    with pytest.raises(ConfigError):
        place.read(path)


@pytest.mark.parametrize("pattern", ["", "/x", "../x", "a/../../x"])
def test_a_pattern_that_leads_outside_is_refused(place, pattern):
    with pytest.raises(ConfigError, match="no pattern of paths"):
        place.allow(pattern)


def test_a_folder_and_a_skill_can_be_put_in(place, tmp_path):
    (tmp_path / "wiki/a").mkdir(parents=True)
    (tmp_path / "wiki/a/page.md").write_text("# Page\n", encoding="utf-8")
    place.add(tmp_path / "wiki", into="wiki")
    document = b"---\r\nname: demo\r\ndescription: Shows.\r\n---\r\n# Demo\r\n"
    skill = Skill.from_bytes("demo", document, {"ref/x.md": b"x"})
    folder = place.add_skill(skill)
    assert place.changes() == ()
    assert Skill.load(folder).digest == skill.digest
    with pytest.raises(ConfigError):
        place.add_skill(Skill.absent("none"))


NAMES = st.text("ab.c", min_size=1, max_size=3).filter(lambda name: name.strip("."))


@given(st.lists(NAMES, min_size=1, max_size=4))
def test_a_double_star_permits_every_path_below_and_a_single_star_one_name(parts):
    path = "/".join(["out", *parts])
    with Workspace() as place:
        place.allow("out/**")
        assert place._may_change(path)
        place._allowed = ["out/*"]
        assert place._may_change(path) is (len(parts) == 1)
