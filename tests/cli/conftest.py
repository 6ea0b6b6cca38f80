"""A project in the working folder with a store, and the command line run in this process."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pytest_skillevo.cli import main
from pytest_skillevo.core.revisions import Action, Status
from pytest_skillevo.core.skill import Skill
from pytest_skillevo.store import Store

NAME = "recipe-cookbook"
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
SEED = b"""---
name: recipe-cookbook
description: Build a cookbook.
---

## When to use

Always.

## Steps

1. Look.
2. Cook.
"""
BETTER = SEED.replace(b"2. Cook.", b"2. Cook once.")
EVIDENCE = {
    "model": {"name": "simulated", "kind": "simulated"},
    "decision": {"verdict": "ACCEPT", "rule": "quality-superior", "reason": "Better on 15 of 30 holdout cases."},
    "confirmation": {
        "holdout": {
            "cases": 30,
            "repeats": 3,
            "better": 15,
            "same": 14,
            "worse": 1,
            "mean_before": 0.79,
            "mean_after": 0.91,
            "change": 0.12,
            "interval": [0.07, 0.17],
            "interval_level": 0.9,
            "tokens": {"ratio": 0.86},
        },
        "criticals": [{"case_id": "h1-07", "verdict": "ok"}],
    },
}


class Bench:
    """A project in the working folder, with a store whose clock can be set."""

    evidence = EVIDENCE

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / "skills" / NAME
        self.time = NOW
        self.seed = Skill.from_bytes(NAME, SEED)
        self.better = Skill.from_bytes(NAME, BETTER, {"notes.md": b"new\n"})
        self.seed.write(self.folder)
        (root / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")

    def open(self) -> Store:
        return Store.open(self.root / ".skillevo", skills=self.root / "skills", clock=lambda: self.time)

    def enter(self, age: timedelta = timedelta(minutes=2), name: str = NAME, **fields: object) -> str:
        self.time = NOW - age
        values = {
            "action": Action.UPDATE,
            "source": "experiment:exp-1",
            "status": Status.PENDING_APPROVAL,
            "evidence": EVIDENCE,
            "actor": "skillevo",
            "reason": "ACCEPT",
        } | fields
        content, parent = values.pop("content", self.better), values.pop("parent", self.seed)
        with self.open() as store:
            return store.add_revision(name, content, parent, **values).id


@pytest.fixture
def bench(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("USER", "nina")
    monkeypatch.setenv("LOGNAME", "nina")
    return Bench(tmp_path)


@pytest.fixture
def skillevo(capsys):
    """Any command; gives standard output, or where it is refused the complaint."""

    def command(*arguments: str, exits: int = 0) -> str:
        code = main([*arguments], clock=lambda: NOW)
        out, err = capsys.readouterr()
        assert code == exits, err
        assert "Traceback" not in err
        if exits == 0:
            assert err == ""
            return out
        assert out == ""
        return err

    return command


@pytest.fixture
def run(skillevo):
    def command(*arguments: str, exits: int = 0) -> str:
        return skillevo("revisions", *arguments, exits=exits)

    return command
