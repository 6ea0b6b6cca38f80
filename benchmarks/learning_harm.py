"""What a task notices of the learning that follows it: nothing, whatever the Reviewer does. And 10,000 sessions.

    python -m benchmarks.learning_harm [--write reports/learning-harm.md]

First part: the tasks of a family run one after another, each session is handed in, and a worker reviews beside them
with a Reviewer that is calm, hangs, raises, floods memory or returns garbage; those that hang or flood live in
processes of their own. Results are compared to the byte, times as ratios to a run without learning (medians of several
rounds, arms in turns). Then a fresh service with a calm Reviewer takes up what was parked.

Second part: sessions of many users through one service; counted are losses, doubles, and memory (1,000 sessions;
SKILLEVO_SCALE=full takes 10,000).
"""

from __future__ import annotations

import argparse
import logging
import os
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.hostile_reviewers import DEEDS, Deed, Misbehaving
from pytest_skillevo import LearningJob, LearningService, Session, Task, TaskOutcome
from pytest_skillevo.agents import LoopAgent
from pytest_skillevo.core.canonical import digest_json
from pytest_skillevo.core.protocols import Reply
from pytest_skillevo.core.review.prompt import ReviewInput
from pytest_skillevo.core.review.reviewer import Review, Reviewing
from pytest_skillevo.families.registry import behaviours, find_family, tasks
from pytest_skillevo.learning import Settings
from pytest_skillevo.learning.isolation import IsolatedReviewer
from pytest_skillevo.models.simulated import SimulatedModel
from pytest_skillevo.store import Store
from pytest_skillevo.store.learning_records import JobStatus

ROOT = Path(__file__).parents[1]
SESSIONS = 10_000 if os.environ.get("SKILLEVO_SCALE") == "full" else 1_000
ROUNDS = 3
TASKS = 12
#: Seconds that the agent's model takes for a turn.
PACE = 0.05
FAMILY = "recipe"


@dataclass(slots=True)
class Arm:
    """What one arm measured."""

    #: Seconds of one round: the tasks with the handing-in.
    seconds: list[float] = field(default_factory=list)
    #: Seconds of the slowest handing-in.
    slowest: float = 0.0
    digest: str = ""
    parked: int = 0
    error: str = ""
    taken_up: int = 0


def reviewer_of(deed: Deed) -> Reviewing:
    """Hanging and flooding happen in a process of their own, where they can be ended."""
    if deed in ("hang", "flood"):
        return IsolatedReviewer(Misbehaving(deed), seconds=1.0 if deed == "hang" else 10.0, memory=600_000_000)
    return Misbehaving(deed)


def one_round(arm: Arm, pool: Sequence[Task], agent: LoopAgent, service: LearningService | None, number: int) -> None:
    """The tasks one after another."""
    results = []
    began = time.perf_counter()
    for task in pool:
        run = agent.run(task.prompt, tools=task.tools, skills=[], seed=7)
        evaluation = task.grade(run)
        results.append([run.answer, list(run.messages), evaluation.score, evaluation.feedback])
        if service is not None:
            session = Session.of(f"{task.id}-{number}", run.messages, app="benchmark")
            before = time.perf_counter()
            outcome = TaskOutcome("fail", evaluation.score, evaluation.feedback, tokens=run.usage.tokens)
            receipt = service.enqueue(LearningJob(session, outcome))
            arm.slowest = max(arm.slowest, time.perf_counter() - before)
            assert receipt.status in ("queued", "inline"), receipt
    arm.seconds.append(time.perf_counter() - began)
    arm.digest = digest_json(results)


def harm() -> dict[str, Arm]:
    """All arms, in turns."""
    place = ROOT / "suites" / FAMILY
    agent = LoopAgent(Paced(behaviours(place)))
    pool = tasks(find_family(FAMILY, place), split="holdout")[:TASKS]
    arms: dict[str, Arm] = {name: Arm() for name in ("without", *DEEDS)}
    with tempfile.TemporaryDirectory() as folder:
        stores = {deed: Store.open(Path(folder) / deed) for deed in DEEDS}
        settings = Settings(timeout=5.0, attempts=1, backoff=0.0, queue_size=10_000)
        one_round(Arm(), pool, agent, None, -1)
        for number in range(ROUNDS):
            one_round(arms["without"], pool, agent, None, number)
            for deed in DEEDS:
                working = LearningService(stores[deed], reviewer_of(deed), settings)
                working.start()
                one_round(arms[deed], pool, agent, working, number)
                working.close(drain=False, timeout=20)
        for deed in DEEDS:
            take_up(arms[deed], stores[deed], settings)
            stores[deed].close()
    return arms


