"""Rollouts on xdist workers: the same result with any number, and nothing lost when one dies."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_skillevo.store import Store

pytest.importorskip("xdist")

COMMON = (
    "--evolve",
    "--evolve-model=scripted",
    "--evolve-iterations=3",
    "--evolve-report=report.json",
    "--evolve-stages=search,confirm",
    "--evolve-repeats=1",
)


def _command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *COMMON, *arguments]


def _report(folder: Path) -> dict[str, Any]:
    report: dict[str, Any] = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return report


def _without_times(folder: Path) -> str:
    text = (folder / "report.json").read_text(encoding="utf-8")
    assert '"started": "' in text
    return re.sub(r'"(started|finished)": "[^"]*"', r'"\1": ""', text)


def _fresh(suite: pytest.Pytester) -> None:
    shutil.rmtree(suite.path / ".skillevo", ignore_errors=True)


@pytest.fixture
def run(suite: pytest.Pytester) -> Callable[..., pytest.RunResult]:
    """Run the suite's experiment in a process of its own."""
    return lambda *arguments: suite.runpytest_subprocess("-p", "no:cacheprovider", *COMMON, *arguments)


def _with_body(suite: pytest.Pytester, extra: str) -> None:
    source = (suite.path / "test_suite.py").read_text(encoding="utf-8")
    lines = "".join(f"    {line}\n" for line in extra.splitlines())
    suite.makepyfile(test_suite=source.replace("    rollout.record", f"{lines}    rollout.record"))


#: Failure texts with everything that differs between processes: sets, addresses, temporary folders, chance.
HOSTILE = """
import pytest, random

pytestmark = pytest.mark.skill("demo")
WORDS = ["apple", "pear", "fig", "kiwi", "lemon"]

@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    return tmp_path_factory.mktemp("wide")

@pytest.mark.parametrize("n", range(12))
def test_it(skill, rollout, n, wide, tmp_path):
    rollout.record(score=(0.8 if "tip" in skill.text else 0.4) + n / 100, feedback=f"drawn {random.random()}", trace={"long": "x" * 150_000, "n": n})
    if "tip" in skill.text:
        return
    if n % 3 == 0:
        assert set(WORDS) == set(WORDS[:2])
    if n % 3 == 1:
        assert {word: len(word) for word in WORDS} == {"apple": 4, "plum": 4}, (tmp_path, wide)
    assert str(tmp_path) == (lambda: None)
"""


def _journal(folder: Path) -> str:
    """What was recorded, by key: all that the reflection model and people get to see."""
    with Store.open(folder / ".skillevo") as store:
        entries = store.entries(_report(folder)["experiment"]["id"])
        return json.dumps(sorted((entry.key, entry.payload) for entry in entries if entry.kind == "rollout"))


