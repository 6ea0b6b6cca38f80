"""What the plugin costs a pytest run that does not use it.

    python benchmarks/plugin_overhead.py [--rounds N]

Runs 1,000 trivial tests (and a single one, for the start) with the plugin and with `-p no:skillevo`, in turns, and
prints the ratio and the difference of the medians. Goals: at most 1.02, and at most 15 ms at start.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = 1000


def run(folder: Path, *arguments: str) -> float:
    """CPU seconds of one pytest run: wall time says little on a machine that does other things."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def medians(folder: Path, rounds: int) -> tuple[float, float]:
    """Median CPU seconds with and without the plugin, measured in turns so that drift hits both alike."""
    timings: tuple[list[float], list[float]] = ([], [])
    run(folder)  # compiles what must be compiled
    for number in range(rounds):
        pair = [(timings[0], ()), (timings[1], ("-p", "no:skillevo"))]
        for found, arguments in pair if number % 2 else reversed(pair):
            found.append(run(folder, *arguments))
    return statistics.median(timings[0]), statistics.median(timings[1])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "test_one.py").write_text("def test_it(): pass\n", encoding="utf-8")
        with_us, without = medians(folder, rounds)
        print(f"start: {1000 * (with_us - without):+.1f} ms ({with_us:.3f} s against {without:.3f} s)")
        source = "".join(f"def test_{number}(): pass\n" for number in range(TESTS))
        (folder / "test_one.py").write_text(source, encoding="utf-8")
        with_us, without = medians(folder, rounds)
        print(f"{TESTS} tests: ratio {with_us / without:.3f} ({with_us:.3f} s against {without:.3f} s)")


if __name__ == "__main__":
    main()
