"""Async cases, evaluators, and many rollouts at once in one process: the results of a serial run."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_skillevo.store import Store

COMMON = (
    "--evolve",
    "--evolve-model=scripted",
    "--evolve-iterations=2",
    "--evolve-report=report.json",
    "--evolve-stages=search,confirm",
    "--evolve-repeats=2",
    "--basetemp=tmp",
)

SUITE = """
import asyncio, os, threading
import pytest

pytestmark = pytest.mark.skill("demo")
SPLITS = ["feedback"] * 3 + ["validation"] * 3 + ["holdout"] * 6
ALL = pytest.mark.parametrize(
    "n", [pytest.param(n, marks=pytest.mark.split(split), id=f"c{n}") for n, split in enumerate(SPLITS)]
)

class Gauge:
    inside = 0
    most = 0
    lock = threading.Lock()
    loops = set()
    def __enter__(self):
        with self.lock:
            Gauge.inside += 1
            Gauge.most = max(Gauge.most, Gauge.inside)
    def __exit__(self, *error):
        with self.lock:
            Gauge.inside -= 1

@pytest.fixture(scope="module", autouse=True)
def told():
    yield
    with open("gauge.txt", "a") as file: file.write(f"{Gauge.most} {len(Gauge.loops)}\\n")

@pytest.fixture
def own(tmp_path):
    file = tmp_path / "own.txt"
    file.write_text("fresh")
    yield file
    assert file.exists()

def score(skill): return 0.9 if "tip" in skill.text else 0.4
"""

ASYNC = """
@ALL
async def test_it(skill, rollout, n, own):
    Gauge.loops.add(id(asyncio.get_running_loop()))
    with Gauge():
        assert own.read_text() == "fresh"
        own.write_text(f"{n} {rollout.seed}")
        await asyncio.sleep(0.03 * (n % 3))
        assert own.read_text() == f"{n} {rollout.seed}"
    print("said", n)
    rollout.record(score=score(skill), feedback="no tip", trace={"n": n, "seed": rollout.seed})
    if n == 1: assert {"a", "b", "c"} == {"a", n}, "explained"
    if n == 2: pytest.skip("not here")
"""

CLASSES = """
@pytest.mark.split("holdout")
class TestMany:
    @pytest.mark.parametrize("k", range(4))
    async def test_self(self, skill, rollout, k):
        assert not hasattr(self, "seen")
        self.seen = k
        with Gauge():
            await asyncio.sleep(0.03)
        assert self.seen == k
        rollout.record(score=score(skill))
"""

THREADS = """
@pytest.fixture(scope="module")
def evaluator():
    def evaluate(skill, case, seed):
        import time
        with Gauge():
            time.sleep(0.03)
        return Evaluation(score(skill), feedback=f"{case} {seed}")
    return evaluate

from pytest_skillevo import Evaluation

@ALL
def test_it(skill, rollout, n, own, evaluator):
    rollout.record(evaluator(skill, n, rollout.seed))
