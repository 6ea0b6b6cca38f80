"""What lasts: journal, traces, revisions, active pointers, ledger, and the publisher of skill files.

The names are loaded on first use, because SQLAlchemy must not burden a run that stores nothing (design: decision 10).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .drift import Drift
    from .experiments import Experiment
    from .exposure import Opening, Openings
    from .journal import JournalEntry
    from .lineage import StaleParent
    from .locks import LockBusy
    from .place import Protected
    from .revisions import Pointer, Proposal
    from .store import Store

_HOME = {
    "Proposal": "revisions",
    "Drift": "drift",
    "Experiment": "experiments",
    "JournalEntry": "journal",
    "LockBusy": "locks",
    "Opening": "exposure",
    "Openings": "exposure",
    "Pointer": "revisions",
    "Protected": "place",
    "StaleParent": "lineage",
    "Store": "store",
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
    "StaleParent",
    "Store",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
