"""Lets the simulated model act in the tasks of all families."""

from __future__ import annotations

from pathlib import Path

from pytest_skillevo.core.protocols import Behaviour
from pytest_skillevo.families.registry import behaviours


def pytest_skillevo_behaviours() -> list[Behaviour]:
    """Behaviours of every family under suites/."""
    suites = Path(__file__).parents[2] / "suites"
    return [one for place in sorted(suites.iterdir()) if place.is_dir() for one in behaviours(place)]
