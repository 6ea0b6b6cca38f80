"""What all tests share."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

# pytester forgets the modules that an inner run imported first. A second import would make a second set of classes,
# whose enum members are not the first ones, and SQLAlchemy's compiled parts do not survive it: load all beforehand.
import sqlalchemy.dialects.sqlite  # noqa: F401
import yaml  # noqa: F401

import pytest_skillevo

for _found in pkgutil.walk_packages(pytest_skillevo.__path__, "pytest_skillevo."):
    importlib.import_module(_found.name)

pytest_plugins = ["pytester"]


@pytest.fixture(autouse=True)
def outside_of_github(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where these tests run on GitHub Actions, inner runs must not write to the summary of the outer one."""
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
