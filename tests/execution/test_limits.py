"""Limits that hold across processes, also when one of them is killed."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from pytest_skillevo.core.errors import ExperimentInterrupted
from pytest_skillevo.execution.limits import CallLedger, Gate, ProviderLimits, provider_of

CALLER = """
import os, sys, time
from pathlib import Path
from pytest_skillevo.core.errors import ExperimentInterrupted
from pytest_skillevo.execution.limits import CallLedger
ledger = CallLedger(Path(sys.argv[1]), 100)
try:
    for number in range(1000):
        ledger.reserve()
        with open(sys.argv[2], "ab", buffering=0) as sent:
            sent.write(b".")
        if sys.argv[3] == "die" and number == 5:
            os._exit(3)
except ExperimentInterrupted:
    pass
"""

HOLDER = """
import sys, time
from pathlib import Path
from pytest_skillevo.execution.limits import Gate, ProviderLimits
with Gate(Path(sys.argv[1]), "openai", ProviderLimits(at_once=1)).passing():
    print("in", flush=True)
    time.sleep(60)
"""


def test_call_number_n_plus_one_is_never_sent_by_eight_processes_one_of_which_dies(tmp_path: Path) -> None:
    ledger, sent = tmp_path / "calls", tmp_path / "sent"
    command = [sys.executable, "-c", CALLER, str(ledger), str(sent)]
    processes = [subprocess.Popen([*command, "die" if number == 0 else "live"]) for number in range(8)]
    codes = [process.wait() for process in processes]
    assert codes.count(0) >= 7
    assert sent.stat().st_size <= CallLedger(ledger, 100).used == 100


def test_a_used_up_budget_says_what_to_do_and_a_higher_one_goes_on(tmp_path: Path) -> None:
    ledger = CallLedger(tmp_path / "ex-1.calls", 2)
    ledger.reserve()
    ledger.reserve()
    with pytest.raises(ExperimentInterrupted, match=r"2 model calls is used up \(--evolve-max-calls\)"):
        ledger.reserve()
    raised = CallLedger(tmp_path / "ex-1.calls", 3)
    raised.reserve()
    assert raised.used == 3


def test_a_slot_comes_back_when_its_holder_is_killed(tmp_path: Path) -> None:
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "in\n"
    waits: list[float] = []

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            holder.kill()
            holder.wait()
        time.sleep(seconds)

    with Gate(tmp_path, "openai", ProviderLimits(at_once=1), sleep=sleep).passing():
        assert len(waits) >= 3


def test_no_more_than_so_many_pass_at_once_and_providers_do_not_share(tmp_path: Path) -> None:
    inside, most, lock = 0, 0, threading.Lock()

    def call() -> None:
        nonlocal inside, most
        with Gate(tmp_path, "openai", ProviderLimits(at_once=3)).passing():
            with lock:
                inside += 1
                most = max(most, inside)
            time.sleep(0.01)
            with lock:
                inside -= 1

    with ExitStack() as stack:
        for _ in range(3):
            stack.enter_context(Gate(tmp_path, "other", ProviderLimits(at_once=3)).passing())
        threads = [threading.Thread(target=call) for _ in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert most == 3


def test_calls_are_spread_evenly_over_the_minute_for_all_processes(tmp_path: Path) -> None:
    now, slept = 1000.0, []
    for _ in range(4):  # each with a gate of its own, as in other processes
        with Gate(tmp_path, "openai", ProviderLimits(per_minute=30), lambda: now, slept.append).passing():
            pass
    assert slept == [2.0, 4.0, 6.0]


def test_a_clock_that_was_set_back_does_not_stop_the_calls(tmp_path: Path) -> None:
    slept: list[float] = []
    for now in (1e9, 1000.0):
        with Gate(tmp_path, "openai", ProviderLimits(per_minute=60), lambda now=now: now, slept.append).passing():
            pass
    assert slept == [1000.0]


@pytest.mark.parametrize("name", ["../../etc", "a b/c", "x" * 300, "ü"])
def test_whatever_a_provider_is_called_its_files_stay_in_the_folder(tmp_path: Path, name: str) -> None:
    with Gate(tmp_path / "limits", name, ProviderLimits(at_once=1)).passing():
        assert [path.name for path in tmp_path.iterdir()] == ["limits"]


def test_the_provider_is_what_stands_before_the_slash() -> None:
    assert [provider_of(name) for name in ("openai/gpt-5", "simulated", "openrouter/a/b")] == [
        "openai",
        "simulated",
        "openrouter",
    ]
