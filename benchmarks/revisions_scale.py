"""What a large store costs: opening it, listing one skill's history, reading the active version.

    python benchmarks/revisions_scale.py [--rounds N]

Compares a store of 1,000 revisions over 10 skills with one of 10,000 over 100, or with SKILLEVO_SCALE=full one of
100,000 over 1,000, and prints the ratio of the medians. Every skill has 100 revisions in both, so that the answers are
equally long, and each question is about another skill. The cost must not grow with the total number. Goal: a ratio of
at most 1.5 for each.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlalchemy import Table

from pytest_skillevo.core.canonical import digest
from pytest_skillevo.core.revisions import Action, Revision, Status
from pytest_skillevo.core.skill import Skill
from pytest_skillevo.store import Store
from pytest_skillevo.store.blobs import chunks, insert_missing, put_blobs
from pytest_skillevo.store.revisions import move_pointer
from pytest_skillevo.store.schema import AUDIT, REVISIONS, SNAPSHOT_FILES, SNAPSHOTS
from pytest_skillevo.store.snapshots import tree_of

PER_SKILL = 100
SMALL = 1_000
LARGE = 100_000 if os.environ.get("SKILLEVO_SCALE") == "full" else 10_000
GOAL = 1.5
EVIDENCE = '{"decision":{"verdict":"ACCEPT","rule":"quality-superior","reason":"Better on 15 of 30 holdout cases."}}'


def version(skill: str, number: int) -> Skill:
    """One version of a skill, with a supporting file."""
    steps = "\n".join(f"{step}. Do thing {step} of {number}." for step in range(1, 9))
    head = f"---\nname: {skill}\ndescription: Version {number}.\n---\n"
    text = f"{head}\n## When to use\n\nOften.\n\n## Steps\n\n{steps}\n"
    return Skill.from_bytes(skill, text.encode(), {"notes.md": b"notes of %d\n" % number})


def name(number: int) -> str:
    """The name of a skill."""
    return f"skill-{number:05}"


def fill(store: Store, skills: int) -> None:
    """Give the store so many skills with their histories, below its rules, which would take hours."""
    for number in range(skills):
        fill_skill(store, name(number), number)


def fill_skill(store: Store, skill: str, seed: int) -> None:
    """One skill: all versions archived but the last, which is active."""
    rows: dict[Table, list[dict[str, Any]]] = {SNAPSHOTS: [], SNAPSHOT_FILES: [], REVISIONS: [], AUDIT: []}
    contents: list[bytes] = []
    parent, last = Skill.absent(skill), None
    rows[SNAPSHOTS].append({"digest": parent.digest})
    for number in range(PER_SKILL):
        content = version(skill, number)
        tree = tree_of(content)
        contents += tree.values()
        rows[SNAPSHOTS].append({"digest": content.digest})
        rows[SNAPSHOT_FILES] += [
            {"snapshot": content.digest, "path": path, "blob": digest(data)} for path, data in tree.items()
        ]
        status = Status.ACTIVE if number == PER_SKILL - 1 else Status.ARCHIVED
        id = f"rv-{digest(f'{seed}/{number}')[:12]}"
        digests = content.digest, parent.digest
        last = Revision(id, skill, Action.UPDATE, "reviewer", *digests, None, status, "2026", "2026")
        empty = {"executable": None, "gates": None, "bypassed": None}
        rows[REVISIONS].append(last.to_json() | empty | {"evidence": EVIDENCE})
        event = {"at": "2026", "skill": skill, "revision": id, "actor": "nina", "reason": "", "deed": "promote"}
        rows[AUDIT].append(event | {"before": None, "after": "pending"})
        rows[AUDIT].append(event | {"before": "pending", "after": status.value})
        parent = content
    assert last is not None
    with store._database.write() as connection:
        put_blobs(connection, contents)
        for table, values in rows.items():
            for some in chunks(values):
                insert_missing(connection, table, some)
        move_pointer(connection, last, "2026")


def measure(home: Path, skills: int, rounds: int, chance: random.Random) -> dict[str, list[float]]:
    """Seconds of each question, one list per question."""
    found: dict[str, list[float]] = {"open": [], "history of one skill": [], "active version": []}

    def timed(what: str, act: Callable[[], object]) -> None:
        start = time.perf_counter()
        act()
        found[what].append(time.perf_counter() - start)

    for _ in range(rounds):
        skill = name(chance.randrange(skills))
        timed("open", lambda: Store.open(home).close())
        with Store.open(home) as store:
            store.count(skill)  # the first question of a process compiles its SQL
            timed("history of one skill", lambda store=store, skill=skill: store.revisions(skill))  # type: ignore[misc]
            timed("active version", lambda store=store, skill=skill: active(store, skill))  # type: ignore[misc]
    return found


def active(store: Store, skill: str) -> Skill:
    """What agents use of a skill now."""
    pointer = store.pointer(skill)
    assert pointer is not None
    return store.skill_of(store.revision(pointer.revision))


def main() -> None:
    """Measure and print; exit code 1 when a ratio misses the goal."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=60)
    rounds = parser.parse_args().rounds
    chance = random.Random(0)
    with tempfile.TemporaryDirectory() as folder:
        homes = {}
        for total in (SMALL, LARGE):
            homes[total] = Path(folder) / str(total)
            start = time.perf_counter()
            with Store.open(homes[total]) as store:
                fill(store, total // PER_SKILL)
                assert store.count() == total
            size = sum(file.stat().st_size for file in homes[total].rglob("*") if file.is_file())
            print(f"{total:>7,} revisions written in {time.perf_counter() - start:.0f} s, {size / 1e6:.0f} MB")
        timings: dict[int, dict[str, list[float]]] = {SMALL: {}, LARGE: {}}
        # In turns, so that drift of the machine hits both alike.
        for _ in range(rounds):
            for total, home in homes.items():
                for what, seconds in measure(home, total // PER_SKILL, 1, chance).items():
                    timings[total].setdefault(what, []).extend(seconds)
    missed = False
    for what in timings[SMALL]:
        small, large = (statistics.median(timings[total][what]) * 1000 for total in (SMALL, LARGE))
        missed |= large / small > GOAL
        print(f"{what:<22} {small:7.2f} ms -> {large:7.2f} ms   ratio {large / small:.2f}")
    print(f"goal: at most {GOAL}: {'missed' if missed else 'met'}")
    sys.exit(missed)


if __name__ == "__main__":
    main()
