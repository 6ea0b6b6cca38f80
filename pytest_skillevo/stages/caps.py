"""Caps where there is no search to plan ahead: in a gate, an A/A, an online experiment they stop the run.

What is recorded stays, and the same command with a higher cap goes on from there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import Any, Final

from ..core.errors import CapReached, ExperimentInterrupted
from ..core.metering import Caps
from .settings import Settings

#: Settings that stop such a run and decide none of its figures.
_STOPPING: Final = {"rollouts", "max_seconds", *(field.name for field in fields(Caps))}


def deciding(settings: Settings) -> dict[str, Any]:
    """The settings that decide the figures of such a run, for its fingerprint."""
    return {name: value for name, value in settings.to_json().items() if name not in _STOPPING}


@contextmanager
def stopping() -> Iterator[None]:
    """Let a cap that is reached end the run in a way that can go on."""
    try:
        yield
    except CapReached as reached:
        raise ExperimentInterrupted(
            f"{reached}; nothing is decided, and what ran is kept: raise the cap and repeat the command, and it goes on"
        ) from None
