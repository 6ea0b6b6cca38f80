"""Replay: rounds and groups go forward together, each of them strictly in order, with the result of a serial run."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from pytest_skillevo.store import Store

pytest.importorskip("xdist")

#: The reflection model says "tip"; the Reviewer adds a step after every second task, which later tasks of its chain see.
CONFTEST = """
import json, threading, time
from pytest_skillevo.core.protocols import Reply
from pytest_skillevo.core.records import NO_USAGE, Usage


class Scripted:
    kind = "simulated"
    priced = True
    inside = 0
    most = 0
    guard = threading.Lock()

    def __init__(self, name):
        self.name = name

    def complete(self, messages, tools=(), **settings):
        text = messages[-1]["content"]
        if "<component>" not in text:
            return self.review(messages)
        component = text.split("<component>")[1].split("</component>")[0].strip()
        skill = json.loads(text.split("<skill>")[1].split("</skill>")[0])
        old = skill["components"][component].rstrip()
        answer = {"component": component, "text": f"{old}\\n3. Use the tip.", "rationale": "it helps"}
        return Reply(json.dumps(answer), (), "stop", NO_USAGE)

    def review(self, messages):
        with self.guard:
            Scripted.inside += 1
            Scripted.most = max(Scripted.most, Scripted.inside)
            with open("reviews.txt", "a") as file: file.write(f"{Scripted.most}\\n")
        time.sleep(0.02)
        with self.guard:
            Scripted.inside -= 1
        text = " ".join(str(message["content"]) for message in messages)
        number = int(text.split("TASK-")[1].split("-")[0])
        update = {"name": "demo", "reason": "learned", "add_steps": [f"Remember task {number} well."]}
        answer = {"updates": [update]} if number % 2 else {"skip_reason": "nothing new"}
        return Reply(json.dumps(answer), (), "stop", Usage(input_tokens=len(text) // 100, output_tokens=number))


def pytest_skillevo_chat_model(name, role, config):
    return Scripted(name) if name == "scripted" else None
"""

SUITE = """
import asyncio, os, pathlib
import pytest

pytestmark = pytest.mark.skill("demo")
SPLITS = ["feedback"] * 3 + ["validation"] * 3 + ["holdout"] * 8

@pytest.mark.parametrize(
    "n", [pytest.param(n, marks=pytest.mark.split(split), id=f"c{n}") for n, split in enumerate(SPLITS)]
)
async def test_it(skill, rollout, n):
    learned = skill.text.count("Remember task")
    with open("runs.txt", "a") as file: file.write(f"{n} {skill.digest} {rollout.seed}\\n")
    HOLD
    await asyncio.sleep(0.01 * (n % 3))
    messages = [{"role": "user", "content": f"TASK-{n}-"}, {"role": "assistant", "content": f"{learned} learned"}]
    rollout.add_session({"prompt": "p", "answer": "x", "messages": messages, "skills_loaded": ["demo"]})
    rollout.usage("agent", input_tokens=90 + learned, output_tokens=10)
    score = (0.5 if "tip" in skill.text else 0.3) + 0.04 * learned
    rollout.record(score=score, passed=score > 0.5, feedback=f"{learned} steps were learned")
"""
COMMON = ("-p", "no:cacheprovider", "--evolve-model=scripted", "--evolve-report=report.json", "--evolve-no-cache")
EVOLVE = ("--evolve", "--evolve-iterations=1", "--evolve-repeats=1")
WAYS = (
    ["-n0"],
    ["-n2"],
    ["--tx", "8*popen"],
    ["--evolve-concurrency=16"],
    ["-n2", "--evolve-concurrency=4"],
)


@pytest.fixture
def learning(project: pytest.Pytester) -> pytest.Pytester:
    """A project whose Reviewer changes the skill between tasks."""
    project.makeconftest(CONFTEST)
    project.makepyfile(test_suite=SUITE.replace("HOLD", "pass"))
    return project


def run(project: pytest.Pytester, *arguments: str) -> subprocess.CompletedProcess[str]:
    """One run in a process of its own."""
    command = [sys.executable, "-m", "pytest", *COMMON, *arguments]
    return subprocess.run(command, cwd=project.path, capture_output=True, text=True, check=False)


def report_of(folder: Path) -> str:
    text = (folder / "report.json").read_text(encoding="utf-8")
    return re.sub(r'"(started|finished)": "[^"]*"', "", text)


def journal_of(folder: Path, stage: str) -> dict[str, Any]:
    with Store.open(folder / ".skillevo") as store:
        (one,) = store.experiments("demo")
        return {entry.key: entry.payload for entry in store.entries(one.id) if entry.key.startswith(f"{stage}/")}


@pytest.mark.parametrize(("stage", "mode"), [("replay", EVOLVE), ("online", ("--evolve-online",))])
def test_every_way_to_run_gives_the_same_report_and_the_same_answers(
    learning: pytest.Pytester, stage: str, mode: tuple[str, ...]
) -> None:
    if stage == "online":
        learning.makepyfile(test_suite=SUITE.replace("HOLD", "pass").replace("3 + [", "6 + [", 1))
    reports, journals = set(), set()
    for way in WAYS:
        shutil.rmtree(learning.path / ".skillevo", ignore_errors=True)
        (learning.path / "reviews.txt").unlink(missing_ok=True)
        result = run(learning, *mode, *way)
        assert result.returncode == 0, result.stdout + result.stderr
        reports.add(report_of(learning.path))
        journals.add(json.dumps(journal_of(learning.path, stage), sort_keys=True))
        most = max(int(line) for line in (learning.path / "reviews.txt").read_text(encoding="utf-8").split())
        assert (most > 1) is (way != ["-n0"])
    assert (len(reports), len(journals)) == (1, 1)


def test_what_a_chain_learns_serves_its_own_later_tasks_and_no_other_chain(learning: pytest.Pytester) -> None:
    assert run(learning, *EVOLVE, "--evolve-concurrency=16").returncode == 0
    entries = journal_of(learning.path, "replay")
    variants: dict[tuple[str, str], list[str]] = {}
    for key, payload in sorted(entries.items()):
        _, number, group, _, *review = key.split("/")
        if not review:
            variants.setdefault((number, group), []).append(payload["variant"])
    assert len(variants) == 9
    starts = {group: {seen[0] for (_, of), seen in variants.items() if of == group} for _, group in variants}
    assert all(len(found) == 1 for found in starts.values())
    assert len({*starts["evolution"], *starts["optimized"], *starts["baseline"]}) == 3
    # The tasks are c10 to c13, then c6 to c9; the Reviewer adds a step after the odd ones, and nothing follows the last.
    changes = {
        group: {tuple(map(seen.index, seen)) for (_, of), seen in variants.items() if of == group} for group in starts
    }
    assert changes["baseline"] == {(0,) * 8}
    assert changes["evolution"] == changes["optimized"] == {(0, 0, 2, 2, 4, 4, 6, 6)}


@pytest.mark.parametrize(("first", "second"), [("--evolve-concurrency=16", "-n2"), ("-n2", "-n0")])
def test_a_replay_that_was_killed_goes_on_in_another_way_and_pays_for_nothing_twice(
    learning: pytest.Pytester, first: str, second: str
) -> None:
    hold = "if 'HOLD' in os.environ and len(open('runs.txt').readlines()) > 70: await asyncio.sleep(60)"
    learning.makepyfile(test_suite=SUITE.replace("HOLD", hold))
    runs = learning.path / "runs.txt"
    assert run(learning, *EVOLVE, "-n0").returncode == 0
    expected, total = report_of(learning.path), len(runs.read_text(encoding="utf-8").splitlines())
    shutil.rmtree(learning.path / ".skillevo")
    runs.unlink()
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", *COMMON, *EVOLVE, first],
        cwd=learning.path, env={**os.environ, "HOLD": "1"}, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not runs.exists() or len(runs.read_text(encoding="utf-8").splitlines()) <= 70:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.kill()
    process.wait()
    result = run(learning, *EVOLVE, second, "--evolve-resume=last")
    assert result.returncode == 0, result.stdout + result.stderr
    assert report_of(learning.path).replace(" --evolve-resume=last", "") == expected
    assert len(runs.read_text(encoding="utf-8").splitlines()) <= total + 9  # one of each chain was in hand
