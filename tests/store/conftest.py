"""A project with one skill of several files, a clock that ticks, and stores that close themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pytest_skillevo.core.revisions import Action, Revision, Status
from pytest_skillevo.core.skill import Skill
from pytest_skillevo.store import Proposal, Store

from . import postgres

#: What a module runs on that says EVERY_DATABASE = True.
DATABASES = ["sqlite", *(["postgresql"] if postgres.binaries() else [])]

NAME = "recipe-cookbook"

SEED = b"""---
name: recipe-cookbook
description: Build a cookbook from recipe lookups.
---

# Recipe cookbook

## When to use

When a cookbook of several dishes is asked for.

## Steps

1. List the dishes.
2. If any lookup fails, run the whole batch again.

## Pitfalls

- Do not invent values.
"""
BETTER = SEED.replace(b"run the whole batch again", b"look up only the dishes that failed, at most twice")


class Clock:
    """A minute passes at every look."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(minutes=1)
        return self.now


class Project:
    """A skills folder with one skill of three files, and a store beside it."""

    def __init__(self, root: Path, url: str | None = None) -> None:
        self.root = root
        self.url = url
        self.home = root / ".skillevo"
        self.skills = root / "skills"
        self.folder = self.skills / NAME
        self.clock = Clock()
        self.seed = Skill.from_bytes(NAME, SEED, {"notes.md": b"old notes\n", "scripts/fetch.py": b"print('v1')\n"})
        self.better = Skill.from_bytes(
            NAME, BETTER, {"scripts/fetch.py": b"print('v2')\n", "data/units.csv": b"g,kg\n"}
        )

    def lay_out(self) -> None:
        self.seed.write(self.folder)

    def open(self, **settings: object) -> Store:
        return Store.open(self.home, **({"skills": self.skills, "url": self.url, "clock": self.clock} | settings))

    def enter(
        self, store: Store, content: Skill | None = None, parent: Skill | None = None, **fields: object
    ) -> Revision:
        content, parent = content or self.better, parent or self.seed
        values = {
            "action": Action.UPDATE,
            "source": "experiment:e1",
            "status": Status.PENDING_APPROVAL,
            "evidence": {"decision": {"verdict": "ACCEPT"}},
            "actor": "skillevo",
            "reason": "better on 15 of 30 cases",
        }
        return store.add_revision(NAME, content, parent, **(values | fields))

    def proposal(self, **fields: object) -> Proposal:
        values = {
            "skill": NAME,
            "content": self.better,
            "parent": self.seed,
            "action": Action.UPDATE,
            "source": "reviewer",
            "evidence": {"outcome": {"status": "success", "score": 0.9}},
        }
        return Proposal(**(values | fields))

    def version(self, number: int) -> Skill:
        return Skill.from_bytes(NAME, SEED.replace(b"invent values", f"invent value {number}".encode()))

    def files(self) -> dict[str, bytes]:
        found = (path for path in sorted(self.folder.rglob("*")) if path.is_file())
        return {path.relative_to(self.folder).as_posix(): path.read_bytes() for path in found}

    @staticmethod
    def tree(skill: Skill) -> dict[str, bytes]:
        return {"SKILL.md": skill.document, **skill.files} if skill.exists else {}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "url" in metafunc.fixturenames and getattr(metafunc.module, "EVERY_DATABASE", False):
        metafunc.parametrize("url", DATABASES, indirect=True)


@pytest.fixture(scope="session")
def server() -> Iterator[postgres.Server]:
    place = postgres.binaries()
    assert place is not None
    running = postgres.Server(place)
    yield running
    running.stop()


@pytest.fixture
def url(request: pytest.FixtureRequest) -> str | None:
    """Where the store is: None for a file in its home."""
    if getattr(request, "param", "sqlite") == "sqlite":
        return None
    return request.getfixturevalue("server").url()


@pytest.fixture
def project(tmp_path: Path, url: str | None) -> Project:
    made = Project(tmp_path, url)
    made.lay_out()
    return made


@pytest.fixture
def new_project() -> Callable[..., Project]:
    return Project


@pytest.fixture
def store(project: Project) -> Iterator[Store]:
    with project.open() as opened:
        yield opened
