"""Engine time per iteration and bytes of records, against gepa, every proposal being accepted.

    python -m benchmarks.gepa_engine [--candidates 100] [--write reports/gepa-engine.md]

200 pass/fail validation cases, 3 KB of text per candidate, an evaluator and a proposer whose own time is taken off.
Times are CPU milliseconds, the median of the ten iterations that end at a pool size. Small scale by default (to 100
candidates); SKILLEVO_SCALE=full goes to 400, and to 500 for the bytes.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, text

from benchmarks.gepa_peers import GEPA_VERSION, Adapter, gepa_run, our_engine
from pytest_skillevo.core.draws import draw
from pytest_skillevo.core.records import NO_USAGE, Evaluation, Outcome, RolloutRequest
from pytest_skillevo.core.skill import Skill
from pytest_skillevo.execution.cleaning import CleanOutcome
from pytest_skillevo.stages.recorder import Recorder
from pytest_skillevo.stages.search import Proposer, Search, TimeLimit
from pytest_skillevo.store import Store

VALIDATION = tuple(f"v-{n}" for n in range(200))
FEEDBACK = tuple(f"f-{n}" for n in range(30))
SIZES = (50, 100, 200, 400)
BYTES_AT = 500
WINDOW = 10
#: Share of cases that a candidate passes; at 0.65 two thirds of the pool share every front, as in spec/gepa.md 4.1.
PASS_RATE = 0.65
FILLER = "Look at the whole document before the first answer. " * 15


class World:
    """Zero-cost rollouts and proposals, whose time is counted; a later proposal always wins its minibatch."""

    def __init__(self) -> None:
        self.own = 0.0
        #: CPU seconds of the engine up to each proposal.
        self.marks: list[float] = []
        self.proposals = 0
        self.rollouts = 0

    def run(self, components: Mapping[str, str], case: str) -> tuple[float, str]:
        """Pass or fail by lot on validation; on feedback a score that grows with every proposal in the text."""
        self.rollouts += 1
        born = max(int(part.split(" ", 1)[0]) for part in "\n".join(components.values()).split("proposal ")[1:])
        return 1 - 1 / (2 + born) if case.startswith("f") else float(draw(born, case) < PASS_RATE), "it failed"

    def propose(self, component: str, old: str, feedback: Sequence[str]) -> str:
        """A text of about 3 KB for the four components together."""
        self.marks.append(time.process_time() - self.own)
        self.proposals += 1
        return text_of(component, self.proposals)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Take the time of the block off, and what reading the clock costs: on some machines more than an iteration."""
        before = time.process_time()
        start = time.process_time()
        yield
        self.own += time.process_time() - before + (start - before)

    def milliseconds(self, size: int) -> float | None:
        """The median of the iterations that end at this pool size."""
        steps = [b - a for a, b in zip(self.marks, self.marks[1:], strict=False)]
        window = steps[size - WINDOW : size]
        return statistics.median(window) * 1000 if len(window) == WINDOW else None


def text_of(component: str, number: int) -> str:
    """The text of a component in proposal `number`; 0 is the seed."""
    lead = {"steps": "1. ", "pitfalls": "- "}.get(component, "")
    return f"{lead}proposal {number} : {FILLER}"


SEED = {name: text_of(name, 0) for name in ("steps", "pitfalls", "when_to_use", "description")}


class Clocked(Adapter):
    """gepa's adapter with the world's clock."""

    def __init__(self, world: World) -> None:
        super().__init__(world, world)
        self._world = world

    def evaluate(self, batch: list[str], candidate: dict[str, str], capture_traces: bool = False) -> Any:
        """As usual, and the time is the world's."""
        with self._world.at_work():
            return super().evaluate(batch, candidate, capture_traces)


def gepa_world(candidates: int, folder: Path | None) -> World:
    """gepa up to a pool size."""
    world = World()
    gepa_run(
        SEED,
        FEEDBACK,
        VALIDATION,
        Clocked(world),
        seed=1,
        reflection_minibatch_size=3,
        run_dir=None if folder is None else str(folder),
        stop_callbacks=[lambda state: len(state.program_candidates) > candidates + 1],
    )
    return world


