"""Stores of older versions: opened, brought forward, and as good as one that was made today."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import create_engine, inspect, text

from pytest_skillevo.core.errors import StoreError
from pytest_skillevo.core.revisions import Deed, Status
from pytest_skillevo.core.skill import Skill
from pytest_skillevo.store import JournalEntry, Store
from pytest_skillevo.store import migrations as migrations_module
from pytest_skillevo.store import schema as schema_module

NAME = "recipe-cookbook"
DATA = Path(__file__).parents[1] / "data"


@pytest.fixture
def old(project):
    """The project with a store that version 1 has written: an experiment, five revisions, two rollbacks."""
    project.home.mkdir()
    connection = sqlite3.connect(project.home / "store.db")
    connection.executescript((DATA / "store_v1.sql").read_text(encoding="utf-8"))
    connection.execute("PRAGMA journal_mode=WAL")
    connection.close()
    (project.folder / "notes.md").unlink()
    project.better.write(project.folder)
    return project


def shape(url):
    """Tables, columns, keys and indexes, without the names that nobody relies on."""
    engine = create_engine(url)
    found = inspect(engine)
    tables = {
        table: (
            sorted((c["name"], str(c["type"]), c["nullable"]) for c in found.get_columns(table)),
            found.get_pk_constraint(table)["constrained_columns"],
            sorted((i["name"], tuple(i["column_names"]), i["unique"]) for i in found.get_indexes(table)),
            sorted((tuple(f["constrained_columns"]), f["referred_table"]) for f in found.get_foreign_keys(table)),
        )
        for table in found.get_table_names()
    }
    engine.dispose()
    return tables


def test_a_store_of_version_1_is_brought_forward_to_the_tables_of_today(old, new_project, tmp_path):
    old.open().close()
    fresh = new_project(tmp_path / "fresh")
    fresh.root.mkdir()
    fresh.open().close()
    assert shape(f"sqlite:///{old.home / 'store.db'}") == shape(f"sqlite:///{fresh.home / 'store.db'}")


def test_everything_that_version_1_knew_is_still_known(old):
    with old.open() as store:
        assert store.find_finished("f1").verdict == {"verdict": "ACCEPT"}
        assert [entry.key for entry in store.entries("e1")] == ["k1", "k2"]
        assert store.trace(list(store.entries("e1"))[1].payload["trace"]) == {"messages": ["hello"]}
        assert store.openings(["c1"]).count == 1
        assert {revision.status for revision in store.revisions()} == {
            Status.ACTIVE,
            Status.ARCHIVED,
            Status.PENDING_APPROVAL,
            Status.PENDING_EVAL,
            Status.REJECTED,
        }
        (active,) = store.revisions(status=Status.ACTIVE)
        assert (active.digest, active.scope, active.name, active.executable) == (old.better.digest, "", None, None)
        assert store.pointer(NAME).revision == active.id
        assert [event.deed for event in store.history(active)] == [
            Deed.SUBMIT,
            Deed.APPROVE,
            Deed.ARCHIVE,
            Deed.ROLLBACK,
        ]
        assert store.drift() == ()


def test_work_goes_on_where_version_1_left_it(old):
    with old.open() as store:
        (waiting,) = store.revisions(status=Status.PENDING_APPROVAL)
        assert store.approve(waiting.id, "nina").status is Status.ACTIVE
        store.rollback(NAME, "omar")
        assert old.files() == old.tree(old.better)
        store.rollback(NAME, "omar")
        assert old.files() == old.tree(old.seed)
        (parked,) = store.revisions(status=Status.PENDING_EVAL)
        assert store.reevaluate(parked.id, {"more": 1}, actor="ci").status is Status.PENDING_APPROVAL
        store.append("e1", [JournalEntry("k3", "rollout", 3)])
    with old.open() as store:
        assert store.notices == ()
        assert store.pointer(NAME).digest == old.seed.digest


def test_a_publication_that_version_1_left_half_done_is_finished(old):
    new = Skill.load(old.folder)
    connection = sqlite3.connect(old.home / "store.db")
    ids = dict(connection.execute("SELECT status, id FROM revisions WHERE status IN ('active', 'pending_approval')"))
    row = (NAME, "approve", ids["pending_approval"], ids["active"], "../skills/recipe-cookbook", "nina", "good")
    connection.execute("INSERT INTO intents VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    connection.commit()
    connection.close()
    with old.open() as store:
        assert [notice.endswith("was undone; it can be repeated.") for notice in store.notices] == [True]
        assert store.approve(ids["pending_approval"], "nina").status is Status.ACTIVE
        assert store.parent_of(store.revision(ids["pending_approval"])).digest == new.digest


def test_steps_are_taken_in_order_and_once(project, monkeypatch):
    project.open().close()
    last = schema_module.SCHEMA_VERSION
    steps = []
    more = {last: lambda c: steps.append("first"), last + 1: lambda c: steps.append("second")}
    monkeypatch.setattr(schema_module, "SCHEMA_VERSION", last + 2)
    monkeypatch.setattr(schema_module, "MIGRATIONS", dict(migrations_module.MIGRATIONS) | more)
    project.open().close()
    project.open().close()
    assert steps == ["first", "second"]


def test_a_migration_that_fails_leaves_the_old_version(old, monkeypatch):
    whole = migrations_module.MIGRATIONS[1]

    def half(connection):
        whole(connection)
        raise StoreError("the disk went away")

    with monkeypatch.context() as patch:
        patch.setattr(schema_module, "MIGRATIONS", {1: half})
        with pytest.raises(StoreError, match="went away"):
            old.open()
    engine = create_engine(f"sqlite:///{old.home / 'store.db'}")
    with engine.connect() as connection:
        assert connection.scalar(text("SELECT value FROM skillevo_meta WHERE key = 'schema_version'")) == "1"
        assert "evaluations" not in inspect(connection).get_table_names()
    engine.dispose()
    with Store.open(old.home, skills=old.skills) as store:
        assert len(store.revisions()) == 5
