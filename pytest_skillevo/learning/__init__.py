"""Online learning: sessions that tasks leave behind are reviewed in the background, never at the task's expense.

The names are loaded on first use: the process of an isolated Reviewer needs neither service nor store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .service import LearningJob, LearningService, Receipt
    from .settings import Settings

_HOME = {"LearningJob": "service", "LearningService": "service", "Receipt": "service", "Settings": "settings"}

__all__ = ["LearningJob", "LearningService", "Receipt", "Settings"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
