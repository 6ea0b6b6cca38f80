"""The errors that this project raises on purpose: what is wrong, where, and what to do about it."""

from __future__ import annotations


class SkillevoError(Exception):
    """Base of every error raised on purpose. The message is a sentence for a person; it never carries a secret."""


class ConfigError(SkillevoError):
    """Wrong usage: an option, a marker, a skill file, a dataset. Shown as a usage error (exit 4), not a traceback."""


class EvaluationError(ConfigError):
    """A test recorded something that is no evaluation (NaN, 1.2, text, two records). Nothing is stored as a score."""


class SkillError(ConfigError):
    """A skill folder or SKILL.md that cannot be read or would not be valid. Names the file and, if known, the line."""


class InfrastructureError(SkillevoError):
    """The evaluation could not be made (provider down, time-out, worker lost). Not a score: retried, never a zero.

    Raise it in a test or an agent to say so.
    """


class TaskError(SkillevoError):
    """The model itself cannot go on with this task (the conversation is too long for it). A result, not an outage."""


class StoreError(SkillevoError):
    """The store refused an action or cannot be read: illegal transition, stale parent, wrong schema version."""


class ExperimentInterrupted(SkillevoError):
    """The run stopped before a decision and can be resumed."""


class CapReached(SkillevoError):
    """A cap in tokens or money leaves nothing for the next rollout or call; `reason` is the stop reason of that cap."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


def damaged_store(what: str) -> StoreError:
    """The error of a store that holds what nobody has put into it."""
    return StoreError(f"the store is damaged: {what}. Move it away to begin a new one")
