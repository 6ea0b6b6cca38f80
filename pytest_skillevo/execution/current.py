"""The rollout that is running now: what fixtures and hooks of this process look at."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from ..core.rollout import Rollout
from ..core.skill import Skill


@dataclass(slots=True)
class CurrentRollout:
    """One rollout in progress: the item, the variant it sees, and what it has recorded so far."""

    item: pytest.Item
    skill: Skill
    rollout: Rollout
    #: What it is run for, as in its request.
    phase: str
    #: Whether the skill fixture has handed out the version on trial.
    skill_used: bool = False
    #: Reports of the three phases, and of subtests, that pytest would have published.
    reports: list[pytest.TestReport] = field(default_factory=list)
    #: The exception that ended the phase, if any, in the order of the phases.
    errors: list[tuple[str, BaseException]] = field(default_factory=list)


CURRENT: pytest.StashKey[CurrentRollout | None] = pytest.StashKey()


def current(config: pytest.Config) -> CurrentRollout | None:
    """The rollout in progress, None outside of one."""
    return config.stash.get(CURRENT, None)