def test_any_number_of_workers_gives_the_same_report_byte_for_byte_apart_from_times(suite: pytest.Pytester) -> None:
    suite.makepyfile(test_suite=HOSTILE)
    reports, journals = set(), set()
    for workers in (["-n0"], ["-n", "2", "-v"], ["--tx", "8*popen"]):
        _fresh(suite)
        command = _command("--evolve-stages=search,confirm,replay", "--basetemp=tmp", *workers)
        result = subprocess.run(command, cwd=suite.path, capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stdout + result.stderr
        reports.add(_without_times(suite.path).replace(" -v", ""))
        journals.add(_journal(suite.path))
    assert (len(reports), len(journals)) == (1, 1)
    assert "only on the left: 'fig'" in journals.pop()
    assert _report(suite.path)["rollouts"]["replay"] > 0


def test_workers_really_run_the_rollouts_and_wide_fixtures_live_once_in_each(
    suite: pytest.Pytester, run: Callable[..., pytest.RunResult]
) -> None:
    source = (suite.path / "test_suite.py").read_text(encoding="utf-8").replace("rollout, n)", "rollout, n, wide)")
    suite.makepyfile(
        test_suite=source
        + """
import os
@pytest.fixture(scope="session")
def wide():
    with open("wide.txt", "a") as file: file.write(f"open {os.getpid()}\\n")
    yield
    with open("wide.txt", "a") as file: file.write(f"close {os.getpid()}\\n")
"""
    )
    _with_body(suite, "import time; time.sleep(0.01)")
    assert run("-n2").ret == 0
    lines = (suite.path / "wide.txt").read_text(encoding="utf-8").splitlines()
    processes = {line.split()[1] for line in lines}
    assert len(processes) == 2
    assert sorted(lines) == sorted(f"{what} {process}" for what in ("open", "close") for process in processes)


@pytest.mark.parametrize("death", ["os._exit(3)", "os.kill(os.getpid(), 9)"])
def test_a_worker_that_dies_costs_nothing_but_a_second_attempt(
    suite: pytest.Pytester, run: Callable[..., pytest.RunResult], death: str
) -> None:
    assert run("-n0").ret == 0
    expected = _report(suite.path)
    _fresh(suite)
    _with_body(
        suite,
        "import os, pathlib\nmark = pathlib.Path('died')\n"
        f"if n == 1 and not mark.exists():\n    mark.touch()\n    {death}",
    )
    result = run("-n2")
    assert result.ret == 0, result.stdout.str() + result.stderr.str()
    result.stdout.fnmatch_lines(["*2 of 3*test_it[[]c1]*", "*worker gw? died*"])
    report = _report(suite.path)
    assert report["rollouts"].pop("retried") == 1
    assert expected["rollouts"].pop("retried") == 0
    for part in ("search", "confirmation", "rollouts"):
        ours, theirs = json.dumps(report[part]), json.dumps(expected[part])
        assert ours == theirs


def test_a_case_that_always_kills_its_worker_is_named_and_the_run_can_go_on(
    suite: pytest.Pytester, run: Callable[..., pytest.RunResult]
) -> None:
    _with_body(suite, "import os, pathlib\nif n == 4 and not pathlib.Path('mended').exists(): os._exit(3)")
    result = run("-n2")
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["skillevo: the search stopped (evaluator_error)*test_it[[]c4]*the worker process died*"]
    )
    (suite.path / "mended").touch()
    assert run("-n2", "--evolve-resume=last").ret == 0
    assert _report(suite.path)["decision"]["verdict"] == "ACCEPT"


def test_when_no_worker_is_left_the_run_says_so_and_can_go_on(
    suite: pytest.Pytester, run: Callable[..., pytest.RunResult]
) -> None:
    _with_body(suite, "import os, pathlib\nif n == 4 and not pathlib.Path('mended').exists(): os._exit(3)")
    result = run("-n2", "--max-worker-restart=0")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["skillevo: no worker is left for * rollouts*--evolve-resume=*"])
    (suite.path / "mended").touch()
    assert run("-n0", "--evolve-resume=last").ret == 0


def test_a_killed_controller_is_resumed_with_another_number_of_workers_and_pays_for_nothing_twice(
    suite: pytest.Pytester, run: Callable[..., pytest.RunResult]
) -> None:
    assert run("-n0").ret == 0
    expected = _without_times(suite.path)
    _fresh(suite)
    _with_body(
        suite,
        "import os, time, pathlib\n"
        "with open('runs.txt', 'a') as file: file.write(f'{rollout.seed} {skill.digest}\\n')\n"
        "if len(open('runs.txt').readlines()) > 20 and 'HOLD' in os.environ: time.sleep(60)",
    )
    source = (suite.path / "test_suite.py").read_text(encoding="utf-8")
    process = subprocess.Popen(
        _command("-n2"), cwd=suite.path, env={**os.environ, "HOLD": "1"}, stdout=subprocess.DEVNULL
    )
    runs = suite.path / "runs.txt"
    _wait_until(lambda: runs.exists() and len(runs.read_text(encoding="utf-8").splitlines()) > 20)
    process.kill()
    process.wait()
    before = len(runs.read_text(encoding="utf-8").splitlines())
    result = run("-n0", "--evolve-resume=last")
    assert result.ret == 0, result.stdout.str() + result.stderr.str()
    assert (suite.path / "test_suite.py").read_text(encoding="utf-8") == source
    report = _report(suite.path)
    total = report["rollouts"]["search"] + report["rollouts"]["confirmation"]
    after = len(runs.read_text(encoding="utf-8").splitlines())
    assert before == 21 or before == 22
    assert after <= total + 2  # only what the two workers had in hand ran twice
    assert json.loads(expected)["search"] == {**report["search"]}


