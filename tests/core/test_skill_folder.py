"""Skill folders on disk."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from pytest_skillevo.core.errors import SkillError
from pytest_skillevo.core.skill import MAX_BYTES, Skill
from pytest_skillevo.core.skill import folder as folder_module

MAIN = b"---\nname: tool\ndescription: d\n---\n\n# Tool\n"


@pytest.fixture
def folder(tmp_path) -> Path:
    path = tmp_path / "tool"
    path.mkdir()
    (path / "SKILL.md").write_bytes(MAIN)
    return path


def put(folder: Path, name: str, data: bytes = b"x") -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def refused(path: Path) -> str:
    with pytest.raises(SkillError) as caught:
        Skill.load(path)
    return str(caught.value)


def test_a_folder_is_read_whole(folder) -> None:
    put(folder, "scripts/deep/run.sh", b"\x00\xff")
    put(folder, "references/a.md")
    skill = Skill.load(folder)
    assert skill.document == MAIN
    assert dict(skill.files) == {"references/a.md": b"x", "scripts/deep/run.sh": b"\x00\xff"}
    assert skill.name == "tool"


def test_what_tools_leave_behind_is_no_part_of_a_skill(folder) -> None:
    before = Skill.load(folder).digest
    for name in ("scripts/__pycache__/a.pyc", ".git/HEAD", ".DS_Store", ".abc.skillevo-tmp"):
        put(folder, name)
    assert Skill.load(folder).digest == before


def test_the_digest_covers_every_file_and_its_path(folder) -> None:
    digests = {Skill.load(folder).digest}
    put(folder, "a.md", b"1")
    digests.add(Skill.load(folder).digest)
    put(folder, "a.md", b"2")
    digests.add(Skill.load(folder).digest)
    (folder / "a.md").rename(folder / "b.md")
    digests.add(Skill.load(folder).digest)
    assert len(digests) == 4


def test_the_current_folder_has_a_name(folder, monkeypatch) -> None:
    monkeypatch.chdir(folder)
    assert Skill.load(Path()).warnings == ()


def test_a_missing_folder_is_named_with_a_suggestion(folder) -> None:
    near, far = folder.parent / "tol", folder / "no" / "such"
    assert refused(near) == f"{near}: there is no such skill folder. Did you mean 'tool'?"
    assert refused(far) == f"{far}: there is no such skill folder."
    assert "is a file; a skill is named by its folder" in refused(folder / "SKILL.md")


@pytest.mark.parametrize("near", ["skill.md", "Skill.MD", "SKILLS.md", "SKILL.markdown"])
def test_a_missing_main_file_names_the_near_miss(folder, near) -> None:
    (folder / "SKILL.md").rename(folder / near)
    assert refused(folder) == f"{folder}: the folder has no SKILL.md. There is '{near}': rename it to 'SKILL.md'."


def test_a_missing_main_file_without_near_miss(folder) -> None:
    (folder / "SKILL.md").rename(folder / "README.txt")
    assert refused(folder) == f"{folder}: the folder has no SKILL.md."


def test_a_folder_of_skills_names_one_of_them_and_is_not_read(folder) -> None:
    Path(folder.parent / "aaa").symlink_to("/")
    assert refused(folder.parent) == (
        f"{folder.parent}: the folder has no SKILL.md. Folders in it have one: name one of them, such as '{folder}'."
    )


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("# T\n".encode("utf-16"), "SKILL.md:1: the file is UTF-16, not UTF-8"),
        ("# Title\n".encode("utf-16-be"), "SKILL.md:1: the file is UTF-16, not UTF-8"),
        ("# Title\n".encode("utf-16-le"), "SKILL.md:1: the file is UTF-16, not UTF-8"),
        ("# T\n".encode("utf-32"), "SKILL.md:1: the file is UTF-32, not UTF-8"),
        (b"# T\n\ncaf\xe9\n", "SKILL.md:3: the file is not UTF-8 (byte 0xe9)"),
    ],
)
def test_a_file_in_another_encoding_is_named_as_such(folder, data, words) -> None:
    (folder / "SKILL.md").write_bytes(data)
    assert words in refused(folder)


def test_a_link_to_a_file_inside_is_read(folder) -> None:
    put(folder, "a.md", b"text")
    (folder / "b.md").symlink_to("a.md")
    assert dict(Skill.load(folder).files) == {"a.md": b"text", "b.md": b"text"}


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("../secret.txt", "outside the skill's folder: copy the content instead"),
        ("..", "outside the skill's folder"),
        ("nowhere.md", "is a symbolic link that leads nowhere"),
        ("link", "is a symbolic link that leads nowhere"),
        (".", "is a symbolic link to a folder"),
    ],
)
def test_a_link_that_leads_elsewhere_is_refused(folder, target, words) -> None:
    (folder.parent / "secret.txt").write_text("secret", encoding="utf-8")
    (folder / "link").symlink_to(target)
    message = refused(folder)
    assert message.startswith(f"{folder / 'link'}: ")
    assert words in message
    assert "secret" not in message.replace("secret.txt", "")


def test_a_main_file_that_links_outside_is_refused(folder) -> None:
    (folder / "SKILL.md").rename(folder.parent / "other.md")
    (folder / "SKILL.md").symlink_to("../other.md")
    assert "outside the skill's folder" in refused(folder)


def test_a_folder_that_is_itself_a_link_is_read(folder, tmp_path) -> None:
    (tmp_path / "alias").symlink_to(folder)
    assert Skill.load(tmp_path / "alias").document == MAIN


def test_what_is_no_file_is_refused(folder) -> None:
    os.mkfifo(folder / "pipe")
    assert "is neither a file nor a folder" in refused(folder)


def test_a_socket_is_refused(folder, monkeypatch) -> None:
    monkeypatch.chdir(folder)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s")
        assert "is neither a file nor a folder" in refused(folder)


def test_a_folder_beyond_the_limits_is_refused(folder, monkeypatch) -> None:
    put(folder, "big.bin", b"\0" * (MAX_BYTES - len(MAIN)))
    assert Skill.load(folder).files["big.bin"]
    put(folder, "one-more.bin", b"\0")
    assert "a skill may hold 10 MB" in refused(folder)
    monkeypatch.setattr(folder_module, "MAX_FILES", 2)
    assert "a skill may hold 2 files" in refused(folder)


@pytest.mark.parametrize("path", ["../a", "/a", "a//b", "a/./b", "", "a\\b", "C:a", "a\0b", "a\ud800"])
def test_a_path_that_leaves_the_folder_is_refused(path) -> None:
    with pytest.raises(SkillError, match="is no relative path"):
        Skill.from_bytes("x", MAIN, {path: b""})


def test_a_path_cannot_be_file_and_folder_at_once() -> None:
    with pytest.raises(SkillError, match="'a' is a file and cannot also be the folder of 'a/b'"):
        Skill.from_bytes("x", MAIN, {"a": b"", "a/b": b""})
    with pytest.raises(SkillError, match=r"SKILL\.md is given twice"):
        Skill.from_bytes("x", MAIN, {"SKILL.md": b""})


def test_write_creates_the_folder_and_keeps_foreign_files(tmp_path) -> None:
    skill = Skill.from_bytes("tool", MAIN, {"scripts/run.sh": b"1"})
    folder = tmp_path / "deep" / "tool"
    skill.write(folder)
    put(folder, "mine.txt")
    skill.with_component("description", "new").write(folder)
    assert (folder / "SKILL.md").read_bytes() == MAIN.replace(b"description: d", b"description: new")
    assert (folder / "scripts" / "run.sh").read_bytes() == b"1"
    assert (folder / "mine.txt").read_bytes() == b"x"
    assert sorted(path.name for path in folder.iterdir()) == ["SKILL.md", "mine.txt", "scripts"]


def test_the_main_file_is_written_last(tmp_path, monkeypatch) -> None:
    written = []
    monkeypatch.setattr(folder_module, "atomic_write", lambda path, data: written.append(path.name))
    Skill.from_bytes("tool", MAIN, {"a": b"", "Z": b"", "sub/b": b""}).write(tmp_path / "tool")
    assert written == ["Z", "a", "b", "SKILL.md"]


def test_equal_files_are_not_touched(folder, monkeypatch) -> None:
    monkeypatch.setattr(folder_module, "atomic_write", lambda path, data: pytest.fail(f"{path} was written"))
    Skill.load(folder).write(folder)


@pytest.mark.parametrize("link", ["tool", "tool/SKILL.md", "tool/sub"])
def test_nothing_is_written_through_a_link(tmp_path, link) -> None:
    target = tmp_path / "target"
    target.mkdir()
    (tmp_path / link).parent.mkdir(exist_ok=True)
    (tmp_path / link).symlink_to(target)
    with pytest.raises(SkillError, match="is a symbolic link, and nothing is written through one"):
        Skill.from_bytes("tool", MAIN, {"sub/a": b"1"}).write(tmp_path / "tool")
    assert list(target.iterdir()) == []


def test_a_folder_where_the_file_should_be_is_an_error(folder) -> None:
    (folder / "SKILL.md").unlink()
    (folder / "SKILL.md").mkdir()
    with pytest.raises(SkillError, match="cannot be written"):
        Skill.from_bytes("tool", MAIN).write(folder)
    assert "the folder has no SKILL.md" in refused(folder)


def test_an_absent_skill_cannot_be_written(tmp_path) -> None:
    with pytest.raises(SkillError, match="the skill 'tool' does not exist yet"):
        Skill.absent("tool").write(tmp_path / "tool")
    assert not (tmp_path / "tool").exists()