class Executor:
    """Runs rollouts in the world; its time is the world's."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.retried, self.at_once = 0, 1

    def run(self, work: Sequence[tuple[RolloutRequest, Skill]]) -> Iterator[tuple[int, CleanOutcome]]:
        """The outcomes in order."""
        with self._world.at_work():
            scores = [self._world.run(skill.components, request.case_id) for request, skill in work]
            evaluations = [Evaluation(*one, usage={"agent": NO_USAGE}) for one in told(scores)]
            outcomes = [CleanOutcome(Outcome("scored", one)) for one in evaluations]
        yield from enumerate(outcomes)


def told(results: Sequence[tuple[float, str]]) -> Iterator[tuple[float, None, str]]:
    """Score, passed and feedback of an evaluation."""
    return ((score, None, feedback) for score, feedback in results)


class InMemory(Recorder):
    """A recorder that records nothing: engine and driver alone."""

    def __init__(self, world: World) -> None:
        self._executor = Executor(world)
        self.usage = {}
        self.rollouts = {}
        self.cached = 0

    def run(self, work: Any, on_done: Any = None) -> list[Outcome]:
        """The outcomes."""
        return [outcome for _, outcome in self._executor.run(work)]

    def answer(self, question: Any) -> Any:
        """The proposer's answer."""
        return question.make()

    def event(self, key: Any, kind: Any, make: Any) -> Any:
        """Nothing happens."""
        return None

    def note(self, entries: Any) -> bool:
        """Keep nothing."""
        return True

    def write_notes(self) -> None:
        """There are none."""

    def cleaned(self, payload: Any) -> Any:
        """As it is."""
        return payload


class EngineRecords(Recorder):
    """The recorder of an experiment, without records of rollouts: no clock has to be read to take their time off."""

    def run(self, work: Any, on_done: Any = None) -> list[Outcome]:
        """The outcomes."""
        return [outcome for _, outcome in self._executor.run(work)]


class Timed(Recorder):
    """The recorder of an experiment; the time of rollout records is counted apart."""

    def __init__(self, *arguments: Any, world: World) -> None:
        super().__init__(*arguments)
        self._world = world
        self.recording = 0.0

    def run(self, work: Any, on_done: Callable[[Outcome], None] = lambda outcome: None) -> list[Outcome]:
        """As usual, with a clock beside it."""
        before = time.process_time()
        start, own = time.process_time(), self._world.own
        outcomes = super().run(work, on_done)
        spent = time.process_time() - before + (start - before)
        self.recording += spent - (self._world.own - own)
        self._world.own = own + spent
        return outcomes


class Silent:
    """A progress that shows nothing."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *arguments, **named: None


def our_world(candidates: int, folder: Path | None, *, rollouts: bool = False) -> tuple[World, float | None]:
    """Our engine up to a pool size; with records of rollouts also the CPU microseconds of one of them."""
    world = World()
    engine = our_engine(SEED, FEEDBACK, VALIDATION, iterations=candidates + 1, max_rollouts=None, minibatch=3, pace=0)
    author = Proposer("bench", lambda brief, seed: world.propose(brief.component, "", ()))
    progress: Any = Silent()
    limit = TimeLimit(None, time.monotonic)
    if folder is None:
        Search(engine, author, InMemory(world), progress, limit).run(candidates, 0)
        return world, None
    with Store.open(folder) as store:
        store.create_experiment("ex-bench", "bench", "f", {})
        given = store, "ex-bench", Executor(world), lambda text: text, 10**9
        recorder = Timed(*given, world=world) if rollouts else EngineRecords(*given)
        Search(engine, author, recorder, progress, limit).run(candidates, 0)
    return world, recorder.recording / world.rollouts * 1e6 if isinstance(recorder, Timed) else None


def our_bytes(folder: Path) -> tuple[int, int, float]:
    """Bytes of the database, of its engine records' payloads, and of one rollout record (payload and key)."""
    database = create_engine(f"sqlite:///{folder / 'store.db'}")
    with database.connect() as connection:
        size = int(
            connection.scalar(text("select page_count * page_size from pragma_page_count, pragma_page_size")) or 0
        )
        engine = connection.scalar(
            text("select sum(length(payload) + length(key)) from journal where kind != 'rollout'")
        )
        rollouts = connection.execute(
            text("select count(*), sum(length(payload) + length(key)) from journal where kind = 'rollout'")
        ).one()
    database.dispose()
    return size, int(engine or 0), rollouts[1] / rollouts[0]