def _wait_until(holds: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.skipif(sys.platform == "win32", reason="signals to a process group")
def test_ctrl_c_during_slow_rollouts_leaves_no_process_and_a_run_that_can_go_on(
    suite: pytest.Pytester, run: Callable[..., pytest.RunResult]
) -> None:
    _with_body(
        suite,
        "import os, time\nwith open('pids.txt', 'a') as file: file.write(f'{os.getpid()}\\n')\n"
        "if 'HOLD' in os.environ: time.sleep(60)",
    )
    process = subprocess.Popen(
        _command("-n2"),
        cwd=suite.path,
        env={**os.environ, "HOLD": "1"},
        stdout=subprocess.PIPE,
        start_new_session=True,
        # A job that a shell has put into the background ignores SIGINT, and so would everything below it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    pids = suite.path / "pids.txt"
    _wait_until(lambda: pids.exists() and len(pids.read_text(encoding="utf-8").split()) == 2)
    os.killpg(process.pid, signal.SIGINT)
    output = process.communicate(timeout=180)[0].decode()
    assert process.returncode == pytest.ExitCode.INTERRUPTED
    assert "skillevo: interrupted; nothing is lost: go on with --evolve-resume=ex-" in output
    for pid in pids.read_text(encoding="utf-8").split():
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)
    assert run("-n2", "--evolve-resume=last").ret == 0


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGTERM to catch")
@pytest.mark.parametrize("workers", [[], ["-n2"]], ids=["serial", "workers"])
def test_a_polite_kill_of_the_controller_says_how_to_go_on(
    suite: pytest.Pytester, run: Callable[..., pytest.RunResult], workers: list[str]
) -> None:
    _with_body(
        suite, "import os, pathlib, time\npathlib.Path('begun').touch()\nif 'HOLD' in os.environ: time.sleep(60)"
    )
    process = subprocess.Popen(
        _command(*workers), cwd=suite.path, env={**os.environ, "HOLD": "1"}, stdout=subprocess.PIPE
    )
    _wait_until((suite.path / "begun").exists)
    process.terminate()
    output = process.communicate(timeout=180)[0].decode()
    assert process.returncode == pytest.ExitCode.INTERRUPTED
    assert "skillevo: interrupted; nothing is lost: go on with --evolve-resume=ex-" in output
    assert run("--evolve-resume=last").ret == 0


@pytest.mark.parametrize(
    ("body", "code", "line"),
    [
        ("if n == 3: raise KeyboardInterrupt", 2, "skillevo: interrupted; nothing is lost*"),
        ("if n == 3: pytest.exit('enough', returncode=0)", 2, "skillevo: interrupted; nothing is lost*"),
        ("if n == 3: rollout.record(score=2)", 4, "*test_it[[]c3]: score must lie in *"),
    ],
)
def test_what_ends_a_serial_run_ends_a_distributed_one_in_the_same_way(
    suite: pytest.Pytester, run: Callable[..., pytest.RunResult], body: str, code: int, line: str
) -> None:
    _with_body(suite, body)
    result = run("-n2")
    assert result.ret == code
    (result.stderr if code == 4 else result.stdout).fnmatch_lines([line])
    assert "INTERNALERROR" not in result.stdout.str() + result.stderr.str()


def test_infrastructure_errors_are_tried_again_in_the_worker(
    suite: pytest.Pytester, run: Callable[..., pytest.RunResult]
) -> None:
    _with_body(
        suite,
        "import pathlib\nfrom pytest_skillevo import InfrastructureError\nmark = pathlib.Path(f'failed-{n}')\n"
        "if n == 5 and not mark.exists():\n    mark.touch()\n    raise InfrastructureError('provider away')",
    )
    result = run("-n2", "-x")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*2 of 3*test_it[[]c5]*", "*provider away*"])
    assert _report(suite.path)["rollouts"]["retried"] == 1


def test_cases_that_differ_between_processes_are_refused_with_the_difference(
    suite: pytest.Pytester, run: Callable[..., pytest.RunResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)  # the controller of this run may be a worker itself
    suite.makepyfile(
        test_suite=(suite.path / "test_suite.py").read_text(encoding="utf-8")
        + "\nimport os\n@pytest.mark.skill('demo')\n@pytest.mark.split('feedback')\n"
        + "@pytest.mark.parametrize('who', [os.environ.get('PYTEST_XDIST_WORKER', 'controller')])\n"
        + "def test_mine(skill, who): pass\n"
    )
    result = run("-n2")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: worker gw? has collected other cases*lacks*test_mine[[]controller]*test_mine[[]gw?]*"]
    )


def test_another_interpreter_under_popen_is_refused(run: Callable[..., pytest.RunResult]) -> None:
    result = run("--tx", "popen//python=python3")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --tx popen//python=python3: *socket=HOST:PORT*"])


def test_a_plan_needs_no_worker_to_wait_for(run: Callable[..., pytest.RunResult]) -> None:
    result = run("-n2", "--evolve-plan")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*validation*"])


def test_workers_without_an_experiment_are_ordinary_xdist(suite: pytest.Pytester) -> None:
    result = suite.runpytest_subprocess("-n2", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=15)


def test_a_broken_module_stops_the_run_before_it_begins(
    suite: pytest.Pytester, run: Callable[..., pytest.RunResult]
) -> None:
    suite.makepyfile(test_broken="import nothing_of_that_name")
    result = run("-n2")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert not (suite.path / ".skillevo").exists()


def _with_calls(suite: pytest.Pytester, death: str) -> None:
    """Let each case call the judge once, which notes every call that is really sent."""
    conftest = (suite.path / "conftest.py").read_text(encoding="utf-8")
    note = '        with open("sent.txt", "a") as file: file.write(".")\n        if "<component>" not in'
    suite.makeconftest(conftest.replace('        if "<component>" not in', note, 1))
    source = (suite.path / "test_suite.py").read_text(encoding="utf-8").replace("rollout, n)", "rollout, n, judge)")
    suite.makepyfile(test_suite=source)
    _with_body(
        suite,
        "import os, pathlib\n"
        "try: judge.complete([{'role': 'user', 'content': 'good?'}], seed=1)\n"
        "except Exception: pass  # a test that swallows everything\n" + death,
    )


def test_call_number_n_plus_one_of_a_budget_is_never_sent_with_eight_workers_and_a_crash(
    suite: pytest.Pytester, run: Callable[..., pytest.RunResult]
) -> None:
    _with_calls(
        suite, "if n == 4 and not pathlib.Path('died').exists():\n    pathlib.Path('died').touch()\n    os._exit(3)"
    )
    result = run("-n8", "--evolve-max-calls=20", "--evolve-provider-calls=2")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["skillevo: the budget of 20 model calls is used up (--evolve-max-calls)*"])
    sent = suite.path / "sent.txt"
    assert sent.stat().st_size == 20
    assert run("-n2", "--evolve-resume=last", "--evolve-max-calls=200").ret == 0
    assert _report(suite.path)["decision"]["verdict"] == "ACCEPT"


