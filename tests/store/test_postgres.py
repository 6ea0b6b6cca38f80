"""What is particular to a store that several machines share."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from pytest_skillevo.core.errors import ConfigError, StoreError
from pytest_skillevo.core.revisions import Deed, Status
from pytest_skillevo.store import LockBusy, Store

from . import postgres
from .conftest import DATABASES
from .invariants import assert_whole

NAME = "recipe-cookbook"
DATA = Path(__file__).parents[1] / "data"
#: One, or none where PostgreSQL is not installed; the first test says so.
SHARED = pytest.mark.parametrize("url", [one for one in DATABASES if one != "sqlite"] or ["sqlite"], indirect=True)


def test_postgresql_is_there_or_said_to_be_missing():
    if postgres.binaries() is None:
        how = "apt-get install postgresql, pip install 'psycopg[binary]'"
        assert not os.environ.get("CI"), f"PostgreSQL must be installed in CI: {how}"
        warnings.warn(f"PostgreSQL is not installed ({how}): the store was tested on SQLite only", stacklevel=1)
    assert len(DATABASES) == (1 if postgres.binaries() is None else 2)


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("nonsense", "is no URL"),
        ("mysql://host/db", "cannot be kept in 'mysql'"),
        ("sqlite:///file", "leave the address out"),
    ],
)
def test_an_address_that_is_none_is_wrong_usage(tmp_path, url, problem):
    with pytest.raises(ConfigError, match=problem):
        Store.open(tmp_path / "home", url=url)


def test_a_server_that_does_not_answer_is_named_without_its_password(tmp_path):
    url = f"postgresql://nina:geheim@127.0.0.1:{postgres._free_port()}/db?password=geheim2&connect_timeout=2"
    with pytest.raises(StoreError, match=r"postgresql://nina:\*\*\*@127.*Check the address") as refusal:
        Store.open(tmp_path / "home", url=url)
    assert "geheim" not in str(refusal.value)


@pytest.fixture
def elsewhere(new_project, tmp_path, url):
    """Another checkout of the project, on the same database."""
    root = tmp_path / "elsewhere"
    root.mkdir()
    made = new_project(root, url)
    made.lay_out()
    return made


@SHARED
def test_looking_makes_no_store(url, tmp_path, project):
    if url is not None:
        assert Store.exists(tmp_path, url) is False
        project.open().close()
        assert Store.exists(tmp_path, url) is True


@SHARED
def test_a_candidate_found_on_one_machine_is_approved_on_another(project, elsewhere, url):
    if url is None:
        return
    with project.open() as store:
        revision = project.enter(store)
    with elsewhere.open() as store:
        assert store.approve(revision.id, "nina").status is Status.ACTIVE
        assert elsewhere.files() == elsewhere.tree(elsewhere.better)
        assert_whole(store)
    with project.open() as store:
        assert project.files() == project.tree(project.seed)
        assert [one.kind for one in store.drift()] == ["older"]
        store.restore(NAME, "nina", "pulled")
        assert_whole(store)


@SHARED
def test_what_was_interrupted_elsewhere_is_left_to_that_place_until_somebody_needs_the_skill(project, elsewhere, url):
    if url is None:
        return

    class Died(BaseException):
        pass

    def dies(step):
        if step == "after writing SKILL.md":
            raise Died

    with project.open() as store:
        revision = project.enter(store)
    with elsewhere.open(fault=dies) as store:
        # As a kill would leave it: the intent stays, and half the files are new.
        store._promotions._publications._undo = lambda intent, problem: None
        with pytest.raises(Died):
            store.approve(revision.id, "nina")
    with project.open() as store:
        assert store.notices == ()
        assert store.approve(revision.id, "omar").status is Status.ACTIVE
        assert [event.deed for event in store.history(revision)] == [Deed.SUBMIT, Deed.REPAIR, Deed.APPROVE]
        assert "interrupted in another place" in store.history(revision)[1].reason
        assert_whole(store)
    with elsewhere.open() as store:
        assert store.notices == ()
        assert store.pointer(NAME).revision == revision.id


@SHARED
def test_what_was_interrupted_here_is_settled_here(project, url):
    if url is None:
        return

    class Died(BaseException):
        pass

    def dies(step):
        if step == "after writing SKILL.md":
            raise Died

    with project.open(fault=dies) as store:
        revision = project.enter(store)
        store._promotions._publications._undo = lambda intent, problem: None
        with pytest.raises(Died):
            store.approve(revision.id, "nina")
    with project.open() as store:
        assert store.notices == (f"an interrupted approve of {revision.id} (recipe-cookbook) was finished.",)
        assert_whole(store)


@SHARED
def test_a_lock_is_held_against_every_connection_and_given_back(project, url):
    with project.open() as one, project.open() as other:
        with one.running("e1"):
            with pytest.raises(LockBusy, match="e1 is being run by another process"), other.running("e1"):
                pass
            with other.running("e2"):
                pass
        with other.running("e1"):
            pass
        waiting = other._database.lock("x", wait=0.05, busy="so busy")
        with one._database.lock("x"), pytest.raises(LockBusy, match="so busy"), waiting:
            pass


@SHARED
def test_a_store_of_version_1_is_brought_forward_to_the_tables_of_today(new_project, tmp_path, server_urls, url):
    if url is None:
        return
    old, fresh = server_urls(2)
    engine = create_engine(old.replace("postgresql://", "postgresql+psycopg://"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for statement in (DATA / "store_v1_postgres.sql").read_text(encoding="utf-8").split(";"):
            if statement.strip():
                connection.execute(text(statement))
    engine.dispose()
    for number, address in enumerate((old, fresh)):
        root = tmp_path / str(number)
        root.mkdir()
        with new_project(root, address).open() as store:
            assert store.revisions() == ()
    assert shape(old) == shape(fresh)


def shape(url: str) -> list[tuple[object, ...]]:
    """Columns, constraints and indexes of a schema, in the server's own words."""
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    queries = (
        "SELECT table_name, column_name, data_type, character_maximum_length, is_nullable, collation_name "
        "FROM information_schema.columns WHERE table_schema = current_schema()",
        "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint "
        "WHERE connamespace = current_schema()::regnamespace",
        "SELECT tablename, indexname, replace(indexdef, schemaname || '.', '') FROM pg_indexes "
        "WHERE schemaname = current_schema()",
    )
    with engine.connect() as connection:
        found = [tuple(row) for query in queries for row in connection.execute(text(query))]
    engine.dispose()
    return sorted(found, key=str)


@pytest.fixture
def server_urls(request):
    return lambda count: [request.getfixturevalue("server").url() for _ in range(count)]
