"""Evaluate agent Skills with pytest, evolve them on evidence, and decide whether the new version may be merged.

PYTEST_DONT_REWRITE: no assert here needs an explanation, and every pytest run loads this module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

#: Public name -> module that defines it. Loaded on first use: the pytest plugin lives in this package, and an unrelated
#: pytest run must not pay for it.
_HOME = {
    "AgentRun": "core.records",
    "Case": "core.records",
    "Evaluation": "core.records",
    "InfrastructureError": "core.errors",
    "LearningJob": "learning",
    "LearningService": "learning",
    "Session": "core.sessions",
    "Skill": "core.skill",
    "SkillSpec": "core.skill",
    "Task": "core.records",
    "TaskOutcome": "core.sessions",
    "Usage": "core.records",
    "cases": "families.registry",
    "session_cases": "families.sessions",
}

__all__ = [
    "AgentRun",
    "Case",
    "Evaluation",
    "InfrastructureError",
    "LearningJob",
    "LearningService",
    "Session",
    "Skill",
    "SkillSpec",
    "Task",
    "TaskOutcome",
    "Usage",
    "cases",
    "session_cases",
]

if TYPE_CHECKING:
    from .core.errors import InfrastructureError
    from .core.records import AgentRun, Case, Evaluation, Task, Usage
    from .core.sessions import Session, TaskOutcome
    from .core.skill import Skill, SkillSpec
    from .families.registry import cases
    from .families.sessions import session_cases
    from .learning import LearningJob, LearningService


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