def test_limits_that_cannot_hold_on_another_host_are_refused(run: Callable[..., pytest.RunResult]) -> None:
    result = run("--tx", "socket=127.0.0.1:1", "--evolve-max-calls=9")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --evolve-max-calls does not go with --tx socket=*"])


def test_another_interpreter_on_the_loopback_gives_the_same_report(suite: pytest.Pytester) -> None:
    """A second host, as far as one machine can show it: an interpreter of its own, a socket, a copy of the project."""
    host = suite.path.parent / f"{suite.path.name}-host"
    host.mkdir()
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", host / "venv"], check=True)
    (places,) = (host / "venv").glob("lib/python*/site-packages")
    (places / "shared.pth").write_text("\n".join(path for path in sys.path if path), encoding="utf-8")
    server = subprocess.Popen(
        [host / "venv" / "bin" / "python", "-u", "-m", "execnet.script.socketserver", "127.0.0.1:0"],
        cwd=host, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert server.stdout is not None
        line = next(line for line in server.stdout if "Accept loop" in line)
        port = int(re.findall(r"(\d+)\)", line)[-1])
        reports = set()
        where = [f"--tx=socket=127.0.0.1:{port}", f"--rsyncdir={suite.path}", str(suite.path)]
        for arguments in (["-n0"], where):
            _fresh(suite)
            result = subprocess.run(_command(*arguments), cwd=suite.path, capture_output=True, text=True, check=False)
            assert result.returncode == 0, result.stdout + result.stderr
            reports.add(re.sub(r'"command": "[^"]*"', "", _without_times(suite.path)))
        assert len(reports) == 1
        assert (host / "pyexecnetcache" / suite.path.name / "test_suite.py").is_file()
    finally:
        server.kill()
        server.wait()
