"""Do things to a store at random: enter, approve, reject, roll back, delete, restore.

    python churn.py crowd ROOT URL NAME COUNT       COUNT actions as NAME, each told as a line of JSON
    python churn.py killed ROOT URL COUNT SEED      COUNT children, each killed at a random time

URL is "-" for the file in ROOT's home.
"""

from __future__ import annotations

import json
import os
import random
import select
import signal
import sys
from pathlib import Path

from invariants import assert_whole

from pytest_skillevo.core.errors import StoreError
from pytest_skillevo.core.revisions import Action, Status
from pytest_skillevo.core.skill import Skill
from pytest_skillevo.store import Store

SKILLS = ("cat-facts", "weather", "recipe-cookbook")
#: A child does this many things at most, and dies within so many seconds of the next ones.
MOST, LONGEST = 4, 0.05


def open_store(root: Path, url: str) -> Store:
    return Store.open(root / ".skillevo", skills=root / "skills", url=None if url == "-" else url)


def act(store: Store, skill: str, name: str, chance: random.Random) -> tuple[str, str]:
    """One action; what was done, and to which revision. Raises StoreError when it is refused."""
    deed = chance.choice(("enter", "enter", "delete", "approve", "approve", "reject", "rollback", "restore"))
    if deed in ("enter", "delete"):
        pointer = store.pointer(skill)
        parent = Skill.absent(skill) if pointer is None else store.skill_of(store.revision(pointer.revision))
        number = chance.randrange(10**9)
        files = {f"extra{number % 3}.md": b"%d" % number, "scripts/run.sh": b"#!/bin/sh\n"}
        content = Skill.from_bytes(skill, f"# {skill} {number}\n".encode(), files)
        action = Action.UPDATE if parent.exists else Action.CREATE
        if deed == "delete":
            content, action = Skill.absent(skill), Action.DELETE
        made = store.add_revision(
            skill,
            content,
            parent,
            action=action,
            source=f"experiment:{number}",
            status=Status.PENDING_APPROVAL,
            evidence={},
            actor=name,
            reason="",
        )
        return "submit", made.id
    if deed == "rollback":
        return deed, store.rollback(skill, name).id
    if deed == "restore":
        return deed, store.restore(skill, name).id
    waiting = store.revisions(skill, Status.PENDING_APPROVAL, 4)
    if not waiting:
        raise StoreError("nothing waits")
    chosen = chance.choice(waiting).id
    return deed, (store.approve(chosen, name) if deed == "approve" else store.reject(chosen, name)).id


def crowd(root: Path, url: str, name: str, count: str) -> None:
    chance = random.Random(name)
    with open_store(root, url) as store:
        print("ready", flush=True)
        sys.stdin.readline()
        for _ in range(int(count)):
            try:
                done = act(store, chance.choice(SKILLS), name, chance)
            except StoreError as error:
                done = ("refused", str(error))
            print(json.dumps(done), flush=True)


def killed(root: Path, url: str, count: str, seed: str) -> None:
    chance = random.Random(int(seed))
    done = 0
    for number in range(int(count)):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            endless(root, url, f"{seed}/{number}", writer)
        os.close(writer)
        done += sum(len(os.read(reader, 1)) for _ in range(chance.randint(1, MOST)))
        select.select([], [], [], chance.uniform(0, LONGEST))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        os.close(reader)
        assert os.WIFSIGNALED(status), "the child came to an end by itself"
        with open_store(root, url) as store:
            assert_whole(store)
    with open_store(root, url) as store:
        print(json.dumps({"done": done, "told": sum(store.counts().values())}))


def endless(root: Path, url: str, seed: str, writer: int) -> None:
    chance = random.Random(seed)
    try:
        with open_store(root, url) as store:
            while True:
                try:
                    act(store, SKILLS[0], seed, chance)
                except StoreError:
                    continue
                os.write(writer, b".")
    finally:
        os._exit(3)


if __name__ == "__main__":
    {"crowd": crowd, "killed": killed}[sys.argv[1]](Path(sys.argv[2]), *sys.argv[3:])
