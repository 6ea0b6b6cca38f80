"""Atomic writes."""

from __future__ import annotations

import os
import stat

import pytest

from pytest_skillevo.core import files
from pytest_skillevo.core.files import atomic_write


def test_the_file_has_the_new_bytes_and_nothing_else_is_left(tmp_path) -> None:
    path = tmp_path / "a.txt"
    atomic_write(path, b"one")
    atomic_write(path, b"two")
    assert path.read_bytes() == b"two"
    assert list(tmp_path.iterdir()) == [path]


def test_the_mode_of_an_existing_file_is_kept(tmp_path) -> None:
    path = tmp_path / "run.sh"
    path.write_bytes(b"old")
    path.chmod(0o750)
    atomic_write(path, b"new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o750


def test_a_new_file_has_the_mode_that_the_umask_leaves(tmp_path) -> None:
    (tmp_path / "plain").write_bytes(b"")
    atomic_write(tmp_path / "ours", b"")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failure_leaves_the_old_file_and_no_temporary_one(tmp_path, monkeypatch, step) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")

    def fail(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os if step == "fsync" else files.Path, step, fail)
    with pytest.raises(OSError, match="disk full"):
        atomic_write(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_bytes_are_on_disk_before_the_rename_and_the_folder_after_it(tmp_path, monkeypatch) -> None:
    steps = []
    fsync, replace = os.fsync, files.Path.replace
    monkeypatch.setattr(os, "fsync", lambda fd: (steps.append(stat.S_ISDIR(os.fstat(fd).st_mode)), fsync(fd))[1])
    monkeypatch.setattr(files.Path, "replace", lambda a, b: (steps.append("rename"), replace(a, b))[1])
    atomic_write(tmp_path / "a.txt", b"new")
    assert steps == [False, "rename", True]


def test_a_link_is_replaced_and_not_followed(tmp_path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    atomic_write(link, b"new")
    assert (target.read_bytes(), link.read_bytes(), link.is_symlink()) == (b"old", b"new", False)


def test_a_missing_folder_is_an_error(tmp_path) -> None:
    with pytest.raises(FileNotFoundError):
        atomic_write(tmp_path / "no" / "a.txt", b"")
