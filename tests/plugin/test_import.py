"""An unrelated pytest run must not notice the plugin."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROBE = """
import json, sys

def pytest_sessionfinish(session):
    with open("modules.json", "w") as file:
        json.dump(sorted(sys.modules), file)
"""


def _modules(folder: Path, *arguments: str) -> set[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return set(json.loads((folder / "modules.json").read_text()))


def test_a_run_without_skill_cases_loads_nothing_beyond_pytest_and_the_standard_library(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(PROBE)
    (tmp_path / "test_plain.py").write_text("def test_it(): pass\n")
    with_us = _modules(tmp_path)
    without = _modules(tmp_path, "-p", "no:skillevo")
    new = {name for name in with_us - without if not name.startswith("pytest_skillevo")}
    foreign = {name for name in new if name.split(".")[0] not in sys.stdlib_module_names}
    assert foreign == set()
    ours = {name for name in with_us if name.startswith("pytest_skillevo")}
    assert ours == {
        "pytest_skillevo",
        "pytest_skillevo.plugin",
        "pytest_skillevo.gating",
        "pytest_skillevo.options",
        "pytest_skillevo.fixtures",
        "pytest_skillevo.hookspecs",
    }


@pytest.mark.parametrize(
    "package", ["pytest", "_pytest", "sqlalchemy", "litellm", "httpx", "sqlite3", "requests", "xdist"]
)
def test_the_core_imports_neither_pytest_nor_network_nor_database(package: str) -> None:
    code = (
        "import importlib, pkgutil, sys, pytest_skillevo.core as core\n"
        "for found in pkgutil.walk_packages(core.__path__, 'pytest_skillevo.core.'):\n"
        "    importlib.import_module(found.name)\n"
        f"sys.exit({package!r} in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_public_names_load_on_first_use() -> None:
    code = (
        "import sys, pytest_skillevo\n"
        "assert not any(name.startswith('pytest_skillevo.') for name in sys.modules)\n"
        "for name in pytest_skillevo.__all__: getattr(pytest_skillevo, name)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
