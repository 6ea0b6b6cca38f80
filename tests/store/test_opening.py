from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import text

import pytest_skillevo
from pytest_skillevo.core.errors import StoreError
from pytest_skillevo.store import JournalEntry, Store


def test_a_store_is_made_where_it_is_asked_for_and_hidden_from_git(tmp_path):
    home = tmp_path / "a" / "b"
    assert not Store.exists(home)
    Store.open(home).close()
    assert Store.exists(home)
    assert (home / ".gitignore").read_text(encoding="utf-8").endswith("*\n")


def test_the_database_is_opened_for_durability(store):
    with store._database.write(durable=True) as connection:
        values = {name: connection.scalar(text(f"PRAGMA {name}")) for name in ("journal_mode", "synchronous")}
    assert values == {"journal_mode": "wal", "synchronous": 2}
    with store._database.write() as connection:
        assert connection.scalar(text("PRAGMA synchronous")) == 1
        assert connection.scalar(text("PRAGMA foreign_keys")) == 1
        assert connection.scalar(text("PRAGMA busy_timeout")) == 30_000


def test_importing_the_store_package_does_not_load_sqlalchemy():
    code = "import sys, pytest_skillevo.store, pytest_skillevo.cli; print('sqlalchemy' in sys.modules)"
    environment = os.environ | {"PYTHONPATH": str(Path(pytest_skillevo.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize(
    "damage",
    [lambda data: b"this is no database at all, " * 400, lambda data: data[:100], lambda data: b"\0" * len(data)],
    ids=["text", "cut off", "zeros"],
)
def test_a_damaged_database_is_named_and_left_alone(project, damage):
    project.open().close()
    file = project.home / "store.db"
    file.write_bytes(damage(file.read_bytes()))
    before = file.read_bytes()
    with pytest.raises(StoreError, match=r"store\.db cannot be used: .*Move it away"):
        project.open()
    assert file.read_bytes() == before


def test_damage_inside_the_database_is_an_error_in_words(project):
    with project.open() as store:
        store.create_experiment("e1", "s", "f", {})
        store.append("e1", [JournalEntry(f"k{n}", "rollout", "x" * 500) for n in range(500)])
    file = project.home / "store.db"
    data = bytearray(file.read_bytes())
    data[len(data) // 2 :] = b"\xa5" * (len(data) - len(data) // 2)
    file.write_bytes(bytes(data))

    def use():
        with project.open() as store:
            assert len(list(store.entries("e1"))) < 500

    with pytest.raises(StoreError, match="cannot be used"):
        use()


def test_a_store_of_a_newer_version_is_refused_with_advice(project):
    project.open().close()
    with sqlite3.connect(project.home / "store.db") as connection:
        connection.execute("UPDATE skillevo_meta SET value = '99'")
    connection.close()
    with pytest.raises(StoreError, match=r"schema version 99, .* knows up to 3\. Upgrade"):
        project.open()


@contextmanager
def unprivileged(*folders: Path) -> Iterator[None]:
    """The folders read-only, and the process somebody who is bound by that (root is not)."""
    opened = {folder: folder.stat().st_mode for folder in folders}
    closed = {parent: parent.stat().st_mode for parent in folders[0].parents if parent.stat().st_uid == os.geteuid()}
    for folder in folders:
        folder.chmod(0o555 if folder.is_dir() else 0o444)
    for parent, mode in closed.items():
        parent.chmod(mode | 0o055)
    was_root = os.geteuid() == 0
    if was_root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if was_root:
            os.seteuid(0)
        for path, mode in (opened | closed).items():
            path.chmod(mode)


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    locked = tmp_path / "locked"
    locked.mkdir()
    with unprivileged(locked), pytest.raises(StoreError, match=r"cannot be made in .*home: .*skillevo_home"):
        Store.open(locked / "home")


def test_a_store_that_cannot_be_written_is_named(project):
    project.open().close()
    with unprivileged(project.home, *project.home.iterdir()), pytest.raises(StoreError, match=r"store\.db"):
        project.open()


def test_a_home_below_a_file_is_an_error_in_words(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(StoreError, match="cannot be made in"):
        Store.open(tmp_path / "file" / "home")


def test_publishing_needs_a_skills_folder(project):
    with Store.open(project.home) as store:
        revision = project.enter(store)
        with pytest.raises(StoreError, match="without a skills folder"):
            store.approve(revision.id, "nina")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows knows no limit for the size of a file")
def test_a_store_that_cannot_grow_says_so_and_keeps_what_was_stored(project):
    with project.open() as store:
        store.create_experiment("e1", "s", "f", {})
    code = f"""
import resource
from pathlib import Path
from pytest_skillevo.core.errors import StoreError
from pytest_skillevo.store import JournalEntry, Store
with Store.open(Path({str(project.home)!r})) as store:
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
    try:
        for n in range(100):
            store.append("e1", [JournalEntry(f"k{{n}}", "rollout", "x" * 50_000)])
    except StoreError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Free some disk space; what was stored before is intact." in done.stdout
    with project.open() as store:
        assert store.experiment("e1").skill == "s"
