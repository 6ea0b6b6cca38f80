"""Plain runs of the bundled families score the same on workers as in one process."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

ROOT = Path(__file__).parents[2]


def scores(folder: Path, *arguments: str) -> dict[str, str]:
    """The score of every case that is no holdout case, by its name, as the JUnit file has it."""
    path = folder / "junit.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={path}", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    found = {}
    for case in ET.parse(path).iter("testcase"):
        for one in case.iter("property"):
            if one.get("name") == "skillevo.score":
                found[f"{case.get('classname')}::{case.get('name')}"] = str(one.get("value"))
    return found


def test_two_workers_score_as_one_process_does(tmp_path: Path) -> None:
    serial = scores(tmp_path, "suites/recipe", "suites/cats", "-p", "no:xdist")
    assert len(serial) == 48  # 12 feedback and 12 validation cases of each
    assert len(set(serial.values())) > 10
    assert scores(tmp_path, "suites/recipe", "suites/cats", "-n2") == serial