"""

ASYNC_EVALUATOR = THREADS.replace("def evaluate", "async def evaluate").replace(
    "import time\n", "Gauge.loops.add(id(asyncio.get_running_loop()))\n"
).replace("time.sleep", "await asyncio.sleep")  # fmt: skip


@pytest.fixture
def experiment(suite: pytest.Pytester) -> Callable[..., tuple[str, str, str]]:
    """Run the given cases; report without times, journal, and what the cases saw of each other."""

    def run(cases: str, *arguments: str) -> tuple[str, str, str]:
        for name in (".skillevo", "tmp"):
            shutil.rmtree(suite.path / name, ignore_errors=True)
        (suite.path / "gauge.txt").unlink(missing_ok=True)
        suite.makepyfile(test_suite=SUITE + cases)
        result = suite.runpytest(*COMMON, *arguments)
        assert result.ret == 0, result.stdout.str() + result.stderr.str()
        assert "said" not in result.stdout.str()
        return (*_records(suite.path), (suite.path / "gauge.txt").read_text(encoding="utf-8"))

    return run


def _records(folder: Path) -> tuple[str, str]:
    text = (folder / "report.json").read_text(encoding="utf-8")
    with Store.open(folder / ".skillevo") as store:
        entries = store.entries(json.loads(text)["experiment"]["id"])
        journal = json.dumps(sorted((entry.key, entry.payload) for entry in entries if entry.kind == "rollout"))
    return re.sub(r'"(started|finished)": "[^"]*"|runpytest-\d', "", text), journal


@pytest.mark.parametrize(
    ("cases", "loops"),
    [(ASYNC + CLASSES, 1), (THREADS, 0), (ASYNC_EVALUATOR, 1)],
    ids=["async", "threads", "evaluator"],
)
def test_side_by_side_gives_what_one_after_another_gives(
    experiment: Callable[..., tuple[str, str, str]], cases: str, loops: int
) -> None:
    serial = experiment(cases)
    together = experiment(cases, "--evolve-concurrency=4")
    assert together[:2] == serial[:2]
    assert serial[2].split() == ["1", str(loops)]
    most, seen = map(int, together[2].split())
    assert 1 < most <= 4
    assert seen == loops


def test_workers_run_side_by_side_too(experiment: Callable[..., tuple[str, str, str]]) -> None:
    pytest.importorskip("xdist")
    serial = experiment(ASYNC)
    together = experiment(ASYNC, "--evolve-concurrency=3", "-n2")
    assert together[:2] == serial[:2]


def _report(folder: Path) -> dict[str, Any]:
    report: dict[str, Any] = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return report


def test_cases_that_did_not_promise_anything_run_alone(experiment: Callable[..., tuple[str, str, str]]) -> None:
    cases = ASYNC.replace("n, own", "n, own, monkeypatch")
    assert experiment(cases, "--evolve-concurrency=4")[2].split() == ["1", "1"]


def test_an_infrastructure_error_is_tried_again_when_nothing_else_runs(
    experiment: Callable[..., tuple[str, str, str]], suite: pytest.Pytester
) -> None:
    failing = ASYNC.replace(
        "    print(",
        "    from pytest_skillevo import InfrastructureError\n"
        "    if n == 4 and not os.path.exists('failed'):\n"
        "        open('failed', 'w').close()\n"
        "        raise InfrastructureError('away')\n    print(",
    )
    experiment(failing, "--evolve-concurrency=4")
    assert _report(suite.path)["rollouts"]["retried"] == 1


@pytest.mark.parametrize(
    ("line", "code", "shown"),
    [
        ("raise KeyboardInterrupt", 2, "skillevo: interrupted; nothing is lost*"),
        ("rollout.record(score=7)", 4, "ERROR: *test_it[[]c5]*score must lie in*"),
        ("raise SystemExit(3) if rollout.repeat else asyncio.CancelledError", 0, "*"),
    ],
)
def test_whatever_a_body_raises_means_what_it_means_in_a_serial_run(
    suite: pytest.Pytester, line: str, code: int, shown: str
) -> None:
    body = ASYNC.replace("    print(", f"    if n == 5: {line}\n    print(")
    suite.makepyfile(test_suite=SUITE + body)
    result = suite.runpytest_subprocess(*COMMON, "--evolve-concurrency=4")
    assert result.ret == code, result.stdout.str() + result.stderr.str()
    (result.stderr if code == 4 else result.stdout).fnmatch_lines([shown])
    assert "Traceback" not in result.stdout.str() + result.stderr.str()


def test_async_cases_run_in_a_plain_run_without_another_plugin(suite: pytest.Pytester) -> None:
    suite.makepyfile(test_suite=SUITE + ASYNC + CLASSES)
    suite.runpytest().assert_outcomes(passed=14, failed=1, skipped=1)
    assert (suite.path / "gauge.txt").read_text(encoding="utf-8").split() == ["1", "1"]


def test_an_async_evaluator_can_be_called_from_a_plain_function(suite: pytest.Pytester) -> None:
    suite.makepyfile(test_suite=SUITE + ASYNC_EVALUATOR)
    suite.runpytest().assert_outcomes(passed=12)


def test_an_async_test_that_is_no_skill_case_is_none_of_our_business(suite: pytest.Pytester) -> None:
    suite.makepyfile(test_other="async def test_other(): pass")
    result = suite.runpytest("test_other.py", "test_suite.py")
    result.assert_outcomes(passed=15, failed=1)


#: The first run of one case waits until nine others have ended; with three places and no further work it would for ever.
SLOW = """
@ALL
async def test_it(skill, rollout, n):
    if n == 6 and not os.path.exists("slow"):
        open("slow", "w").close()
        before = len(os.listdir("ended"))
        for _ in range(3000):
            if len(os.listdir("ended")) >= before + 9: break
            await asyncio.sleep(0.01)
        else: raise AssertionError("nothing else ran meanwhile")
    open(f"ended/{n}-{rollout.seed}-{skill.digest[:9]}", "w").close()
    rollout.record(score=score(skill))
"""


def test_a_worker_with_room_takes_further_rollouts_while_a_slow_one_runs(
    experiment: Callable[..., tuple[str, str, str]], suite: pytest.Pytester
) -> None:
    pytest.importorskip("xdist")
    (suite.path / "ended").mkdir()
    _, journal, _ = experiment(SLOW, "-n1", "--evolve-concurrency=3")
    assert (suite.path / "slow").exists()
    assert "nothing else ran meanwhile" not in journal