def folder_bytes(folder: Path) -> int:
    """Bytes that lie in a folder at the end."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def cell(value: float | None) -> str:
    """Milliseconds, or a dash where the run did not get so far."""
    return "-" if value is None else f"{value:.2f}"


def page(candidates: int, bytes_at: int, command: str) -> str:
    """Measure all and write the page."""
    sizes = [size for size in SIZES if size <= candidates]
    rows: list[tuple[str, World]] = []
    with tempfile.TemporaryDirectory() as name:
        rows.append((f"gepa {GEPA_VERSION}, in memory", gepa_world(candidates, None)))
        rows.append((f"gepa {GEPA_VERSION}, with run_dir", gepa_world(candidates, Path(name) / "gepa")))
        left = folder_bytes(Path(name) / "gepa")
        rows.append(("ours, in memory", our_world(candidates, None)[0]))
        ours, _ = our_world(candidates, Path(name) / "ours")
        rows.append(("ours, engine records in the store", ours))
        _, record = our_world(bytes_at, Path(name) / "bytes", rollouts=True)
        size, engine, rollout = our_bytes(Path(name) / "bytes")
    gepa, mine = rows[1][1].milliseconds(sizes[-1]), ours.milliseconds(sizes[-1])
    first, last = ours.milliseconds(sizes[0]), mine
    assert gepa is not None
    assert mine is not None
    assert first is not None
    assert last is not None
    lines = [
        "# Engine time per iteration and bytes of records, against gepa",
        "",
        f"Made by `{command}`. {len(VALIDATION)} pass/fail validation cases, every proposal accepted, 3 KB of "
        "text per candidate; CPU milliseconds per iteration without evaluator and proposer, median of the ten "
        "iterations before each size.",
        "",
        f"| candidates | {' | '.join(map(str, sizes))} |",
        f"|---|{'---|' * len(sizes)}",
        *(f"| {label} | {' | '.join(cell(world.milliseconds(size)) for size in sizes)} |" for label, world in rows),
        "",
        f"At {sizes[-1]} candidates gepa with its run directory needs {gepa / mine:.0f} times as long as we do with "
        f"our engine records in the store (goal: 100 at 400). From {sizes[0]} to {sizes[-1]} candidates our time "
        f"grows by {last / first:.2f} (linear: {sizes[-1] / sizes[0]:.0f}).",
        "",
        f"Not in these rows: every rollout is committed on its own before anybody is told of it, {record or 0:.0f} "
        f"microseconds of CPU each, {(record or 0) * (len(VALIDATION) + 6) / 1000:.0f} ms for an iteration with "
        f"{len(VALIDATION)} validation cases. gepa keeps no record of single rollouts.",
        "",
        f"{bytes_at} accepted candidates: {engine / 1e6:.2f} MB of engine records (goal: 20 MB at 500), "
        f"{rollout:.0f} bytes per rollout record without trace (goal: 300), {size / 1e6:.1f} MB for the whole "
        f"database. gepa's run directory holds {left / 1e6:.1f} MB after {candidates}, rewritten at every iteration.",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, then print or write."""
    full = os.environ.get("SKILLEVO_SCALE") == "full"
    parser = argparse.ArgumentParser()
    parser.add_argument("--candidates", type=int, default=400 if full else 100)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    command = f"python -m benchmarks.gepa_engine --candidates {options.candidates}"
    written = page(options.candidates, BYTES_AT if full else options.candidates, command)
    if options.write is None:
        print(written, end="")
    else:
        options.write.write_text(written, encoding="utf-8")


if __name__ == "__main__":
    main()
