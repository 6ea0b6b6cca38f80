"""What lasts: journal, traces, revisions, active pointers, ledger, and the publisher of skill files.

The names are loaded on first use, because SQLAlchemy must not burden a run that stores nothing (design: decision 10).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..core.locks import LockBusy
    from .drift import Drift
    from .entry import JournalEntry
    from .experiments import Experiment
    from .exposure import Opening, Openings
    from .lineage import StaleParent
    from .place import Protected
    from .repository import Repository
    from .revisions import Pointer, Proposal
    from .stopping import StopRequests
    from .store import Store
    from .submission import RevisionSubmitter
    from .timers import Timers

_HOME = {
    "Drift": "drift",
    "Experiment": "experiments",
    "JournalEntry": "entry",
    "LockBusy": "locks",
    "Opening": "exposure",
    "Openings": "exposure",
    "Pointer": "revisions",
    "Proposal": "revisions",
    "Protected": "place",
    "Repository": "repository",
    "RevisionSubmitter": "submission",
    "StaleParent": "lineage",
    "StopRequests": "stopping",
    "Store": "store",
    "Timers": "timers",
}

__all__ = [
    "Drift",
    "Experiment",
    "JournalEntry",
    "LockBusy",
    "Opening",
    "Openings",
    "Pointer",
    "Proposal",
    "Protected",
    "Repository",
    "RevisionSubmitter",
    "StaleParent",
    "StopRequests",
    "Store",
    "Timers",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