def take_up(arm: Arm, store: Store, settings: Settings) -> None:
    """A restart: parked jobs are tried again by a service that works, and what still waits is done."""
    arm.parked = store.learning.depths()[JobStatus.PARKED]
    errors = Counter(job.error for job in store.learning.jobs(JobStatus.PARKED, 1_000))
    arm.error = errors.most_common(1)[0][0] or "" if errors else ""
    store.learning.retry()
    LearningService(store, Misbehaving("calm"), settings).drain()
    depths = store.learning.depths()
    assert depths[JobStatus.DONE] == sum(depths.values()), depths
    arm.taken_up = depths[JobStatus.DONE]


class Paced(SimulatedModel):
    """The simulated model, which takes its time as a fast real one would."""

    def complete(self, *arguments: Any, **settings: Any) -> Reply:
        """Answer after a while."""
        time.sleep(PACE)
        return super().complete(*arguments, **settings)


class Counting:
    """Counts reviews by session."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()

    def review(self, given: ReviewInput, *, seed: int) -> Review | None:
        """Count one."""
        self.seen[f"{given.user}/{given.session}"] += 1
        return None


@dataclass(frozen=True, slots=True)
class Scale:
    """What a number of sessions took."""

    sessions: int
    lost: int
    twice: int
    seconds: float
    #: Bytes of resident memory at its peak, above what there was before.
    memory: int
    disk: int
    fallbacks: int


def scale(count: int) -> Scale:
    """Sessions of 50 users, handed in twice each, through one service with two workers."""
    counting = Counting()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    text = "The tide at the pier was asked for and answered. " * 40
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(Path(folder))
        began = time.perf_counter()
        with LearningService(store, counting, Settings(workers=2, queue_size=50)) as service:
            for number in range(count):
                messages = [{"role": "user", "content": f"{number} {text}"}, {"role": "assistant", "content": text}]
                session = Session.of(f"s{number}", messages, app="harbour", user=f"u{number % 50}")
                for _ in range(2):
                    service.enqueue(LearningJob(session, TaskOutcome("fail", 0.0)))
        seconds = time.perf_counter() - began
        fallbacks = store.learning.counts().get("fallbacks", 0)
        assert store.learning.depths()[JobStatus.QUEUED] == 0
        store.close()
        disk = sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())
    memory = 1_024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    twice = sum(times - 1 for times in counting.seen.values())
    return Scale(count, count - len(counting.seen), twice, seconds, memory, disk, fallbacks)


def report(arms: dict[str, Arm], scales: Sequence[Scale]) -> str:
    """The report as Markdown."""
    base = arms["without"]
    lines = []
    for name, arm in arms.items():
        ratio = median(arm.seconds) / median(base.seconds)
        same = "equal" if arm.digest == base.digest else "DIFFERENT"
        figures = [
            f"{median(arm.seconds) / TASKS:.3f}",
            f"{ratio:.2f}",
            f"{1_000 * arm.slowest:.0f}",
            same,
            str(arm.parked),
        ]
        cells = [name, *figures, arm.error[:60], str(arm.taken_up)]
        lines.append("| " + " | ".join(cells) + " |")
    rows = [
        f"| {one.sessions:,} | {one.lost} | {one.twice} | {one.seconds:.0f} | {one.memory / 1e6:.0f} "
        f"| {one.disk / 1e6:.0f} | {one.fallbacks} |"
        for one in scales
    ]
    return TEXT.format(arms="\n".join(lines), scales="\n".join(rows), rounds=ROUNDS, tasks=TASKS, pace=1_000 * PACE)


TEXT = """\
# What a task notices of learning

    SKILLEVO_SCALE=full python -m benchmarks.learning_harm

{tasks} holdout tasks of the recipe family run one after another with the simulated agent, whose model takes
{pace:.0f} ms for a turn; each session is handed in while a worker reviews beside them. `time` is the median of
{rounds} rounds over that of the arm without learning, arms in turns, the whole of running, grading and handing in.
Handing in is redacting the conversation and one commit; that is all that a task pays, whatever the Reviewer does.
`slowest` is the slowest handing-in in milliseconds. `results` compares every message, score and feedback to the byte.
`hang` and `flood` are Reviewers in processes of their own, ended after 1 s or by 600 MB. Afterwards a fresh service
with a calm Reviewer did everything that was parked or still waited.

| Reviewer | seconds a task | time | slowest, ms | results | parked | error | done after restart |
|---|---|---|---|---|---|---|---|
{arms}

Sessions of 50 users through one service with two workers and a queue of 100, each handed in twice; `fallbacks` are
callers that met a full queue and did one waiting job themselves. Memory is what the peak rose by, disk the store at
the end.

| sessions | lost | twice | seconds | memory, MB | disk, MB | fallbacks |
|---|---|---|---|---|---|---|
{scales}
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print or write the report."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args(argv)
    logging.disable()  # every parked job would be told
    scales = [scale(max(100, SESSIONS // 10)), scale(SESSIONS)]
    text = report(harm(), scales)
    if arguments.write:
        arguments.write.write_text(text, encoding="utf-8", newline="\n")
    else:
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
