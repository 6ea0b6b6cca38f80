"""The settings of the service, checked when they are made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from ..core.errors import ConfigError
from ..core.review.policy import DEFAULT, PolicyDecision, PolicySettings
from ..core.review.signals import Delta
from ..core.scopes import ScopeMode
from ..core.sessions import TaskOutcome

#: What happens to a session when the queue is full: the caller does one waiting job itself, or the session is refused.
Overflow: TypeAlias = Literal["inline", "refuse"]
Policy: TypeAlias = Callable[[Delta, TaskOutcome | None], PolicyDecision]

#: Characters of one message that are kept.
MAX_MESSAGE: Final = 100_000


@dataclass(frozen=True, slots=True)
class Settings:
    """Raises ConfigError for what cannot work."""

    workers: int = 1
    #: Jobs that may wait, per worker.
    queue_size: int = 100
    #: Seconds for one review.
    timeout: float = 60.0
    #: Attempts before a job is parked.
    attempts: int = 3
    #: Seconds before the second attempt; doubled for each further one.
    backoff: float = 1.0
    overflow: Overflow = "inline"
    #: Reviews that hang and cannot be stopped; from so many on no new one begins until one ends.
    max_stuck: int = 4
    scope_mode: ScopeMode = ScopeMode.NONE
    policy: PolicySettings = DEFAULT
    #: Whether the Reviewer may propose changes of skills that people wrote (they wait for a person in any case).
    user_skills: bool = False
    #: Seconds between looks into the queue, for jobs that other processes hand in.
    poll: float = 0.5

    def __post_init__(self) -> None:
        least = {"workers": 1, "queue_size": 1, "attempts": 1, "max_stuck": 1}
        for name, smallest in least.items():
            if getattr(self, name) < smallest:
                raise ConfigError(f"learning: {name} must be at least {smallest}, not {getattr(self, name)!r}")
        for name in ("timeout", "poll"):
            if not getattr(self, name) > 0:
                raise ConfigError(f"learning: {name} must be above 0 seconds, not {getattr(self, name)!r}")
        if self.backoff < 0:
            raise ConfigError(f"learning: backoff must be at least 0 seconds, not {self.backoff!r}")
        if self.overflow not in ("inline", "refuse"):
            raise ConfigError(f"learning: overflow must be inline or refuse, not {self.overflow!r}")
